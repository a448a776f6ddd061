// SPDX-License-Identifier: MIT
// What the scalar ALU files share: operand reads, result writes, table rows, the MODE-like hardware
// registers.
#ifndef SG_SALU_H
#define SG_SALU_H

#include "softgpu/isa/operand.h"

static inline uint32_t sg_s32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i)
{
    return sg_scalar32(w, inst, inst->src[i]);
}

static inline uint64_t sg_s64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i)
{
    return sg_scalar64(w, inst, inst->src[i]);
}

// 64-bit signed operand: a literal is sign-extended here, zero-extended elsewhere.
static inline int64_t sg_si64(const struct sg_wave *w, const struct sg_inst *inst, unsigned i)
{
    if (inst->src[i] == SG_SRC_LITERAL)
        return (int32_t)inst->literal;
    return (int64_t)sg_s64(w, inst, i);
}

static inline void sg_sdst32(struct sg_wave *w, const struct sg_inst *inst, uint32_t v)
{
    w->sgpr[inst->sdst] = v;
}

static inline void sg_sdst64(struct sg_wave *w, const struct sg_inst *inst, uint64_t v)
{
    sg_set_sgpr64(w, inst->sdst, v);
}

// Leading bits that equal the sign bit below it, counted from the top; -1 when all bits are equal.
static inline uint32_t sg_flbit_i64(int64_t v)
{
    const uint64_t x = (uint64_t)(v < 0 ? ~v : v);
    return x ? (uint32_t)__builtin_clzll(x) : UINT32_MAX;
}

static inline uint32_t sg_flbit_i32(int32_t v)
{
    const uint32_t x = (uint32_t)(v < 0 ? ~v : v);
    return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}

// Population count in plain operations, which vectorise.
static inline uint32_t sg_popcount32(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static inline uint32_t sg_bitrev32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

#define SG_SROW(enc, op, klass, name, d, s0, s1, arg)                                                        \
    {                                                                                                        \
        op, enc, klass, #name, op_##name, d, {s0, s1, 0}, arg, 0                                             \
    }
#define SG_SROW_AS(enc, op, klass, name, fn, d, s0, s1, arg)                                                 \
    {                                                                                                        \
        op, enc, klass, #name, op_##fn, d, {s0, s1, 0}, arg, 0                                               \
    }
#define SG_SROW_NAMED(enc, op, klass, name, d, s0, s1)                                                       \
    {                                                                                                        \
        op, enc, klass, #name, NULL, d, {s0, s1, 0}, 0, 0                                                    \
    }

#endif
