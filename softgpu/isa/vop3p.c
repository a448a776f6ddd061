// SPDX-License-Identifier: MIT
// VOP3P: packed operations on two 16-bit or two 32-bit elements, mixed-precision multiply-add, dot products
// and AGPR moves. op_sel picks the half that the low element of the result takes from a source, op_sel_hi the
// one for the high element; neg and neg_hi negate them. Opcodes and semantics: "AMD Instinct MI200
// Instruction Set Architecture" reference guide, VOP3P Instructions.
#include "softgpu/isa/dot.h"
#include "softgpu/isa/lanes.h"
#include "softgpu/isa/mfma.h"

// How to read one source for one of the two elements.
struct half {
    unsigned shift;
    uint32_t flip; // sign to invert
};

static struct half low_half(const struct sg_inst *inst, unsigned i, uint32_t sign)
{
    return (struct half){.shift = inst->op_sel >> i & 1 ? 16 : 0, .flip = inst->neg >> i & 1 ? sign : 0};
}

static struct half high_half(const struct sg_inst *inst, unsigned i, uint32_t sign)
{
    return (struct half){.shift = inst->op_sel_hi >> i & 1 ? 16 : 0,
                         .flip = inst->neg_hi >> i & 1 ? sign : 0};
}

static inline uint32_t take(uint32_t v, struct half h)
{
    return (v >> h.shift & 0xffff) ^ h.flip;
}

// f16 element after output modifiers.
static inline uint32_t finish_f16(const struct sg_wave *w, const struct sg_inst *inst, uint32_t h)
{
    if (!(w->mode & SG_MODE_DENORM64_OUT) && !(h & 0x7c00))
        h &= 0x8000;
    return inst->clamp ? sg_clamp_f16(h, w->mode & SG_MODE_DX10_CLAMP) : h & 0xffff;
}

static inline uint32_t finish_u16(const struct sg_wave *w, const struct sg_inst *inst, uint32_t v)
{
    (void)w;
    (void)inst;
    return v & 0xffff;
}

// Integer results come as wide values, so that saturation sees the overflow.
static inline int32_t sat_i16(int32_t v, bool clamp)
{
    return !clamp ? v : v < -32768 ? -32768 : v > 32767 ? 32767 : v;
}

static inline uint32_t sat_u16(uint32_t v, bool clamp)
{
    return clamp && v > 0xffff ? 0xffff : v;
}

static inline uint32_t sub_u16(uint32_t a, uint32_t b, bool clamp)
{
    return clamp && b > a ? 0 : a - b;
}

