// SPDX-License-Identifier: MIT
// VOP2: vector operations with two sources. Opcodes and semantics: "AMD Instinct MI200 Instruction Set
// Architecture" reference guide, VOP2 Instructions.
#include "softgpu/isa/dot.h"
#include "softgpu/isa/lanes.h"

// 24-bit integer operands.
static inline int32_t s24(uint32_t v)
{
    return (int32_t)(v << 8) >> 8;
}

static inline uint32_t u24(uint32_t v)
{
    return v & 0xffffff;
}

// With the clamp bit integer additions saturate.
static inline uint32_t add_sat(uint32_t a, uint32_t b, bool clamp)
{
    const uint32_t r = a + b;
    return clamp && r < a ? UINT32_MAX : r;
}

static inline uint32_t sub_sat(uint32_t a, uint32_t b, bool clamp)
{
    return clamp && b > a ? 0 : a - b;
}

static inline uint32_t add16_sat(uint32_t a, uint32_t b, bool clamp)
{
    return clamp && a + b > 0xffff ? 0xffff : a + b;
}

// Carry chains: `sum` is the 33-bit result, its bit 32 the carry or borrow out, masks are per lane.
#define CARRY(name, with_in, sum)                                                                            \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        uint32_t a_buf[SG_LANES], b_buf[SG_LANES], result[SG_LANES], *const place = sg_place32(w, inst);     \
        uint32_t *const to = place ? place : result;                                                         \
        uint8_t over[SG_LANES];                                                                              \
        const uint32_t *a_in = sg_fast32(w, inst, 0, a_buf), *b_in = sg_fast32(w, inst, 1, b_buf);           \
        const uint64_t carry_in = with_in ? sg_src_mask(w, inst, 2) : 0, active = sg_active(w, inst);        \
        const uint32_t saturated = inst->clamp ? UINT32_MAX : 0;                                             \
        SG_LANES_APART                                                                                       \
        for (unsigned lane = 0; lane < SG_LANES; lane++) {                                                   \
            const uint64_t a = a_in[lane], b = b_in[lane], c = carry_in >> lane & 1, r = (sum);              \
            (void)c;                                                                                         \
            over[lane] = r >> 32 & 1;                                                                        \
            to[lane] = saturated && over[lane] ? SATURATED : (uint32_t)r;                                    \
        }                                                                                                    \
        if (!place)                                                                                          \
            sg_dst32(w, inst, result);                                                                       \
        sg_dst_mask(w, inst, sg_pack_hits(over) & active);                                                   \
        return SG_STEP_OK;                                                                                   \
    }
#define SATURATED UINT32_MAX
CARRY(v_add_co_u32, false, a + b)
CARRY(v_addc_co_u32, true, a + b + c)
#undef SATURATED
#define SATURATED 0
CARRY(v_sub_co_u32, false, a - b)
CARRY(v_subrev_co_u32, false, b - a)
CARRY(v_subb_co_u32, true, a - b - c)
CARRY(v_subbrev_co_u32, true, b - a - c)

// Per-lane choice by a mask; sources take float modifiers in VOP3 form.
static enum sg_step op_v_cndmask_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    uint32_t a_buf[SG_LANES], b_buf[SG_LANES], result[SG_LANES];
    const uint32_t *a = sg_src_look32(w, inst, 0, a_buf), *b = sg_src_look32(w, inst, 1, b_buf);
    const uint64_t mask = sg_src_mask(w, inst, 2);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        result[lane] = mask >> lane & 1 ? b[lane] : a[lane];
    sg_dst32(w, inst, result);
    return SG_STEP_OK;
}

static inline float fma_mode32(float a, float b, float c, unsigned round)
{
    return round ? fmaf(a, b, c) : sg_fma32(a, b, c);
}

// Product rounded to f16, then added: the unfused multiply-add of f16.
static inline float round16(float f)
{
    return sg_f32_from_f16(sg_f16_from_f32_rne(f));
}

