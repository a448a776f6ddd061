// SPDX-License-Identifier: MIT
// VOP3: vector operations that exist only in the three-operand form. Opcodes and semantics: "AMD Instinct
// MI200 Instruction Set Architecture" reference guide, VOP3A and VOP3B Instructions.
#include "softgpu/isa/convert.h"
#include "softgpu/isa/division.h"
#include "softgpu/isa/dot.h"
#include "softgpu/isa/lanes.h"
#include "softgpu/isa/media.h"
#include "softgpu/isa/salu.h"

static inline int32_t s24(uint32_t v)
{
    return (int32_t)(v << 8) >> 8;
}

static inline uint32_t u24(uint32_t v)
{
    return v & 0xffffff;
}

static inline uint32_t bfe_u32(uint32_t v, uint32_t offset, uint32_t width)
{
    return (v >> (offset & 31)) & ((1u << (width & 31)) - 1);
}

static inline int32_t bfe_i32(uint32_t v, uint32_t offset, uint32_t width)
{
    const uint32_t field = bfe_u32(v, offset, width), sign = 1u << ((width - 1) & 31);
    return width & 31 && field & sign ? (int32_t)(field | ~(sign - 1)) : (int32_t)field;
}

// Middle of three. With a NaN among floats the result is the minimum; the order of comparisons, which zeros of both
// signs show, is the reference guide's.
#define MED3(T, name)                                                                                        \
    static inline T name(T a, T b, T c)                                                                      \
    {                                                                                                        \
        const T low = a < b ? a : b, high = a < b ? b : a;                                                   \
        return c < low ? low : c > high ? high : c;                                                          \
    }
MED3(int32_t, med3_i32)
MED3(uint32_t, med3_u32)

static inline uint32_t min3_f32(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return sg_min32(sg_min32(a, b, ieee), c, ieee);
}

static inline uint32_t max3_f32(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return sg_max32(sg_max32(a, b, ieee), c, ieee);
}

static inline uint32_t med3_f32(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (sg_is_nan32(a) || sg_is_nan32(b) || sg_is_nan32(c))
        return min3_f32(a, b, c, ieee);
    const float top = sg_f32(max3_f32(a, b, c, ieee));
    if (top == sg_f32(a))
        return sg_max32(b, c, ieee);
    return top == sg_f32(b) ? sg_max32(a, c, ieee) : sg_max32(a, b, ieee);
}

static inline uint32_t min3_f16(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return sg_min16(sg_min16(a, b, ieee), c, ieee);
}

static inline uint32_t max3_f16(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return sg_max16(sg_max16(a, b, ieee), c, ieee);
}

static inline uint32_t med3_f16(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    if (sg_is_nan16(a) || sg_is_nan16(b) || sg_is_nan16(c))
        return min3_f16(a, b, c, ieee);
    const float top = sg_f32_from_f16(max3_f16(a, b, c, ieee));
    if (top == sg_f32_from_f16(a))
        return sg_max16(b, c, ieee);
    return top == sg_f32_from_f16(b) ? sg_max16(a, c, ieee) : sg_max16(a, b, ieee);
}

static inline int32_t clamp_int(int64_t v, int64_t low, int64_t high, bool clamp)
{
    return (int32_t)(!clamp ? v : v < low ? low : v > high ? high : v);
}