#define S16(x) ((int32_t)(int16_t)(x))
#define PICK(x, i)                                                                                           \
    const uint32_t x = flush ? sg_normal16(take(x##_in[lane], half[e][i])) : take(x##_in[lane], half[e][i]);

// A packed operation of 16-bit elements from one expression of a, b (and c). `sign` is the sign bit that the
// neg fields invert: 0 for integers.
#define PACKED(name, sign, finish, expr)                                                                     \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const unsigned round = SG_ROUND_f16;                                                                 \
        const bool ieee = w->mode & SG_MODE_IEEE, clamp = inst->clamp;                                       \
        const bool flush = (sign) && !(w->mode & SG_MODE_DENORM64_IN);                                       \
        const unsigned n = inst->info->src_dwords[2] ? 3 : 2;                                                \
        uint32_t buf[3][SG_LANES], result[SG_LANES] = {0};                                                   \
        const uint32_t *a_in = sg_src32(w, inst, 0, buf[0]), *b_in = sg_src32(w, inst, 1, buf[1]);           \
        const uint32_t *c_in = n == 3 ? sg_src32(w, inst, 2, buf[2]) : a_in;                                 \
        struct half half[2][3];                                                                              \
        for (unsigned i = 0; i < 3; i++) {                                                                   \
            half[0][i] = low_half(inst, i, sign);                                                            \
            half[1][i] = high_half(inst, i, sign);                                                           \
        }                                                                                                    \
        (void)round;                                                                                         \
        (void)ieee;                                                                                          \
        (void)clamp;                                                                                         \
        for (unsigned e = 0; e < 2; e++)                                                                     \
            for (unsigned lane = 0; lane < SG_LANES; lane++) {                                               \
                PICK(a, 0)                                                                                   \
                PICK(b, 1)                                                                                   \
                PICK(c, 2)                                                                                   \
                (void)c;                                                                                     \
                result[lane] |= finish(w, inst, (uint32_t)(expr)) << (16 * e);                               \
            }                                                                                                \
        sg_dst32(w, inst, result);                                                                           \
        return SG_STEP_OK;                                                                                   \
    }
#define PACKED_INT(name, expr) PACKED(name, 0, finish_u16, expr)
#define PACKED_F16(name, expr) PACKED(name, 0x8000, finish_f16, expr)
#define VAL(x)                 sg_f32_from_f16(x)

PACKED_INT(v_pk_mad_i16, sat_i16(S16(a) * S16(b) + S16(c), clamp))
PACKED_INT(v_pk_mul_lo_u16, a *b)
PACKED_INT(v_pk_add_i16, sat_i16(S16(a) + S16(b), clamp))
PACKED_INT(v_pk_sub_i16, sat_i16(S16(a) - S16(b), clamp))
PACKED_INT(v_pk_lshlrev_b16, b << (a & 15))
PACKED_INT(v_pk_lshrrev_b16, b >> (a & 15))
PACKED_INT(v_pk_ashrrev_i16, S16(b) >> (a & 15))
PACKED_INT(v_pk_max_i16, S16(a) > S16(b) ? a : b)
PACKED_INT(v_pk_min_i16, S16(a) < S16(b) ? a : b)
PACKED_INT(v_pk_mad_u16, clamp && (uint64_t)a * b + c > 0xffff ? 0xffff : a * b + c)
PACKED_INT(v_pk_add_u16, sat_u16(a + b, clamp))
PACKED_INT(v_pk_sub_u16, sub_u16(a, b, clamp))
PACKED_INT(v_pk_max_u16, a > b ? a : b)
PACKED_INT(v_pk_min_u16, a < b ? a : b)
PACKED_F16(v_pk_fma_f16, sg_fma16(a, b, c, round))
// Sums and products of two f16 are exact in f64.
PACKED_F16(v_pk_add_f16, sg_f16_from_f64((double)VAL(a) + (double)VAL(b), round))
PACKED_F16(v_pk_mul_f16, sg_f16_from_f64((double)VAL(a) * (double)VAL(b), round))
PACKED_F16(v_pk_min_f16, sg_min16(a, b, ieee))
PACKED_F16(v_pk_max_f16, sg_max16(a, b, ieee))

// A source of a packed f32 operation: its two dwords. A constant serves as both.
static void gather_pair(const struct sg_wave *w, const struct sg_inst *inst, unsigned i,
                        uint32_t pair[2][SG_LANES])
{
    const unsigned src = inst->src[i];
    if (src >= SG_SRC_VGPR0) {
        const unsigned n = sg_vgpr_src(w, inst, i);
        memcpy(pair, w->vgpr[n], 2 * sizeof(pair[0]));
        return;
    }
    const uint32_t low = sg_scalar32(w, inst, src), high = src < 127 ? w->sgpr[src + 1] : low;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        pair[0][lane] = low;
        pair[1][lane] = high;
    }
}

// The dwords that element e takes from source i, with negation and denormal flushing.
static void pick_f32(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, unsigned e,
                     uint32_t *out)
{
    uint32_t pair[2][SG_LANES];
    gather_pair(w, inst, i, pair);
    const unsigned half = (e ? inst->op_sel_hi : inst->op_sel) >> i & 1;
    const uint32_t flip = (e ? inst->neg_hi : inst->neg) >> i & 1 ? 0x80000000u : 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        out[lane] = pair[half][lane] ^ flip;
    if (!(w->mode & SG_MODE_DENORM32_IN))
        sg_flush32(out);
}

static void store_pair(struct sg_wave *w, const struct sg_inst *inst, uint32_t r[2][SG_LANES])
{
    struct sg_inst element = *inst;
    for (unsigned e = 0; e < 2; e++) {
        sg_dst_f32(w, &element, r[e]);
        element.vdst++;
    }
}

