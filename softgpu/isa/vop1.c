// SPDX-License-Identifier: MIT
// VOP1: vector operations with one source. Opcodes and semantics: "AMD Instinct MI200 Instruction Set
// Architecture" reference guide, VOP1 Instructions.
#include "softgpu/isa/convert.h"
#include "softgpu/isa/lanes.h"
#include "softgpu/isa/salu.h"

static enum sg_step op_v_nop(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w;
    (void)inst;
    return SG_STEP_OK;
}

// Value of the first active lane (lane 0 when none is) to a scalar register.
static enum sg_step op_v_readfirstlane_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    uint32_t buf[SG_LANES];
    sg_sdst32(w, inst, sg_src32(w, inst, 0, buf)[exec ? __builtin_ctzll(exec) : 0]);
    return SG_STEP_OK;
}

static enum sg_step op_v_swap_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    if (inst->src[0] < SG_SRC_VGPR0)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "swap with a scalar operand");
    uint32_t *a = w->vgpr[sg_vgpr_dst(w, inst)], *b = w->vgpr[sg_vgpr_src(w, inst, 0)];
    uint32_t old[SG_LANES];
    memcpy(old, a, sizeof(old));
    sg_store_lanes(a, b, sg_exec(w));
    sg_store_lanes(b, old, sg_exec(w));
    return SG_STEP_OK;
}

// The host's floor and ceil, where it has no instruction for them, give zeros of the wrong sign when rounding is directed.
static inline float floor32(float a)
{
    const float t = truncf(a);
    return t > a ? t - 1.0f : t;
}

static inline double floor64(double a)
{
    const double t = trunc(a);
    return t > a ? t - 1.0 : t;
}

static inline float ceil32(float a)
{
    const float t = truncf(a);
    return t < a ? t + 1.0f : t;
}

static inline double ceil64(double a)
{
    const double t = trunc(a);
    return t < a ? t + 1.0 : t;
}

// The fraction stays below 1 even where x - floor64(x) rounds up to it.
static inline float fract32(float a)
{
    const float f = a - floor32(a);
    return f < 1.0f ? f : f != f ? f : 0x1.fffffep-1f;
}

static inline double fract64(double a)
{
    const double f = a - floor64(a);
    return f < 1.0 ? f : f != f ? f : 0x1.fffffffffffffp-1;
}

static inline float fract16(float a)
{
    const float f = a - floor32(a);
    return f <= 0x1.ffcp-1f ? f : f != f ? f : 0x1.ffcp-1f;
}