static inline uint32_t add_sat(uint64_t product, uint32_t c, bool clamp)
{
    const uint64_t sum = product + c;
    return clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

// Multiplication in which zero times anything is zero.
static inline float mul_legacy(float a, float b)
{
    return a == 0.0f || b == 0.0f ? 0.0f : a * b;
}

static inline float round16(float f)
{
    return sg_f32_from_f16(sg_f16_from_f32_rne(f));
}

static inline uint32_t byte_from_f32(float f)
{
    return f > 0.0f ? f < 255.0f ? (uint32_t)rintf(f) : 255 : 0;
}

// Two saturated 16-bit halves.
static inline uint32_t pack_u16(uint32_t a, uint32_t b)
{
    return (a > 0xffff ? 0xffff : a) | (b > 0xffff ? 0xffff : b) << 16;
}

static inline uint32_t pack_i16(int32_t a, int32_t b)
{
    return ((uint32_t)clamp_int(a, -32768, 32767, true) & 0xffff) |
           (uint32_t)clamp_int(b, -32768, 32767, true) << 16;
}

SG_VOP3(v_mad_legacy_f32, f32, f32, f32, f32, mul_legacy(a, b) + c)
SG_VOP3(v_mad_f32, f32, f32, f32, f32, a *b + c)
SG_VOP3(v_mad_i32_i24, i32, u32, u32, u32,
        clamp_int((int64_t)s24(a) * s24(b) + (int32_t)c, INT32_MIN, INT32_MAX, inst->clamp))
SG_VOP3(v_mad_u32_u24, u32, u32, u32, u32, add_sat((uint64_t)u24(a) * u24(b), c, inst->clamp))
SG_VOP3(v_cubeid_f32, f32, f32, f32, f32, sg_cube_id(a, b, c))
SG_VOP3(v_cubesc_f32, f32, f32, f32, f32, sg_cube_sc(a, b, c))
SG_VOP3(v_cubetc_f32, f32, f32, f32, f32, sg_cube_tc(a, b, c))
SG_VOP3(v_cubema_f32, f32, f32, f32, f32, sg_cube_ma(a, b, c))
SG_VOP3(v_bfe_u32, u32, u32, u32, u32, bfe_u32(a, b, c))
SG_VOP3(v_bfe_i32, i32, u32, u32, u32, bfe_i32(a, b, c))
SG_VOP3(v_bfi_b32, u32, u32, u32, u32, (a & b) | (~a & c))
SG_VOP3(v_fma_f32, f32, f32, f32, f32, round ? fmaf(a, b, c) : sg_fma32(a, b, c))
SG_VOP3(v_fma_f64, f64, f64, f64, f64, fma(a, b, c))
SG_VOP3(v_lerp_u8, u32, u32, u32, u32, sg_lerp_u8(a, b, c))
SG_VOP3(v_alignbit_b32, u32, u32, u32, u32, ((uint64_t)a << 32 | b) >> (c & 31))
SG_VOP3(v_alignbyte_b32, u32, u32, u32, u32, ((uint64_t)a << 32 | b) >> (8 * (c & 3)))
SG_VOP3(v_min3_f32, r32, r32, r32, r32, min3_f32(a, b, c, ieee))
SG_VOP3(v_min3_i32, i32, i32, i32, i32, a < b ? (a < c ? a : c) : b < c ? b : c)
SG_VOP3(v_min3_u32, u32, u32, u32, u32, a < b ? (a < c ? a : c) : b < c ? b : c)
SG_VOP3(v_max3_f32, r32, r32, r32, r32, max3_f32(a, b, c, ieee))
SG_VOP3(v_max3_i32, i32, i32, i32, i32, a > b ? (a > c ? a : c) : b > c ? b : c)
SG_VOP3(v_max3_u32, u32, u32, u32, u32, a > b ? (a > c ? a : c) : b > c ? b : c)
SG_VOP3(v_med3_f32, r32, r32, r32, r32, med3_f32(a, b, c, ieee))
SG_VOP3(v_med3_i32, i32, i32, i32, i32, med3_i32(a, b, c))
SG_VOP3(v_med3_u32, u32, u32, u32, u32, med3_u32(a, b, c))
SG_VOP3(v_sad_u8, u32, u32, u32, u32, sg_sad_u8(a, b, false) + c)
SG_VOP3(v_sad_hi_u8, u32, u32, u32, u32, (sg_sad_u8(a, b, false) << 16) + c)
SG_VOP3(v_sad_u16, u32, u32, u32, u32, sg_sad_u16(a, b) + c)
SG_VOP3(v_sad_u32, u32, u32, u32, u32, (a > b ? a - b : b - a) + c)
SG_VOP3(v_msad_u8, u32, u32, u32, u32, sg_sad_u8(a, b, true) + c)
SG_VOP3(v_cvt_pk_u8_f32, u32, f32, u32, u32,
        (c & ~(0xffu << (8 * (b & 3)))) | byte_from_f32(a) << (8 * (b & 3)))
SG_VOP3(v_div_fixup_f32, r32, r32, r32, r32, sg_div_fixup32(a, b, c))
SG_VOP3(v_div_fixup_f64, r64, r64, r64, r64, sg_div_fixup64(a, b, c))
SG_VOP3(v_div_fixup_f16, hf16, r16, r16, r16, sg_f32_from_f16(sg_div_fixup16(a, b, c)))
SG_VOP3(v_div_fixup_legacy_f16, r16, r16, r16, r16, sg_div_fixup16(a, b, c))
SG_VOP3(v_mad_legacy_f16, f16, f16, f16, f16, round16(a *b) + c)
SG_VOP3(v_mad_f16, hf16, f16, f16, f16, round16(a *b) + c)
SG_VOP3(v_mad_legacy_u16, u16, u16, u16, u16, a *b + c)
SG_VOP3(v_mad_u16, h16, u16, u16, u16, inst->clamp && (uint64_t)a * b + c > 0xffff ? 0xffff : a * b + c)
SG_VOP3(v_mad_legacy_i16, i16, i16, i16, i16, clamp_int((int64_t)a *b + c, -32768, 32767, inst->clamp))
SG_VOP3(v_mad_i16, h16, i16, i16, i16, clamp_int((int64_t)a *b + c, -32768, 32767, inst->clamp))
SG_VOP3(v_perm_b32, u32, u32, u32, u32, sg_perm(a, b, c))
SG_VOP3(v_fma_legacy_f16, r16, r16, r16, r16, sg_fma16(a, b, c, SG_ROUND_f16))
SG_VOP3(v_fma_f16, hf16, r16, r16, r16, sg_f32_from_f16(sg_fma16(a, b, c, round)))
SG_VOP3(v_mad_u32_u16, u32, u16, u16, u32, add_sat((uint64_t)a *b, c, inst->clamp))
SG_VOP3(v_mad_i32_i16, i32, i16, i16, u32,
        clamp_int((int64_t)a *b + (int32_t)c, INT32_MIN, INT32_MAX, inst->clamp))
SG_VOP3(v_xad_u32, u32, u32, u32, u32, (a ^ b) + c)
SG_VOP3(v_min3_f16, hf16, r16, r16, r16, sg_f32_from_f16(min3_f16(a, b, c, ieee)))
SG_VOP3(v_min3_i16, h16, i16, i16, i16, a < b ? (a < c ? a : c) : b < c ? b : c)
SG_VOP3(v_min3_u16, h16, u16, u16, u16, a < b ? (a < c ? a : c) : b < c ? b : c)
SG_VOP3(v_max3_f16, hf16, r16, r16, r16, sg_f32_from_f16(max3_f16(a, b, c, ieee)))
SG_VOP3(v_max3_i16, h16, i16, i16, i16, a > b ? (a > c ? a : c) : b > c ? b : c)
SG_VOP3(v_max3_u16, h16, u16, u16, u16, a > b ? (a > c ? a : c) : b > c ? b : c)
SG_VOP3(v_med3_f16, hf16, r16, r16, r16, sg_f32_from_f16(med3_f16(a, b, c, ieee)))
SG_VOP3(v_med3_i16, h16, i16, i16, i16, med3_i32(a, b, c))
SG_VOP3(v_med3_u16, h16, u16, u16, u16, med3_u32(a, b, c))
SG_VOP3(v_lshl_add_u32, u32, u32, u32, u32, (a << (b & 31)) + c)
SG_VOP3(v_add_lshl_u32, u32, u32, u32, u32, (a + b) << (c & 31))
SG_VOP3(v_add3_u32, u32, u32, u32, u32, a + b + c)
SG_VOP3(v_lshl_or_b32, u32, u32, u32, u32, a << (b & 31) | c)
SG_VOP3(v_and_or_b32, u32, u32, u32, u32, (a & b) | c)
SG_VOP3(v_or3_b32, u32, u32, u32, u32, a | b | c)
SG_VOP2(v_add_f64, f64, f64, f64, a + b)
SG_VOP2(v_mul_f64, f64, f64, f64, a *b)
SG_VOP2(v_min_f64, r64, r64, r64, sg_min64(a, b, ieee))
SG_VOP2(v_max_f64, r64, r64, r64, sg_max64(a, b, ieee))
SG_VOP2(v_ldexp_f64, f64, f64, i32, ldexp(a, b))
SG_VOP2(v_mul_lo_u32, u32, u32, u32, a *b)
SG_VOP2(v_mul_hi_u32, u32, u32, u32, (uint64_t)a *b >> 32)
SG_VOP2(v_mul_hi_i32, i32, i32, i32, (uint64_t)((int64_t)a *b) >> 32)
SG_VOP2(v_ldexp_f32, f32, f32, i32, ldexpf(a, b))
SG_VOP2(v_bcnt_u32_b32, u32, u32, u32, sg_popcount32(a) + b)
SG_VOP2(v_mbcnt_lo_u32_b32, u32, u32, u32, sg_popcount32(a &(lane < 32 ? (1u << lane) - 1 : UINT32_MAX)) + b)
SG_VOP2(v_mbcnt_hi_u32_b32, u32, u32, u32, sg_popcount32(a &(lane < 32 ? 0 : (1u << (lane - 32)) - 1)) + b)
SG_VOP2(v_lshlrev_b64, u64, u32, u64, b << (a & 63))
SG_VOP2(v_lshrrev_b64, u64, u32, u64, b >> (a & 63))
SG_VOP2(v_ashrrev_i64, i64, u32, i64, b >> (a & 63))
SG_VOP2(v_trig_preop_f64, f64, f64, u32, sg_trig_preop(a, b))
SG_VOP2(v_bfm_b32, u32, u32, u32, ((1u << (a & 31)) - 1) << (b & 31))
SG_VOP2(v_cvt_pknorm_i16_f32, u32, f32, f32, sg_snorm16(a) | sg_snorm16(b) << 16)
SG_VOP2(v_cvt_pknorm_u16_f32, u32, f32, f32, sg_unorm16(a) | sg_unorm16(b) << 16)
SG_VOP2(v_cvt_pkrtz_f16_f32, u32, f32, f32, sg_f16_from_f64(a, 3) | sg_f16_from_f64(b, 3) << 16)
SG_VOP2(v_cvt_pk_u16_u32, u32, u32, u32, pack_u16(a, b))
SG_VOP2(v_cvt_pk_i16_i32, u32, i32, i32, pack_i16(a, b))
SG_VOP2(v_cvt_pknorm_i16_f16, u32, f16, f16, sg_snorm16(a) | sg_snorm16(b) << 16)
SG_VOP2(v_cvt_pknorm_u16_f16, u32, f16, f16, sg_unorm16(a) | sg_unorm16(b) << 16)
SG_VOP2(v_add_i32, i32, i32, i32, clamp_int((int64_t)a + b, INT32_MIN, INT32_MAX, inst->clamp))
SG_VOP2(v_sub_i32, i32, i32, i32, clamp_int((int64_t)a - b, INT32_MIN, INT32_MAX, inst->clamp))
SG_VOP2(v_add_i16, h16, i16, i16, clamp_int((int64_t)a + b, -32768, 32767, inst->clamp))
SG_VOP2(v_sub_i16, h16, i16, i16, clamp_int((int64_t)a - b, -32768, 32767, inst->clamp))
SG_VOP2(v_pack_b32_f16, u32, r16, r16, a | b << 16)
SG_VOP2(v_mul_legacy_f32, f32, f32, f32, mul_legacy(a, b))

// One byte of the destination replaced by a converted float.
static enum sg_step op_v_cvt_pkaccum_u8_f32(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, f32, 0)
    SG_VOP_SOURCE(b, u32, 1)
    const uint32_t *old = w->vgpr[sg_vgpr_dst(w, inst)];
    uint32_t result[SG_LANES];
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const unsigned at = 8 * (b_in[lane] & 3);
        result[lane] = (old[lane] & ~(0xffu << at)) | byte_from_f32(sg_f32(a_in[lane])) << at;
    }
    sg_dst32(w, inst, result);
    return SG_STEP_OK;
}