#define PACKED_F32(name, n, expr)                                                                            \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const unsigned round = SG_ROUND_f32;                                                                 \
        uint32_t in[3][SG_LANES], result[2][SG_LANES];                                                       \
        for (unsigned e = 0; e < 2; e++) {                                                                   \
            for (unsigned i = 0; i < n; i++)                                                                 \
                pick_f32(w, inst, i, e, in[i]);                                                              \
            sg_round_enter(round);                                                                           \
            for (unsigned lane = 0; lane < SG_LANES; lane++)                                                 \
                result[e][lane] = sg_bits32(expr);                                                           \
            sg_round_leave(round);                                                                           \
        }                                                                                                    \
        store_pair(w, inst, result);                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
#define IN(i) sg_f32(in[i][lane])
PACKED_F32(v_pk_fma_f32, 3, round ? fmaf(IN(0), IN(1), IN(2)) : sg_fma32(IN(0), IN(1), IN(2)))
PACKED_F32(v_pk_mul_f32, 2, IN(0) * IN(1))
PACKED_F32(v_pk_add_f32, 2, IN(0) + IN(1))

// The low dword of the result comes from source 0, the high one from source 1, each from the half op_sel
// names.
static enum sg_step op_v_pk_mov_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    uint32_t pair[2][2][SG_LANES];
    gather_pair(w, inst, 0, pair[0]);
    gather_pair(w, inst, 1, pair[1]);
    const unsigned n = sg_vgpr_dst(w, inst);
    sg_store_lanes(w->vgpr[n], pair[0][inst->op_sel & 1], sg_exec(w));
    sg_store_lanes(w->vgpr[n + 1], pair[1][inst->op_sel >> 1 & 1], sg_exec(w));
    return SG_STEP_OK;
}

static bool is_inline_float(unsigned src)
{
    return src >= 240 && src <= 248;
}

// Sources of the mixed multiply-add: op_sel_hi says f16 (the half that op_sel names) or f32; neg_hi is abs
// here. Inline float constants have the same value either way.
static void gather_mix(const struct sg_wave *w, const struct sg_inst *inst, unsigned i, float *out)
{
    uint32_t buf[SG_LANES];
    const uint32_t *in = sg_src32(w, inst, i, buf);
    const bool half = inst->op_sel_hi >> i & 1 && !is_inline_float(inst->src[i]);
    const bool flush = !(w->mode & (half ? SG_MODE_DENORM64_IN : SG_MODE_DENORM32_IN));
    const unsigned shift = inst->op_sel >> i & 1 ? 16 : 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint32_t h = in[lane] >> shift & 0xffff;
        float f = half ? sg_f32_from_f16(flush ? sg_normal16(h) : h) : sg_f32(in[lane]);
        f = flush ? sg_normal32(f) : f;
        f = inst->neg_hi >> i & 1 ? fabsf(f) : f;
        out[lane] = inst->neg >> i & 1 ? -f : f;
    }
}

static void fma_mix(const struct sg_wave *w, const struct sg_inst *inst, float *r)
{
    const unsigned round = w->mode & SG_MODE_ROUND32;
    float in[3][SG_LANES];
    for (unsigned i = 0; i < 3; i++)
        gather_mix(w, inst, i, in[i]);
    sg_round_enter(round);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        r[lane] = round ? fmaf(in[0][lane], in[1][lane], in[2][lane])
                        : sg_fma32(in[0][lane], in[1][lane], in[2][lane]);
    sg_round_leave(round);
}

static enum sg_step op_v_fma_mix_f32(struct sg_wave *w, const struct sg_inst *inst)
{
    float r[SG_LANES];
    uint32_t result[SG_LANES];
    fma_mix(w, inst, r);
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        result[lane] = sg_bits32(r[lane]);
    sg_dst_f32(w, inst, result);
    return SG_STEP_OK;
}

// arg: the half of the destination that is written.
static enum sg_step op_v_fma_mix_f16(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned shift = 16u * inst->info->arg, round = SG_ROUND_f16;
    const uint32_t *old = w->vgpr[sg_vgpr_dst(w, inst)];
    float r[SG_LANES];
    uint32_t result[SG_LANES];
    fma_mix(w, inst, r);
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint32_t h = finish_f16(w, inst, sg_f16_from_f64(r[lane], round));
        result[lane] = (old[lane] & ~(0xffffu << shift)) | h << shift;
    }
    sg_dst32(w, inst, result);
    return SG_STEP_OK;
}

