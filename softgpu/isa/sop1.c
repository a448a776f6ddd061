// SPDX-License-Identifier: MIT
// SOP1: scalar operations with one source. Opcodes and semantics: "AMD Instinct MI200 Instruction Set
// Architecture" reference guide, SOP1 Instructions.
#include "softgpu/isa/salu.h"

// Result r of source a; `set_scc` is an expression or absent.
#define SOP1_32(name, expr, ...)                                                                             \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint32_t a = sg_s32(w, inst, 0);                                                               \
        const uint32_t r = (uint32_t)(expr);                                                                 \
        sg_sdst32(w, inst, r);                                                                               \
        __VA_ARGS__;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
// 64-bit source, 32-bit result.
#define SOP1_32_64(name, expr, ...)                                                                          \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint64_t a = sg_s64(w, inst, 0);                                                               \
        const uint32_t r = (uint32_t)(expr);                                                                 \
        sg_sdst32(w, inst, r);                                                                               \
        __VA_ARGS__;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
#define SOP1_64(name, expr, ...)                                                                             \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint64_t a = sg_s64(w, inst, 0);                                                               \
        const uint64_t r = (expr);                                                                           \
        sg_sdst64(w, inst, r);                                                                               \
        __VA_ARGS__;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
#define SCC_NONZERO w->scc = r != 0

// Whole quad mode: a quad is on when any of its four bits is.
static uint64_t quad_any(uint64_t a)
{
    a |= a >> 1;
    a |= a >> 2;
    return a & 0x1111111111111111ull;
}

// Packs bits 0, 4, 8, ... to the bottom.
static uint64_t pack_quads(uint64_t a)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (a >> (4 * i) & 1) << i;
    return r;
}

static uint64_t replicate_bits(uint32_t a)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (uint64_t)(a >> i & 1) * 3 << (2 * i);
    return r;
}

static uint64_t bitrev64(uint64_t a)
{
    return (uint64_t)sg_bitrev32((uint32_t)a) << 32 | sg_bitrev32((uint32_t)(a >> 32));
}

SOP1_32(s_mov_b32, a)
SOP1_64(s_mov_b64, a)
SOP1_32(s_not_b32, ~a, SCC_NONZERO)
SOP1_64(s_not_b64, ~a, SCC_NONZERO)
SOP1_32(s_wqm_b32, quad_any(a) * 15, SCC_NONZERO)
SOP1_64(s_wqm_b64, quad_any(a) * 15, SCC_NONZERO)
SOP1_32(s_brev_b32, sg_bitrev32(a))
SOP1_64(s_brev_b64, bitrev64(a))
SOP1_32(s_bcnt0_i32_b32, __builtin_popcount(~a), SCC_NONZERO)
SOP1_32_64(s_bcnt0_i32_b64, __builtin_popcountll(~a), SCC_NONZERO)
SOP1_32(s_bcnt1_i32_b32, __builtin_popcount(a), SCC_NONZERO)
SOP1_32_64(s_bcnt1_i32_b64, __builtin_popcountll(a), SCC_NONZERO)
SOP1_32(s_ff0_i32_b32, ~a ? __builtin_ctz(~a) : -1)
SOP1_32_64(s_ff0_i32_b64, ~a ? __builtin_ctzll(~a) : -1)
SOP1_32(s_ff1_i32_b32, a ? __builtin_ctz(a) : -1)
SOP1_32_64(s_ff1_i32_b64, a ? __builtin_ctzll(a) : -1)
SOP1_32(s_flbit_i32_b32, a ? __builtin_clz(a) : -1)
SOP1_32_64(s_flbit_i32_b64, a ? __builtin_clzll(a) : -1)
SOP1_32(s_flbit_i32, sg_flbit_i32((int32_t)a))
SOP1_32_64(s_flbit_i32_i64, sg_flbit_i64((int64_t)a))
SOP1_32(s_sext_i32_i8, (int32_t)(int8_t)a)
SOP1_32(s_sext_i32_i16, (int32_t)(int16_t)a)
SOP1_32(s_quadmask_b32, pack_quads(quad_any(a)), SCC_NONZERO)
SOP1_64(s_quadmask_b64, pack_quads(quad_any(a)), SCC_NONZERO)
SOP1_32(s_abs_i32, (int32_t)a < 0 ? 0u - a : a, SCC_NONZERO)

// EXEC operations: the old EXEC goes to the destination, `expr` of the source s and EXEC e becomes EXEC.
#define SAVEEXEC(name, expr)                                                                                 \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint64_t s = sg_s64(w, inst, 0), e = sg_exec(w), r = (expr);                                   \
        sg_sdst64(w, inst, e);                                                                               \
        sg_set_sgpr64(w, SG_SGPR_EXEC, r);                                                                   \
        SCC_NONZERO;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