static enum sg_step op_v_readlane_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    uint32_t buf[SG_LANES];
    if (inst->src[1] >= SG_SRC_VGPR0)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "lane select in a vector register");
    sg_sdst32(w, inst, sg_src32(w, inst, 0, buf)[sg_s32(w, inst, 1) & 63]);
    return SG_STEP_OK;
}

// One lane, whatever EXEC says.
static enum sg_step op_v_writelane_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->src[0] >= SG_SRC_VGPR0 || inst->src[1] >= SG_SRC_VGPR0)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "lane value or select in a vector register");
    w->vgpr[sg_vgpr_dst(w, inst)][sg_s32(w, inst, 1) & 63] = sg_s32(w, inst, 0);
    return SG_STEP_OK;
}

static enum sg_step op_v_div_scale_f32(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, f32, 0)
    SG_VOP_SOURCE(b, f32, 1)
    SG_VOP_SOURCE(c, f32, 2)
    uint32_t result[SG_LANES];
    uint64_t post = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        bool bit;
        result[lane] = sg_div_scale32(a_in[lane], b_in[lane], c_in[lane], &bit);
        post |= (uint64_t)bit << lane;
    }
    sg_dst_f32(w, inst, result);
    sg_dst_mask(w, inst, post & sg_exec(w));
    return SG_STEP_OK;
}