// One element of the packed f16 form, which has no modifiers.
static inline uint32_t fmac16(uint32_t mode, uint32_t a, uint32_t b, uint32_t c)
{
    const bool kept = mode & SG_MODE_DENORM64_IN;
    const uint32_t r = sg_fma16(kept ? a : sg_normal16(a), kept ? b : sg_normal16(b),
                                kept ? c : sg_normal16(c), (mode & SG_MODE_ROUND64) >> 2);
    return mode & SG_MODE_DENORM64_OUT ? r : sg_normal16(r);
}

SG_VOP2(v_add_f32, f32, f32, f32, a + b)
SG_VOP2(v_sub_f32, f32, f32, f32, a - b)
SG_VOP2(v_subrev_f32, f32, f32, f32, b - a)
SG_VOP3(v_fmac_f64, f64, f64, f64, f64, fma(a, b, c))
SG_VOP2(v_mul_f32, f32, f32, f32, a *b)
SG_VOP2(v_mul_i32_i24, i32, u32, u32, (uint32_t)s24(a) * (uint32_t)s24(b))
SG_VOP2(v_mul_hi_i32_i24, i32, u32, u32, (uint64_t)((int64_t)s24(a) * s24(b)) >> 32)
SG_VOP2(v_mul_u32_u24, u32, u32, u32, u24(a) * u24(b))
SG_VOP2(v_mul_hi_u32_u24, u32, u32, u32, (uint64_t)u24(a) * u24(b) >> 32)
SG_VOP2(v_min_f32, r32, r32, r32, sg_min32(a, b, ieee))
SG_VOP2(v_max_f32, r32, r32, r32, sg_max32(a, b, ieee))
SG_VOP2(v_min_i32, i32, i32, i32, a < b ? a : b)
SG_VOP2(v_max_i32, i32, i32, i32, a > b ? a : b)
SG_VOP2(v_min_u32, u32, u32, u32, a < b ? a : b)
SG_VOP2(v_max_u32, u32, u32, u32, a > b ? a : b)
SG_VOP2(v_lshrrev_b32, u32, u32, u32, b >> (a & 31))
SG_VOP2(v_ashrrev_i32, i32, u32, i32, b >> (a & 31))
SG_VOP2(v_lshlrev_b32, u32, u32, u32, b << (a & 31))
SG_VOP2(v_and_b32, u32, u32, u32, a &b)
SG_VOP2(v_or_b32, u32, u32, u32, a | b)
SG_VOP2(v_xor_b32, u32, u32, u32, a ^ b)
SG_VOP2(v_xnor_b32, u32, u32, u32, ~(a ^ b))
SG_VOP3(v_mac_f32, f32, f32, f32, f32, a *b + c)
SG_VOP3(v_fmac_f32, f32, f32, f32, f32, fma_mode32(a, b, c, round))
SG_VOP2(v_add_f16, f16, f16, f16, a + b)
SG_VOP2(v_sub_f16, f16, f16, f16, a - b)
SG_VOP2(v_subrev_f16, f16, f16, f16, b - a)
SG_VOP2(v_mul_f16, f16, f16, f16, a *b)
SG_VOP3(v_mac_f16, f16, f16, f16, f16, round16(a *b) + c)
SG_VOP2(v_add_u16, u16, u16, u16, add16_sat(a, b, inst->clamp))
SG_VOP2(v_sub_u16, u16, u16, u16, sub_sat(a, b, inst->clamp))
SG_VOP2(v_subrev_u16, u16, u16, u16, sub_sat(b, a, inst->clamp))
SG_VOP2(v_mul_lo_u16, u16, u16, u16, a *b)
SG_VOP2(v_lshlrev_b16, u16, u16, u16, b << (a & 15))
SG_VOP2(v_lshrrev_b16, u16, u16, u16, b >> (a & 15))
SG_VOP2(v_ashrrev_i16, i16, u16, i16, b >> (a & 15))
SG_VOP2(v_max_f16, r16, r16, r16, sg_max16(a, b, ieee))
SG_VOP2(v_min_f16, r16, r16, r16, sg_min16(a, b, ieee))
SG_VOP2(v_max_u16, u16, u16, u16, a > b ? a : b)
SG_VOP2(v_max_i16, i16, i16, i16, a > b ? a : b)
SG_VOP2(v_min_u16, u16, u16, u16, a < b ? a : b)
SG_VOP2(v_min_i16, i16, i16, i16, a < b ? a : b)
SG_VOP2(v_ldexp_f16, f16, f16, i16, ldexpf(a, b))
SG_VOP2(v_add_u32, u32, u32, u32, add_sat(a, b, inst->clamp))
SG_VOP2(v_sub_u32, u32, u32, u32, sub_sat(a, b, inst->clamp))
SG_VOP2(v_subrev_u32, u32, u32, u32, sub_sat(b, a, inst->clamp))
SG_VOP3(v_dot2c_f32_f16, r32, u32, u32, u32, sg_bits32(sg_dot2_f16(a, b, sg_f32(c))))
SG_VOP3(v_dot2c_i32_i16, i32, u32, u32, u32, sg_dot_signed(a, b, c, 16, inst->clamp))
SG_VOP3(v_dot4c_i32_i8, i32, u32, u32, u32, sg_dot_signed(a, b, c, 8, inst->clamp))
SG_VOP3(v_dot8c_i32_i4, i32, u32, u32, u32, sg_dot_signed(a, b, c, 4, inst->clamp))
SG_VOP3(v_pk_fmac_f16, u32, u32, u32, u32,
        fmac16(w->mode, a & 0xffff, b & 0xffff, c & 0xffff) | fmac16(w->mode, a >> 16, b >> 16, c >> 16)
                                                                  << 16)