// The transcendental operations of f32 take denormals for zeros and give zeros for denormals, whatever MODE says.
// Source: notes "denormals are flushed" of V_EXP_F32, V_LOG_F32, V_RCP_F32, V_RSQ_F32, V_SQRT_F32 in AMD's
// reference guides; LLVM scales operands away from them for the same reason.
static inline float flushed(float f)
{
    const uint32_t bits = sg_bits32(f);
    return sg_f32(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

static inline uint32_t flushed_bits(float f)
{
    return sg_bits32(flushed(f));
}

static inline uint32_t sat_u8(int32_t v)
{
    return v < 0 ? 0 : v > 255 ? 255 : (uint32_t)v;
}

SG_VOP1(v_mov_b32, u32, u32, a)
SG_VOP1(v_cvt_i32_f64, i32, f64, sg_i32_from_f64(a))
SG_VOP1(v_cvt_f64_i32, f64, i32, (double)a)
SG_VOP1(v_cvt_f32_i32, f32, i32, (float)a)
SG_VOP1(v_cvt_f32_u32, f32, u32, (float)a)
SG_VOP1(v_cvt_u32_f32, u32, f32, sg_u32_from_f64(a))
SG_VOP1(v_cvt_i32_f32, i32, f32, sg_i32_from_f64(a))
SG_VOP1(v_cvt_f16_f32, f16, f32, a)
SG_VOP1(v_cvt_f32_f16, f32, f16, a)
SG_VOP1(v_cvt_rpi_i32_f32, i32, f32, sg_i32_from_f64(floor64((double)a + 0.5)))
SG_VOP1(v_cvt_flr_i32_f32, i32, f32, sg_i32_from_f64(floor64((double)a)))
SG_VOP1(v_cvt_off_f32_i4, f32, u32, (float)((int32_t)(a << 28) >> 28) * 0.0625f)
SG_VOP1(v_cvt_f32_f64, f32, f64, (float)a)
SG_VOP1(v_cvt_f64_f32, f64, f32, (double)a)
SG_VOP1(v_cvt_f32_ubyte0, f32, u32, (float)(int32_t)(a & 0xff))
SG_VOP1(v_cvt_f32_ubyte1, f32, u32, (float)(int32_t)(a >> 8 & 0xff))
SG_VOP1(v_cvt_f32_ubyte2, f32, u32, (float)(int32_t)(a >> 16 & 0xff))
SG_VOP1(v_cvt_f32_ubyte3, f32, u32, (float)(int32_t)(a >> 24))
SG_VOP1(v_cvt_u32_f64, u32, f64, sg_u32_from_f64(a))
SG_VOP1(v_cvt_f64_u32, f64, u32, (double)a)
SG_VOP1(v_trunc_f64, f64, f64, trunc(a))
SG_VOP1(v_ceil_f64, f64, f64, ceil64(a))
SG_VOP1(v_rndne_f64, r64, f64, sg_bits64(rint(a)))
SG_VOP1(v_floor_f64, f64, f64, floor64(a))
SG_VOP1(v_fract_f32, f32, f32, fract32(a))
SG_VOP1(v_trunc_f32, f32, f32, truncf(a))
SG_VOP1(v_ceil_f32, f32, f32, ceil32(a))
SG_VOP1(v_rndne_f32, r32, f32, sg_bits32(rintf(a)))
SG_VOP1(v_floor_f32, f32, f32, floor32(a))
SG_VOP1(v_exp_f32, r32, f32, flushed_bits(exp2f(flushed(a))))
SG_VOP1(v_log_f32, r32, f32, sg_bits32(log2f(flushed(a))))
SG_VOP1(v_rcp_f32, r32, f32, flushed_bits(1.0f / flushed(a)))
SG_VOP1(v_rsq_f32, r32, f32, sg_bits32((float)(1.0 / sqrt((double)flushed(a)))))
SG_VOP1(v_rcp_f64, r64, f64, sg_bits64(1.0 / a))
SG_VOP1(v_rsq_f64, r64, f64, sg_bits64(1.0 / sqrt(a)))
SG_VOP1(v_sqrt_f32, r32, f32, sg_bits32(sqrtf(flushed(a))))
SG_VOP1(v_sqrt_f64, r64, f64, sg_bits64(sqrt(a)))
SG_VOP1(v_sin_f32, f32, f32, sg_sin_turns(a))
SG_VOP1(v_cos_f32, f32, f32, sg_cos_turns(a))
SG_VOP1(v_not_b32, u32, u32, ~a)
SG_VOP1(v_bfrev_b32, u32, u32, sg_bitrev32(a))
SG_VOP1(v_ffbh_u32, u32, u32, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
SG_VOP1(v_ffbl_b32, u32, u32, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
SG_VOP1(v_ffbh_i32, u32, i32, sg_flbit_i32(a))
SG_VOP1(v_frexp_exp_i32_f64, i32, f64, sg_frexp_exp(a))
SG_VOP1(v_frexp_mant_f64, f64, f64, sg_frexp_mant(a))
SG_VOP1(v_fract_f64, f64, f64, fract64(a))
SG_VOP1(v_frexp_exp_i32_f32, i32, f32, sg_frexp_exp(a))
SG_VOP1(v_frexp_mant_f32, f32, f32, (float)sg_frexp_mant(a))
SG_VOP1(v_cvt_f16_u16, f16, u16, (float)(int32_t)a)
SG_VOP1(v_cvt_f16_i16, f16, i16, (float)a)
SG_VOP1(v_cvt_u16_f16, u16, f16, sg_u16_from_f32(a))
SG_VOP1(v_cvt_i16_f16, i16, f16, sg_i16_from_f32(a))
SG_VOP1(v_rcp_f16, f16, f16, 1.0f / a)
SG_VOP1(v_sqrt_f16, f16, f16, sqrtf(a))
SG_VOP1(v_rsq_f16, f16, f16, 1.0f / sqrtf(a))
SG_VOP1(v_log_f16, f16, f16, log2f(a))
SG_VOP1(v_exp_f16, f16, f16, exp2f(a))
SG_VOP1(v_frexp_mant_f16, f16, f16, (float)sg_frexp_mant(a))
SG_VOP1(v_frexp_exp_i16_f16, i16, f16, sg_frexp_exp(a))
SG_VOP1(v_floor_f16, f16, f16, floor32(a))
SG_VOP1(v_ceil_f16, f16, f16, ceil32(a))
SG_VOP1(v_trunc_f16, f16, f16, truncf(a))
SG_VOP1(v_rndne_f16, r16, f16, sg_f16_from_f32_rne(rintf(a)))
SG_VOP1(v_fract_f16, f16, f16, fract16(a))
SG_VOP1(v_sin_f16, f16, f16, sg_sin_turns(a))
SG_VOP1(v_cos_f16, f16, f16, sg_cos_turns(a))
SG_VOP1(v_cvt_norm_i16_f16, u16, f16, sg_snorm16(a))
SG_VOP1(v_cvt_norm_u16_f16, u16, f16, sg_unorm16(a))
SG_VOP1(v_sat_pk_u8_i16, u16, u32, sat_u8((int16_t)a) | sat_u8((int32_t)a >> 16) << 8)

#define ROW(op, name, d, s, flags)    SG_ROW(SG_ENC_VOP1, op, name, d, s, 0, 0, 0, flags)
#define AS(op, name, fn, d, s, flags) SG_ROW_AS(SG_ENC_VOP1, op, name, fn, d, s, 0, 0, 0, flags)
#define F                             SG_OP_FLOAT
#define F16                           SG_OP_FLOAT | SG_OP_HALF
#define F64                           SG_OP_FLOAT | SG_OP_DOUBLE

static const struct sg_opinfo rows[] = {
    ROW(0x00, v_nop, 0, 0, 0),
    ROW(0x01, v_mov_b32, 1, 1, 0),
    ROW(0x02, v_readfirstlane_b32, 1, 1, SG_OP_SDST),
    ROW(0x03, v_cvt_i32_f64, 1, 2, F64),
    ROW(0x04, v_cvt_f64_i32, 2, 1, 0),
    ROW(0x05, v_cvt_f32_i32, 1, 1, 0),
    ROW(0x06, v_cvt_f32_u32, 1, 1, 0),
    ROW(0x07, v_cvt_u32_f32, 1, 1, F),
    ROW(0x08, v_cvt_i32_f32, 1, 1, F),
    ROW(0x0a, v_cvt_f16_f32, 1, 1, F),
    ROW(0x0b, v_cvt_f32_f16, 1, 1, F16),
    ROW(0x0c, v_cvt_rpi_i32_f32, 1, 1, F),
    ROW(0x0d, v_cvt_flr_i32_f32, 1, 1, F),
    ROW(0x0e, v_cvt_off_f32_i4, 1, 1, 0),
    ROW(0x0f, v_cvt_f32_f64, 1, 2, F64),
    ROW(0x10, v_cvt_f64_f32, 2, 1, F),
    ROW(0x11, v_cvt_f32_ubyte0, 1, 1, 0),
    ROW(0x12, v_cvt_f32_ubyte1, 1, 1, 0),
    ROW(0x13, v_cvt_f32_ubyte2, 1, 1, 0),
    ROW(0x14, v_cvt_f32_ubyte3, 1, 1, 0),
    ROW(0x15, v_cvt_u32_f64, 1, 2, F64),
    ROW(0x16, v_cvt_f64_u32, 2, 1, 0),
    ROW(0x17, v_trunc_f64, 2, 2, F64),
    ROW(0x18, v_ceil_f64, 2, 2, F64),
    ROW(0x19, v_rndne_f64, 2, 2, F64),
    ROW(0x1a, v_floor_f64, 2, 2, F64),
    ROW(0x1b, v_fract_f32, 1, 1, F),
    ROW(0x1c, v_trunc_f32, 1, 1, F),
    ROW(0x1d, v_ceil_f32, 1, 1, F),
    ROW(0x1e, v_rndne_f32, 1, 1, F),
    ROW(0x1f, v_floor_f32, 1, 1, F),
    ROW(0x20, v_exp_f32, 1, 1, F),
    ROW(0x21, v_log_f32, 1, 1, F),
    ROW(0x22, v_rcp_f32, 1, 1, F),
    AS(0x23, v_rcp_iflag_f32, v_rcp_f32, 1, 1, F),
    ROW(0x24, v_rsq_f32, 1, 1, F),
    ROW(0x25, v_rcp_f64, 2, 2, F64),
    ROW(0x26, v_rsq_f64, 2, 2, F64),
    ROW(0x27, v_sqrt_f32, 1, 1, F),
    ROW(0x28, v_sqrt_f64, 2, 2, F64),
    ROW(0x29, v_sin_f32, 1, 1, F),
    ROW(0x2a, v_cos_f32, 1, 1, F),
    ROW(0x2b, v_not_b32, 1, 1, 0),
    ROW(0x2c, v_bfrev_b32, 1, 1, 0),
    ROW(0x2d, v_ffbh_u32, 1, 1, 0),
    ROW(0x2e, v_ffbl_b32, 1, 1, 0),
    ROW(0x2f, v_ffbh_i32, 1, 1, 0),
    ROW(0x30, v_frexp_exp_i32_f64, 1, 2, F64),
    ROW(0x31, v_frexp_mant_f64, 2, 2, F64),
    ROW(0x32, v_fract_f64, 2, 2, F64),
    ROW(0x33, v_frexp_exp_i32_f32, 1, 1, F),
    ROW(0x34, v_frexp_mant_f32, 1, 1, F),
    AS(0x35, v_clrexcp, v_nop, 0, 0, 0),
    SG_ROW_NAMED(SG_ENC_VOP1, 0x37, v_screen_partition_4se_b32, 1, 1, 0, 0, 0),
    ROW(0x39, v_cvt_f16_u16, 1, 1, 0),
    ROW(0x3a, v_cvt_f16_i16, 1, 1, 0),
    ROW(0x3b, v_cvt_u16_f16, 1, 1, F16),
    ROW(0x3c, v_cvt_i16_f16, 1, 1, F16),
    ROW(0x3d, v_rcp_f16, 1, 1, F16),
    ROW(0x3e, v_sqrt_f16, 1, 1, F16),
    ROW(0x3f, v_rsq_f16, 1, 1, F16),
    ROW(0x40, v_log_f16, 1, 1, F16),
    ROW(0x41, v_exp_f16, 1, 1, F16),
    ROW(0x42, v_frexp_mant_f16, 1, 1, F16),
    ROW(0x43, v_frexp_exp_i16_f16, 1, 1, F16),
    ROW(0x44, v_floor_f16, 1, 1, F16),
    ROW(0x45, v_ceil_f16, 1, 1, F16),
    ROW(0x46, v_trunc_f16, 1, 1, F16),
    ROW(0x47, v_rndne_f16, 1, 1, F16),
    ROW(0x48, v_fract_f16, 1, 1, F16),
    ROW(0x49, v_sin_f16, 1, 1, F16),
    ROW(0x4a, v_cos_f16, 1, 1, F16),
    AS(0x4b, v_exp_legacy_f32, v_exp_f32, 1, 1, F),
    AS(0x4c, v_log_legacy_f32, v_log_f32, 1, 1, F),
    ROW(0x4d, v_cvt_norm_i16_f16, 1, 1, F16),
    ROW(0x4e, v_cvt_norm_u16_f16, 1, 1, F16),
    ROW(0x4f, v_sat_pk_u8_i16, 1, 1, 0),
    ROW(0x51, v_swap_b32, 1, 1, 0),
    AS(0x52, v_accvgpr_mov_b32, v_mov_b32, 1, 1, 0),
};

const struct sg_optable sg_table_vop1 = {rows, sizeof(rows) / sizeof(*rows)};