static enum sg_step op_v_div_scale_f64(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, f64, 0)
    SG_VOP_SOURCE(b, f64, 1)
    SG_VOP_SOURCE(c, f64, 2)
    uint64_t result[SG_LANES], post = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        bool bit;
        result[lane] = sg_div_scale64(a_in[lane], b_in[lane], c_in[lane], &bit);
        post |= (uint64_t)bit << lane;
    }
    sg_dst_f64(w, inst, result);
    sg_dst_mask(w, inst, post & sg_exec(w));
    return SG_STEP_OK;
}

// The VCC bit of a lane asks for scaling back.
SG_VOP3(v_div_fmas_f32, f32, f32, f32, f32, sg_div_fmas32(a, b, c, sg_sgpr64(w, SG_SGPR_VCC) >> lane & 1))
SG_VOP3(v_div_fmas_f64, f64, f64, f64, f64, sg_div_fmas64(a, b, c, sg_sgpr64(w, SG_SGPR_VCC) >> lane & 1))

// 64-bit multiply-add with the carry (signed: overflow) out of bit 63 in the scalar destination.
static enum sg_step op_v_mad_u64_u32(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, u32, 0)
    SG_VOP_SOURCE(b, u32, 1)
    SG_VOP_SOURCE(c, u64, 2)
    uint64_t result[SG_LANES], carry = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const bool over =
            __builtin_add_overflow((uint64_t)a_in[lane] * b_in[lane], c_in[lane], &result[lane]);
        carry |= (uint64_t)over << lane;
        if (over && inst->clamp)
            result[lane] = UINT64_MAX;
    }
    sg_dst64(w, inst, result);
    sg_dst_mask(w, inst, carry & sg_exec(w));
    return SG_STEP_OK;
}