#define ROW(op, name, d, s0, s1, flags) SG_ROW(SG_ENC_VOP2, op, name, d, s0, s1, 0, SG_IMPLICIT_NONE, flags)
// Accumulating forms read their destination.
#define ACC(op, name, d, s, flags) SG_ROW(SG_ENC_VOP2, op, name, d, s, s, d, SG_IMPLICIT_DST, flags)
// Forms with a 32-bit constant in the instruction stream.
#define K(op, name, fn, which, flags) SG_ROW_AS(SG_ENC_VOP2, op, name, fn, 1, 1, 1, 1, which, flags)
#define CARRY_OUT(op, name)           SG_ROW(SG_ENC_VOP2, op, name, 1, 1, 1, 0, SG_IMPLICIT_NONE, SG_OP_VOP3B)
#define CARRY_IN(op, name)            SG_ROW(SG_ENC_VOP2, op, name, 1, 1, 1, 2, SG_IMPLICIT_VCC, SG_OP_VOP3B)
#define F                             SG_OP_FLOAT
#define F16                           SG_OP_FLOAT | SG_OP_HALF
#define F64                           SG_OP_FLOAT | SG_OP_DOUBLE

static const struct sg_opinfo rows[] = {
    SG_ROW(SG_ENC_VOP2, 0x00, v_cndmask_b32, 1, 1, 1, 2, SG_IMPLICIT_VCC, F),
    ROW(0x01, v_add_f32, 1, 1, 1, F),
    ROW(0x02, v_sub_f32, 1, 1, 1, F),
    ROW(0x03, v_subrev_f32, 1, 1, 1, F),
    ACC(0x04, v_fmac_f64, 2, 2, F64),
    ROW(0x05, v_mul_f32, 1, 1, 1, F),
    ROW(0x06, v_mul_i32_i24, 1, 1, 1, 0),
    ROW(0x07, v_mul_hi_i32_i24, 1, 1, 1, 0),
    ROW(0x08, v_mul_u32_u24, 1, 1, 1, 0),
    ROW(0x09, v_mul_hi_u32_u24, 1, 1, 1, 0),
    ROW(0x0a, v_min_f32, 1, 1, 1, F),
    ROW(0x0b, v_max_f32, 1, 1, 1, F),
    ROW(0x0c, v_min_i32, 1, 1, 1, 0),
    ROW(0x0d, v_max_i32, 1, 1, 1, 0),
    ROW(0x0e, v_min_u32, 1, 1, 1, 0),
    ROW(0x0f, v_max_u32, 1, 1, 1, 0),
    ROW(0x10, v_lshrrev_b32, 1, 1, 1, 0),
    ROW(0x11, v_ashrrev_i32, 1, 1, 1, 0),
    ROW(0x12, v_lshlrev_b32, 1, 1, 1, 0),
    ROW(0x13, v_and_b32, 1, 1, 1, 0),
    ROW(0x14, v_or_b32, 1, 1, 1, 0),
    ROW(0x15, v_xor_b32, 1, 1, 1, 0),
    ACC(0x16, v_mac_f32, 1, 1, F),
    K(0x17, v_madmk_f32, v_mac_f32, SG_IMPLICIT_MK, F),
    K(0x18, v_madak_f32, v_mac_f32, SG_IMPLICIT_AK, F),
    CARRY_OUT(0x19, v_add_co_u32),
    CARRY_OUT(0x1a, v_sub_co_u32),
    CARRY_OUT(0x1b, v_subrev_co_u32),
    CARRY_IN(0x1c, v_addc_co_u32),
    CARRY_IN(0x1d, v_subb_co_u32),
    CARRY_IN(0x1e, v_subbrev_co_u32),
    ROW(0x1f, v_add_f16, 1, 1, 1, F16),
    ROW(0x20, v_sub_f16, 1, 1, 1, F16),
    ROW(0x21, v_subrev_f16, 1, 1, 1, F16),
    ROW(0x22, v_mul_f16, 1, 1, 1, F16),
    ACC(0x23, v_mac_f16, 1, 1, F16),
    K(0x24, v_madmk_f16, v_mac_f16, SG_IMPLICIT_MK, F16),
    K(0x25, v_madak_f16, v_mac_f16, SG_IMPLICIT_AK, F16),
    ROW(0x26, v_add_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x27, v_sub_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x28, v_subrev_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x29, v_mul_lo_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x2a, v_lshlrev_b16, 1, 1, 1, SG_OP_HALF),
    ROW(0x2b, v_lshrrev_b16, 1, 1, 1, SG_OP_HALF),
    ROW(0x2c, v_ashrrev_i16, 1, 1, 1, SG_OP_HALF),
    ROW(0x2d, v_max_f16, 1, 1, 1, F16),
    ROW(0x2e, v_min_f16, 1, 1, 1, F16),
    ROW(0x2f, v_max_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x30, v_max_i16, 1, 1, 1, SG_OP_HALF),
    ROW(0x31, v_min_u16, 1, 1, 1, SG_OP_HALF),
    ROW(0x32, v_min_i16, 1, 1, 1, SG_OP_HALF),
    ROW(0x33, v_ldexp_f16, 1, 1, 1, F16),
    ROW(0x34, v_add_u32, 1, 1, 1, 0),
    ROW(0x35, v_sub_u32, 1, 1, 1, 0),
    ROW(0x36, v_subrev_u32, 1, 1, 1, 0),
    ACC(0x37, v_dot2c_f32_f16, 1, 1, F),
    ACC(0x38, v_dot2c_i32_i16, 1, 1, 0),
    ACC(0x39, v_dot4c_i32_i8, 1, 1, 0),
    ACC(0x3a, v_dot8c_i32_i4, 1, 1, 0),
    ACC(0x3b, v_fmac_f32, 1, 1, F),
    ACC(0x3c, v_pk_fmac_f16, 1, 1, F16),
    ROW(0x3d, v_xnor_b32, 1, 1, 1, 0),
};

const struct sg_optable sg_table_vop2 = {rows, sizeof(rows) / sizeof(*rows)};