// The same with the new EXEC also in the destination.
#define WREXEC(name, expr)                                                                                   \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint64_t s = sg_s64(w, inst, 0), e = sg_exec(w), r = (expr);                                   \
        sg_set_sgpr64(w, SG_SGPR_EXEC, r);                                                                   \
        sg_sdst64(w, inst, r);                                                                               \
        SCC_NONZERO;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
SAVEEXEC(s_and_saveexec_b64, s &e)
SAVEEXEC(s_or_saveexec_b64, s | e)
SAVEEXEC(s_xor_saveexec_b64, s ^ e)
SAVEEXEC(s_andn2_saveexec_b64, s & ~e)
SAVEEXEC(s_orn2_saveexec_b64, s | ~e)
SAVEEXEC(s_nand_saveexec_b64, ~(s &e))
SAVEEXEC(s_nor_saveexec_b64, ~(s | e))
SAVEEXEC(s_xnor_saveexec_b64, ~(s ^ e))
SAVEEXEC(s_andn1_saveexec_b64, ~s &e)
SAVEEXEC(s_orn1_saveexec_b64, ~s | e)
WREXEC(s_andn1_wrexec_b64, ~s &e)
WREXEC(s_andn2_wrexec_b64, s & ~e)

static enum sg_step op_s_cmov_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    if (w->scc)
        sg_sdst32(w, inst, sg_s32(w, inst, 0));
    return SG_STEP_OK;
}

static enum sg_step op_s_cmov_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    if (w->scc)
        sg_sdst64(w, inst, sg_s64(w, inst, 0));
    return SG_STEP_OK;
}

static enum sg_step op_s_bitset_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint32_t bit = 1u << (sg_s32(w, inst, 0) & 31), old = w->sgpr[inst->sdst];
    sg_sdst32(w, inst, inst->info->arg ? old | bit : old & ~bit);
    return SG_STEP_OK;
}

static enum sg_step op_s_bitset_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t bit = 1ull << (sg_s32(w, inst, 0) & 63), old = sg_sgpr64(w, inst->sdst);
    sg_sdst64(w, inst, inst->info->arg ? old | bit : old & ~bit);
    return SG_STEP_OK;
}

static enum sg_step op_s_bitreplicate_b64_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    sg_sdst64(w, inst, replicate_bits(sg_s32(w, inst, 0)));
    return SG_STEP_OK;
}

static enum sg_step op_s_getpc_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    sg_sdst64(w, inst, w->pc);
    return SG_STEP_OK;
}

static enum sg_step op_s_setpc_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    w->pc = sg_s64(w, inst, 0) & ~3ull;
    return SG_STEP_OK;
}

static enum sg_step op_s_swappc_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t target = sg_s64(w, inst, 0) & ~3ull;
    sg_sdst64(w, inst, w->pc);
    w->pc = target;
    return SG_STEP_OK;
}

// Relative scalar moves: M0 is added to the number of the register that is source (movrels) or destination.
static bool relative(const struct sg_wave *w, unsigned reg, unsigned n, unsigned *out)
{
    const uint64_t r = (uint64_t)reg + w->sgpr[SG_SGPR_M0];
    *out = (unsigned)r;
    return reg < 128 && r + n <= 128;
}

static enum sg_step op_s_movrels(struct sg_wave *w, const struct sg_inst *inst)
{
    unsigned reg;
    if (!relative(w, inst->src[0], inst->info->dst_dwords, &reg))
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "relative scalar register out of range");
    if (inst->info->dst_dwords == 2)
        sg_sdst64(w, inst, sg_sgpr64(w, reg));
    else
        sg_sdst32(w, inst, w->sgpr[reg]);
    return SG_STEP_OK;
}

static enum sg_step op_s_movreld(struct sg_wave *w, const struct sg_inst *inst)
{
    unsigned reg;
    if (!relative(w, inst->sdst, inst->info->dst_dwords, &reg))
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "relative scalar register out of range");
    if (inst->info->dst_dwords == 2)
        sg_set_sgpr64(w, reg, sg_s64(w, inst, 0));
    else
        w->sgpr[reg] = sg_s32(w, inst, 0);
    return SG_STEP_OK;
}

static enum sg_step op_s_set_gpr_idx_idx(struct sg_wave *w, const struct sg_inst *inst)
{
    w->sgpr[SG_SGPR_M0] = (w->sgpr[SG_SGPR_M0] & ~0xffu) | (sg_s32(w, inst, 0) & 0xff);
    return SG_STEP_OK;
}