static enum sg_step op_v_mad_i64_i32(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, u32, 0)
    SG_VOP_SOURCE(b, u32, 1)
    SG_VOP_SOURCE(c, u64, 2)
    uint64_t result[SG_LANES], carry = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const int64_t product = (int64_t)(int32_t)a_in[lane] * (int32_t)b_in[lane];
        int64_t sum;
        const bool over = __builtin_add_overflow(product, (int64_t)c_in[lane], &sum);
        result[lane] = (uint64_t)(over && inst->clamp ? (product < 0 ? INT64_MIN : INT64_MAX) : sum);
        carry |= (uint64_t)over << lane;
    }
    sg_dst64(w, inst, result);
    sg_dst_mask(w, inst, carry & sg_exec(w));
    return SG_STEP_OK;
}

// Four sums at byte offsets 0..3 of the 64-bit source, each added to a 16-bit field of source 2. arg: masked.
static enum sg_step op_v_qsad_pk_u16_u8(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, u64, 0)
    SG_VOP_SOURCE(b, u32, 1)
    SG_VOP_SOURCE(c, u64, 2)
    uint64_t result[SG_LANES];
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        result[lane] = 0;
        for (unsigned k = 0; k < 4; k++) {
            const uint32_t sad = sg_sad_u8((uint32_t)(a_in[lane] >> (8 * k)), b_in[lane], inst->info->arg);
            result[lane] |= (uint64_t)((sad + (uint32_t)(c_in[lane] >> (16 * k))) & 0xffff) << (16 * k);
        }
    }
    sg_dst64(w, inst, result);
    return SG_STEP_OK;
}