// Both halves of source i, as op_sel and neg pick them: compiled code swaps, repeats and negates operands this way.
static inline uint32_t halves(const struct sg_inst *inst, unsigned i, uint32_t v, uint32_t sign)
{
    if (sign && is_inline_float(inst->src[i]))
        v = sg_f16_from_f32_rne(sg_f32(v));
    return take(v, low_half(inst, i, sign)) | take(v, high_half(inst, i, sign)) << 16;
}

static inline uint32_t dot2_f16(const struct sg_inst *inst, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t flip = inst->neg & 4 ? 0x80000000u : 0;
    return sg_bits32(sg_dot2_f16(halves(inst, 0, a, 0x8000), halves(inst, 1, b, 0x8000), sg_f32(c ^ flip)));
}

SG_VOP3(v_dot2_f32_f16, r32, u32, u32, u32, dot2_f16(inst, a, b, c))
SG_VOP3(v_dot2_i32_i16, u32, u32, u32, u32,
        sg_dot_signed(halves(inst, 0, a, 0), halves(inst, 1, b, 0), c, 16, inst->clamp))
SG_VOP3(v_dot2_u32_u16, u32, u32, u32, u32,
        sg_dot_unsigned(halves(inst, 0, a, 0), halves(inst, 1, b, 0), c, 16, inst->clamp))
SG_VOP3(v_dot4_i32_i8, u32, u32, u32, u32, sg_dot_signed(a, b, c, 8, inst->clamp))
SG_VOP3(v_dot4_u32_u8, u32, u32, u32, u32, sg_dot_unsigned(a, b, c, 8, inst->clamp))
SG_VOP3(v_dot8_i32_i4, u32, u32, u32, u32, sg_dot_signed(a, b, c, 4, inst->clamp))
SG_VOP3(v_dot8_u32_u4, u32, u32, u32, u32, sg_dot_unsigned(a, b, c, 4, inst->clamp))
SG_VOP1(v_accvgpr, u32, u32, a)

#define ROW(op, name, d, s0, s1, s2, flags) SG_ROW(SG_ENC_VOP3P, op, name, d, s0, s1, s2, 0, flags)
#define AS(op, name, fn, d, s0, s1, s2, arg, flags)                                                          \
    SG_ROW_AS(SG_ENC_VOP3P, op, name, fn, d, s0, s1, s2, arg, flags)
#define MFMA(op, name, d, ab, c)                                                                             \
    {                                                                                                        \
        op, SG_ENC_VOP3P, SG_CLASS_VALU, #name, sg_mfma, d, {ab, ab, c}, 0, SG_OP_FLOAT                      \
    }
#define F   SG_OP_FLOAT
#define F16 SG_OP_FLOAT | SG_OP_HALF