#define ROW(op, name, d, s)         SG_SROW(SG_ENC_SOP1, op, SG_CLASS_SALU, name, d, s, 0, 0)
#define AS(op, name, fn, d, s, arg) SG_SROW_AS(SG_ENC_SOP1, op, SG_CLASS_SALU, name, fn, d, s, 0, arg)
#define JUMP(op, name, d, s)        SG_SROW(SG_ENC_SOP1, op, SG_CLASS_BRANCH, name, d, s, 0, 0)
#define NAMED(op, name, d, s)       SG_SROW_NAMED(SG_ENC_SOP1, op, SG_CLASS_BRANCH, name, d, s, 0)

static const struct sg_opinfo rows[] = {
    ROW(0x00, s_mov_b32, 1, 1),
    ROW(0x01, s_mov_b64, 2, 2),
    ROW(0x02, s_cmov_b32, 1, 1),
    ROW(0x03, s_cmov_b64, 2, 2),
    ROW(0x04, s_not_b32, 1, 1),
    ROW(0x05, s_not_b64, 2, 2),
    ROW(0x06, s_wqm_b32, 1, 1),
    ROW(0x07, s_wqm_b64, 2, 2),
    ROW(0x08, s_brev_b32, 1, 1),
    ROW(0x09, s_brev_b64, 2, 2),
    ROW(0x0a, s_bcnt0_i32_b32, 1, 1),
    ROW(0x0b, s_bcnt0_i32_b64, 1, 2),
    ROW(0x0c, s_bcnt1_i32_b32, 1, 1),
    ROW(0x0d, s_bcnt1_i32_b64, 1, 2),
    ROW(0x0e, s_ff0_i32_b32, 1, 1),
    ROW(0x0f, s_ff0_i32_b64, 1, 2),
    ROW(0x10, s_ff1_i32_b32, 1, 1),
    ROW(0x11, s_ff1_i32_b64, 1, 2),
    ROW(0x12, s_flbit_i32_b32, 1, 1),
    ROW(0x13, s_flbit_i32_b64, 1, 2),
    ROW(0x14, s_flbit_i32, 1, 1),
    ROW(0x15, s_flbit_i32_i64, 1, 2),
    ROW(0x16, s_sext_i32_i8, 1, 1),
    ROW(0x17, s_sext_i32_i16, 1, 1),
    AS(0x18, s_bitset0_b32, s_bitset_b32, 1, 1, 0),
    AS(0x19, s_bitset0_b64, s_bitset_b64, 2, 1, 0),
    AS(0x1a, s_bitset1_b32, s_bitset_b32, 1, 1, 1),
    AS(0x1b, s_bitset1_b64, s_bitset_b64, 2, 1, 1),
    ROW(0x1c, s_getpc_b64, 2, 0),
    JUMP(0x1d, s_setpc_b64, 0, 2),
    JUMP(0x1e, s_swappc_b64, 2, 2),
    NAMED(0x1f, s_rfe_b64, 0, 2),
    ROW(0x20, s_and_saveexec_b64, 2, 2),
    ROW(0x21, s_or_saveexec_b64, 2, 2),
    ROW(0x22, s_xor_saveexec_b64, 2, 2),
    ROW(0x23, s_andn2_saveexec_b64, 2, 2),
    ROW(0x24, s_orn2_saveexec_b64, 2, 2),
    ROW(0x25, s_nand_saveexec_b64, 2, 2),
    ROW(0x26, s_nor_saveexec_b64, 2, 2),
    ROW(0x27, s_xnor_saveexec_b64, 2, 2),
    ROW(0x28, s_quadmask_b32, 1, 1),
    ROW(0x29, s_quadmask_b64, 2, 2),
    AS(0x2a, s_movrels_b32, s_movrels, 1, 1, 0),
    AS(0x2b, s_movrels_b64, s_movrels, 2, 2, 0),
    AS(0x2c, s_movreld_b32, s_movreld, 1, 1, 0),
    AS(0x2d, s_movreld_b64, s_movreld, 2, 2, 0),
    NAMED(0x2e, s_cbranch_join, 0, 1),
    ROW(0x30, s_abs_i32, 1, 1),
    ROW(0x32, s_set_gpr_idx_idx, 0, 1),
    ROW(0x33, s_andn1_saveexec_b64, 2, 2),
    ROW(0x34, s_orn1_saveexec_b64, 2, 2),
    ROW(0x35, s_andn1_wrexec_b64, 2, 2),
    ROW(0x36, s_andn2_wrexec_b64, 2, 2),
    ROW(0x37, s_bitreplicate_b64_b32, 2, 1),
};

const struct sg_optable sg_table_sop1 = {rows, sizeof(rows) / sizeof(*rows)};