// The same with four 32-bit accumulators.
static enum sg_step op_v_mqsad_u32_u8(struct sg_wave *w, const struct sg_inst *inst)
{
    SG_VOP_SOURCE(a, u64, 0)
    SG_VOP_SOURCE(b, u32, 1)
    if (inst->src[2] < SG_SRC_VGPR0)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "128-bit source in scalar registers");
    const unsigned from = sg_vgpr_src(w, inst, 2), to = sg_vgpr_dst(w, inst);
    uint32_t result[4][SG_LANES];
    for (unsigned k = 0; k < 4; k++)
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            result[k][lane] =
                w->vgpr[from + k][lane] + sg_sad_u8((uint32_t)(a_in[lane] >> (8 * k)), b_in[lane], true);
    for (unsigned k = 0; k < 4; k++)
        sg_store_lanes(w->vgpr[to + k], result[k], sg_exec(w));
    return SG_STEP_OK;
}

#define ROW(op, name, d, s0, s1, s2, flags) SG_ROW(SG_ENC_VOP3, op, name, d, s0, s1, s2, 0, flags)
#define AS(op, name, fn, d, s0, s1, s2, arg, flags)                                                          \
    SG_ROW_AS(SG_ENC_VOP3, op, name, fn, d, s0, s1, s2, arg, flags)
#define F   SG_OP_FLOAT
#define F16 SG_OP_FLOAT | SG_OP_HALF
#define F64 SG_OP_FLOAT | SG_OP_DOUBLE