static const struct sg_opinfo rows[] = {
    ROW(0x00, v_pk_mad_i16, 1, 1, 1, 1, 0),
    ROW(0x01, v_pk_mul_lo_u16, 1, 1, 1, 0, 0),
    ROW(0x02, v_pk_add_i16, 1, 1, 1, 0, 0),
    ROW(0x03, v_pk_sub_i16, 1, 1, 1, 0, 0),
    ROW(0x04, v_pk_lshlrev_b16, 1, 1, 1, 0, 0),
    ROW(0x05, v_pk_lshrrev_b16, 1, 1, 1, 0, 0),
    ROW(0x06, v_pk_ashrrev_i16, 1, 1, 1, 0, 0),
    ROW(0x07, v_pk_max_i16, 1, 1, 1, 0, 0),
    ROW(0x08, v_pk_min_i16, 1, 1, 1, 0, 0),
    ROW(0x09, v_pk_mad_u16, 1, 1, 1, 1, 0),
    ROW(0x0a, v_pk_add_u16, 1, 1, 1, 0, 0),
    ROW(0x0b, v_pk_sub_u16, 1, 1, 1, 0, 0),
    ROW(0x0c, v_pk_max_u16, 1, 1, 1, 0, 0),
    ROW(0x0d, v_pk_min_u16, 1, 1, 1, 0, 0),
    ROW(0x0e, v_pk_fma_f16, 1, 1, 1, 1, F16),
    ROW(0x0f, v_pk_add_f16, 1, 1, 1, 0, F16),
    ROW(0x10, v_pk_mul_f16, 1, 1, 1, 0, F16),
    ROW(0x11, v_pk_min_f16, 1, 1, 1, 0, F16),
    ROW(0x12, v_pk_max_f16, 1, 1, 1, 0, F16),
    ROW(0x20, v_fma_mix_f32, 1, 1, 1, 1, F),
    AS(0x21, v_fma_mixlo_f16, v_fma_mix_f16, 1, 1, 1, 1, 0, F),
    AS(0x22, v_fma_mixhi_f16, v_fma_mix_f16, 1, 1, 1, 1, 1, F),
    ROW(0x23, v_dot2_f32_f16, 1, 1, 1, 1, F),
    ROW(0x26, v_dot2_i32_i16, 1, 1, 1, 1, 0),
    ROW(0x27, v_dot2_u32_u16, 1, 1, 1, 1, 0),
    ROW(0x28, v_dot4_i32_i8, 1, 1, 1, 1, 0),
    ROW(0x29, v_dot4_u32_u8, 1, 1, 1, 1, 0),
    ROW(0x2a, v_dot8_i32_i4, 1, 1, 1, 1, 0),
    ROW(0x2b, v_dot8_u32_u4, 1, 1, 1, 1, 0),
    ROW(0x30, v_pk_fma_f32, 2, 2, 2, 2, F),
    ROW(0x31, v_pk_mul_f32, 2, 2, 2, 0, F),
    ROW(0x32, v_pk_add_f32, 2, 2, 2, 0, F),
    ROW(0x33, v_pk_mov_b32, 2, 2, 2, 0, 0),
    MFMA(0x40, v_mfma_f32_32x32x1f32, 32, 1, 32),
    MFMA(0x41, v_mfma_f32_16x16x1f32, 16, 1, 16),
    MFMA(0x42, v_mfma_f32_4x4x1f32, 4, 1, 4),
    MFMA(0x44, v_mfma_f32_32x32x2f32, 16, 1, 16),
    MFMA(0x45, v_mfma_f32_16x16x4f32, 4, 1, 4),
    MFMA(0x48, v_mfma_f32_32x32x4f16, 32, 2, 32),
    MFMA(0x49, v_mfma_f32_16x16x4f16, 16, 2, 16),
    MFMA(0x4a, v_mfma_f32_4x4x4f16, 4, 2, 4),
    MFMA(0x4c, v_mfma_f32_32x32x8f16, 16, 2, 16),
    MFMA(0x4d, v_mfma_f32_16x16x16f16, 4, 2, 4),
    MFMA(0x50, v_mfma_i32_32x32x4i8, 32, 1, 32),
    MFMA(0x51, v_mfma_i32_16x16x4i8, 16, 1, 16),
    MFMA(0x52, v_mfma_i32_4x4x4i8, 4, 1, 4),
    MFMA(0x54, v_mfma_i32_32x32x8i8, 16, 1, 16),
    MFMA(0x55, v_mfma_i32_16x16x16i8, 4, 1, 4),
    AS(0x58, v_accvgpr_read_b32, v_accvgpr, 1, 1, 0, 0, 0, 0),
    AS(0x59, v_accvgpr_write_b32, v_accvgpr, 1, 1, 0, 0, 0, 0),
    MFMA(0x63, v_mfma_f32_32x32x4bf16_1k, 32, 2, 32),
    MFMA(0x64, v_mfma_f32_16x16x4bf16_1k, 16, 2, 16),
    MFMA(0x65, v_mfma_f32_4x4x4bf16_1k, 4, 2, 4),
    MFMA(0x66, v_mfma_f32_32x32x8bf16_1k, 16, 2, 16),
    MFMA(0x67, v_mfma_f32_16x16x16bf16_1k, 4, 2, 4),
    MFMA(0x68, v_mfma_f32_32x32x2bf16, 32, 1, 32),
    MFMA(0x69, v_mfma_f32_16x16x2bf16, 16, 1, 16),
    MFMA(0x6b, v_mfma_f32_4x4x2bf16, 4, 1, 4),
    MFMA(0x6c, v_mfma_f32_32x32x4bf16, 16, 1, 16),
    MFMA(0x6d, v_mfma_f32_16x16x8bf16, 4, 1, 4),
    MFMA(0x6e, v_mfma_f64_16x16x4f64, 8, 2, 8),
    MFMA(0x6f, v_mfma_f64_4x4x4f64, 2, 2, 2),
};

const struct sg_optable sg_table_vop3p = {rows, sizeof(rows) / sizeof(*rows)};