static const struct sg_opinfo rows[] = {
    ROW(0x1c0, v_mad_legacy_f32, 1, 1, 1, 1, F),
    ROW(0x1c1, v_mad_f32, 1, 1, 1, 1, F),
    ROW(0x1c2, v_mad_i32_i24, 1, 1, 1, 1, 0),
    ROW(0x1c3, v_mad_u32_u24, 1, 1, 1, 1, 0),
    ROW(0x1c4, v_cubeid_f32, 1, 1, 1, 1, F),
    ROW(0x1c5, v_cubesc_f32, 1, 1, 1, 1, F),
    ROW(0x1c6, v_cubetc_f32, 1, 1, 1, 1, F),
    ROW(0x1c7, v_cubema_f32, 1, 1, 1, 1, F),
    ROW(0x1c8, v_bfe_u32, 1, 1, 1, 1, 0),
    ROW(0x1c9, v_bfe_i32, 1, 1, 1, 1, 0),
    ROW(0x1ca, v_bfi_b32, 1, 1, 1, 1, 0),
    ROW(0x1cb, v_fma_f32, 1, 1, 1, 1, F),
    ROW(0x1cc, v_fma_f64, 2, 2, 2, 2, F64),
    ROW(0x1cd, v_lerp_u8, 1, 1, 1, 1, 0),
    ROW(0x1ce, v_alignbit_b32, 1, 1, 1, 1, 0),
    ROW(0x1cf, v_alignbyte_b32, 1, 1, 1, 1, 0),
    ROW(0x1d0, v_min3_f32, 1, 1, 1, 1, F),
    ROW(0x1d1, v_min3_i32, 1, 1, 1, 1, 0),
    ROW(0x1d2, v_min3_u32, 1, 1, 1, 1, 0),
    ROW(0x1d3, v_max3_f32, 1, 1, 1, 1, F),
    ROW(0x1d4, v_max3_i32, 1, 1, 1, 1, 0),
    ROW(0x1d5, v_max3_u32, 1, 1, 1, 1, 0),
    ROW(0x1d6, v_med3_f32, 1, 1, 1, 1, F),
    ROW(0x1d7, v_med3_i32, 1, 1, 1, 1, 0),
    ROW(0x1d8, v_med3_u32, 1, 1, 1, 1, 0),
    ROW(0x1d9, v_sad_u8, 1, 1, 1, 1, 0),
    ROW(0x1da, v_sad_hi_u8, 1, 1, 1, 1, 0),
    ROW(0x1db, v_sad_u16, 1, 1, 1, 1, 0),
    ROW(0x1dc, v_sad_u32, 1, 1, 1, 1, 0),
    ROW(0x1dd, v_cvt_pk_u8_f32, 1, 1, 1, 1, F),
    ROW(0x1de, v_div_fixup_f32, 1, 1, 1, 1, F),
    ROW(0x1df, v_div_fixup_f64, 2, 2, 2, 2, F64),
    ROW(0x1e0, v_div_scale_f32, 1, 1, 1, 1, SG_OP_VOP3B | F),
    ROW(0x1e1, v_div_scale_f64, 2, 2, 2, 2, SG_OP_VOP3B | F64),
    ROW(0x1e2, v_div_fmas_f32, 1, 1, 1, 1, F),
    ROW(0x1e3, v_div_fmas_f64, 2, 2, 2, 2, F64),
    ROW(0x1e4, v_msad_u8, 1, 1, 1, 1, 0),
    AS(0x1e5, v_qsad_pk_u16_u8, v_qsad_pk_u16_u8, 2, 2, 1, 2, 0, 0),
    AS(0x1e6, v_mqsad_pk_u16_u8, v_qsad_pk_u16_u8, 2, 2, 1, 2, 1, 0),
    ROW(0x1e7, v_mqsad_u32_u8, 4, 2, 1, 4, 0),
    ROW(0x1e8, v_mad_u64_u32, 2, 1, 1, 2, SG_OP_VOP3B),
    ROW(0x1e9, v_mad_i64_i32, 2, 1, 1, 2, SG_OP_VOP3B),
    ROW(0x1ea, v_mad_legacy_f16, 1, 1, 1, 1, F16),
    ROW(0x1eb, v_mad_legacy_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1ec, v_mad_legacy_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1ed, v_perm_b32, 1, 1, 1, 1, 0),
    ROW(0x1ee, v_fma_legacy_f16, 1, 1, 1, 1, F16),
    ROW(0x1ef, v_div_fixup_legacy_f16, 1, 1, 1, 1, F16),
    ROW(0x1f0, v_cvt_pkaccum_u8_f32, 1, 1, 1, 0, F),
    ROW(0x1f1, v_mad_u32_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1f2, v_mad_i32_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1f3, v_xad_u32, 1, 1, 1, 1, 0),
    ROW(0x1f4, v_min3_f16, 1, 1, 1, 1, F16),
    ROW(0x1f5, v_min3_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1f6, v_min3_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1f7, v_max3_f16, 1, 1, 1, 1, F16),
    ROW(0x1f8, v_max3_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1f9, v_max3_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1fa, v_med3_f16, 1, 1, 1, 1, F16),
    ROW(0x1fb, v_med3_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1fc, v_med3_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x1fd, v_lshl_add_u32, 1, 1, 1, 1, 0),
    ROW(0x1fe, v_add_lshl_u32, 1, 1, 1, 1, 0),
    ROW(0x1ff, v_add3_u32, 1, 1, 1, 1, 0),
    ROW(0x200, v_lshl_or_b32, 1, 1, 1, 1, 0),
    ROW(0x201, v_and_or_b32, 1, 1, 1, 1, 0),
    ROW(0x202, v_or3_b32, 1, 1, 1, 1, 0),
    ROW(0x203, v_mad_f16, 1, 1, 1, 1, F16),
    ROW(0x204, v_mad_u16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x205, v_mad_i16, 1, 1, 1, 1, SG_OP_HALF),
    ROW(0x206, v_fma_f16, 1, 1, 1, 1, F16),
    ROW(0x207, v_div_fixup_f16, 1, 1, 1, 1, F16),
    ROW(0x280, v_add_f64, 2, 2, 2, 0, F64),
    ROW(0x281, v_mul_f64, 2, 2, 2, 0, F64),
    ROW(0x282, v_min_f64, 2, 2, 2, 0, F64),
    ROW(0x283, v_max_f64, 2, 2, 2, 0, F64),
    ROW(0x284, v_ldexp_f64, 2, 2, 1, 0, F64),
    ROW(0x285, v_mul_lo_u32, 1, 1, 1, 0, 0),
    ROW(0x286, v_mul_hi_u32, 1, 1, 1, 0, 0),
    ROW(0x287, v_mul_hi_i32, 1, 1, 1, 0, 0),
    ROW(0x288, v_ldexp_f32, 1, 1, 1, 0, F),
    ROW(0x289, v_readlane_b32, 1, 1, 1, 0, SG_OP_SDST),
    ROW(0x28a, v_writelane_b32, 1, 1, 1, 0, 0),
    ROW(0x28b, v_bcnt_u32_b32, 1, 1, 1, 0, 0),
    ROW(0x28c, v_mbcnt_lo_u32_b32, 1, 1, 1, 0, 0),
    ROW(0x28d, v_mbcnt_hi_u32_b32, 1, 1, 1, 0, 0),
    ROW(0x28f, v_lshlrev_b64, 2, 1, 2, 0, 0),
    ROW(0x290, v_lshrrev_b64, 2, 1, 2, 0, 0),
    ROW(0x291, v_ashrrev_i64, 2, 1, 2, 0, 0),
    ROW(0x292, v_trig_preop_f64, 2, 2, 1, 0, F64),
    ROW(0x293, v_bfm_b32, 1, 1, 1, 0, 0),
    ROW(0x294, v_cvt_pknorm_i16_f32, 1, 1, 1, 0, F),
    ROW(0x295, v_cvt_pknorm_u16_f32, 1, 1, 1, 0, F),
    ROW(0x296, v_cvt_pkrtz_f16_f32, 1, 1, 1, 0, F),
    ROW(0x297, v_cvt_pk_u16_u32, 1, 1, 1, 0, 0),
    ROW(0x298, v_cvt_pk_i16_i32, 1, 1, 1, 0, 0),
    ROW(0x299, v_cvt_pknorm_i16_f16, 1, 1, 1, 0, F16),
    ROW(0x29a, v_cvt_pknorm_u16_f16, 1, 1, 1, 0, F16),
    ROW(0x29c, v_add_i32, 1, 1, 1, 0, 0),
    ROW(0x29d, v_sub_i32, 1, 1, 1, 0, 0),
    ROW(0x29e, v_add_i16, 1, 1, 1, 0, SG_OP_HALF),
    ROW(0x29f, v_sub_i16, 1, 1, 1, 0, SG_OP_HALF),
    ROW(0x2a0, v_pack_b32_f16, 1, 1, 1, 0, F16),
    ROW(0x2a1, v_mul_legacy_f32, 1, 1, 1, 0, F),
};

const struct sg_optable sg_table_vop3 = {rows, sizeof(rows) / sizeof(*rows)};
