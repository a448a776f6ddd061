// SPDX-License-Identifier: MIT
// SOP2: scalar operations with two sources. Opcodes and semantics: "AMD Instinct MI200 Instruction Set
// Architecture" reference guide, SOP2 Instructions.
#include "softgpu/isa/salu.h"

#define SOP2_32(name, expr, ...)                                                                             \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint32_t a = sg_s32(w, inst, 0), b = sg_s32(w, inst, 1);                                       \
        const uint32_t r = (uint32_t)(expr);                                                                 \
        sg_sdst32(w, inst, r);                                                                               \
        __VA_ARGS__;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
// A and B name the readers of the two sources.
#define SOP2_64_OF(name, A, B, expr, ...)                                                                    \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const uint64_t a = (uint64_t)A(w, inst, 0), b = B(w, inst, 1);                                       \
        const uint64_t r = (uint64_t)(expr);                                                                 \
        sg_sdst64(w, inst, r);                                                                               \
        __VA_ARGS__;                                                                                         \
        return SG_STEP_OK;                                                                                   \
    }
#define SOP2_64(name, expr, ...)    SOP2_64_OF(name, sg_s64, sg_s64, expr, __VA_ARGS__)
#define SOP2_64_32(name, expr, ...) SOP2_64_OF(name, sg_s64, sg_s32, expr, __VA_ARGS__)
#define SCC_NONZERO                 w->scc = r != 0

// Signed overflow of r = a + b and of r = a - b.
#define ADD_OVERFLOW w->scc = (~(a ^ b) & (a ^ r)) >> 31
#define SUB_OVERFLOW w->scc = ((a ^ b) & (a ^ r)) >> 31

// Bit field extract: b holds the offset in its low bits and the width in bits 16..22.
static uint64_t extract(uint64_t a, uint32_t b, unsigned bits, bool is_signed)
{
    const unsigned offset = b & (bits - 1);
    unsigned width = b >> 16 & 0x7f;
    if (!width)
        return 0;
    if (is_signed && bits == 32)
        a = (uint64_t)(int64_t)(int32_t)a;
    if (width > bits - offset)
        width = bits - offset;
    const unsigned up = 64 - width;
    const uint64_t field = a >> offset << up;
    return is_signed ? (uint64_t)((int64_t)field >> up) : field >> up;
}

SOP2_32(s_add_u32, a + b, w->scc = r < a)
SOP2_32(s_sub_u32, a - b, w->scc = b > a)
SOP2_32(s_add_i32, a + b, ADD_OVERFLOW)
SOP2_32(s_sub_i32, a - b, SUB_OVERFLOW)
SOP2_32(s_addc_u32, a + b + w->scc, w->scc = ((uint64_t)a + b + w->scc) >> 32 != 0)
SOP2_32(s_subb_u32, a - b - w->scc, w->scc = (uint64_t)b + w->scc > a)
SOP2_32(s_min_i32, (int32_t)a < (int32_t)b ? a : b, w->scc = (int32_t)a < (int32_t)b)
SOP2_32(s_min_u32, a < b ? a : b, w->scc = a < b)
SOP2_32(s_max_i32, (int32_t)a > (int32_t)b ? a : b, w->scc = (int32_t)a > (int32_t)b)
SOP2_32(s_max_u32, a > b ? a : b, w->scc = a > b)
SOP2_32(s_cselect_b32, w->scc ? a : b)
SOP2_64(s_cselect_b64, w->scc ? a : b)
SOP2_32(s_and_b32, a &b, SCC_NONZERO)
SOP2_64(s_and_b64, a &b, SCC_NONZERO)
SOP2_32(s_or_b32, a | b, SCC_NONZERO)
SOP2_64(s_or_b64, a | b, SCC_NONZERO)
SOP2_32(s_xor_b32, a ^ b, SCC_NONZERO)
SOP2_64(s_xor_b64, a ^ b, SCC_NONZERO)
SOP2_32(s_andn2_b32, a & ~b, SCC_NONZERO)
SOP2_64(s_andn2_b64, a & ~b, SCC_NONZERO)
SOP2_32(s_orn2_b32, a | ~b, SCC_NONZERO)
SOP2_64(s_orn2_b64, a | ~b, SCC_NONZERO)
SOP2_32(s_nand_b32, ~(a &b), SCC_NONZERO)
SOP2_64(s_nand_b64, ~(a &b), SCC_NONZERO)
SOP2_32(s_nor_b32, ~(a | b), SCC_NONZERO)
SOP2_64(s_nor_b64, ~(a | b), SCC_NONZERO)
SOP2_32(s_xnor_b32, ~(a ^ b), SCC_NONZERO)
SOP2_64(s_xnor_b64, ~(a ^ b), SCC_NONZERO)
SOP2_32(s_lshl_b32, a << (b & 31), SCC_NONZERO)
SOP2_64_32(s_lshl_b64, a << (b & 63), SCC_NONZERO)
SOP2_32(s_lshr_b32, a >> (b & 31), SCC_NONZERO)
SOP2_64_32(s_lshr_b64, a >> (b & 63), SCC_NONZERO)
SOP2_32(s_ashr_i32, (int32_t)a >> (b & 31), SCC_NONZERO)
SOP2_64_OF(s_ashr_i64, sg_si64, sg_s32, (int64_t)a >> (b & 63), SCC_NONZERO)
SOP2_32(s_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))
SOP2_64_OF(s_bfm_b64, sg_s32, sg_s32, ((1ull << (a & 63)) - 1) << (b & 63))
SOP2_32(s_mul_i32, a *b)
SOP2_32(s_bfe_u32, extract(a, b, 32, false), SCC_NONZERO)
SOP2_32(s_bfe_i32, extract(a, b, 32, true), SCC_NONZERO)
SOP2_64_32(s_bfe_u64, extract(a, (uint32_t)b, 64, false), SCC_NONZERO)
SOP2_64_OF(s_bfe_i64, sg_si64, sg_s32, extract(a, (uint32_t)b, 64, true), SCC_NONZERO)
// The sign is that of the 32-bit difference, which may have wrapped.
SOP2_32(s_absdiff_i32, (int32_t)(a - b) < 0 ? b - a : a - b, SCC_NONZERO)
SOP2_32(s_mul_hi_u32, (uint64_t)a *b >> 32)
SOP2_32(s_mul_hi_i32, (uint64_t)((int64_t)(int32_t)a *(int32_t)b) >> 32)
SOP2_32(s_pack_ll_b32_b16, (a & 0xffff) | b << 16)
SOP2_32(s_pack_lh_b32_b16, (a & 0xffff) | (b & 0xffff0000u))
SOP2_32(s_pack_hh_b32_b16, a >> 16 | (b & 0xffff0000u))

// s_lshl1_add_u32 .. s_lshl4_add_u32: arg is the shift.
static enum sg_step op_s_lshl_add_u32(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t sum = ((uint64_t)sg_s32(w, inst, 0) << inst->info->arg) + sg_s32(w, inst, 1);
    sg_sdst32(w, inst, (uint32_t)sum);
    w->scc = sum >> 32 != 0;
    return SG_STEP_OK;
}

#define ROW(op, name, d, s0, s1)         SG_SROW(SG_ENC_SOP2, op, SG_CLASS_SALU, name, d, s0, s1, 0)
#define AS(op, name, fn, d, s0, s1, arg) SG_SROW_AS(SG_ENC_SOP2, op, SG_CLASS_SALU, name, fn, d, s0, s1, arg)
#define NAMED(op, name, d, s0, s1)       SG_SROW_NAMED(SG_ENC_SOP2, op, SG_CLASS_BRANCH, name, d, s0, s1)

static const struct sg_opinfo rows[] = {
    ROW(0x00, s_add_u32, 1, 1, 1),
    ROW(0x01, s_sub_u32, 1, 1, 1),
    ROW(0x02, s_add_i32, 1, 1, 1),
    ROW(0x03, s_sub_i32, 1, 1, 1),
    ROW(0x04, s_addc_u32, 1, 1, 1),
    ROW(0x05, s_subb_u32, 1, 1, 1),
    ROW(0x06, s_min_i32, 1, 1, 1),
    ROW(0x07, s_min_u32, 1, 1, 1),
    ROW(0x08, s_max_i32, 1, 1, 1),
    ROW(0x09, s_max_u32, 1, 1, 1),
    ROW(0x0a, s_cselect_b32, 1, 1, 1),
    ROW(0x0b, s_cselect_b64, 2, 2, 2),
    ROW(0x0c, s_and_b32, 1, 1, 1),
    ROW(0x0d, s_and_b64, 2, 2, 2),
    ROW(0x0e, s_or_b32, 1, 1, 1),
    ROW(0x0f, s_or_b64, 2, 2, 2),
    ROW(0x10, s_xor_b32, 1, 1, 1),
    ROW(0x11, s_xor_b64, 2, 2, 2),
    ROW(0x12, s_andn2_b32, 1, 1, 1),
    ROW(0x13, s_andn2_b64, 2, 2, 2),
    ROW(0x14, s_orn2_b32, 1, 1, 1),
    ROW(0x15, s_orn2_b64, 2, 2, 2),
    ROW(0x16, s_nand_b32, 1, 1, 1),
    ROW(0x17, s_nand_b64, 2, 2, 2),
    ROW(0x18, s_nor_b32, 1, 1, 1),
    ROW(0x19, s_nor_b64, 2, 2, 2),
    ROW(0x1a, s_xnor_b32, 1, 1, 1),
    ROW(0x1b, s_xnor_b64, 2, 2, 2),
    ROW(0x1c, s_lshl_b32, 1, 1, 1),
    ROW(0x1d, s_lshl_b64, 2, 2, 1),
    ROW(0x1e, s_lshr_b32, 1, 1, 1),
    ROW(0x1f, s_lshr_b64, 2, 2, 1),
    ROW(0x20, s_ashr_i32, 1, 1, 1),
    ROW(0x21, s_ashr_i64, 2, 2, 1),
    ROW(0x22, s_bfm_b32, 1, 1, 1),
    ROW(0x23, s_bfm_b64, 2, 1, 1),
    ROW(0x24, s_mul_i32, 1, 1, 1),
    ROW(0x25, s_bfe_u32, 1, 1, 1),
    ROW(0x26, s_bfe_i32, 1, 1, 1),
    ROW(0x27, s_bfe_u64, 2, 2, 1),
    ROW(0x28, s_bfe_i64, 2, 2, 1),
    NAMED(0x29, s_cbranch_g_fork, 0, 2, 2),
    ROW(0x2a, s_absdiff_i32, 1, 1, 1),
    NAMED(0x2b, s_rfe_restore_b64, 0, 2, 1),
    ROW(0x2c, s_mul_hi_u32, 1, 1, 1),
    ROW(0x2d, s_mul_hi_i32, 1, 1, 1),
    AS(0x2e, s_lshl1_add_u32, s_lshl_add_u32, 1, 1, 1, 1),
    AS(0x2f, s_lshl2_add_u32, s_lshl_add_u32, 1, 1, 1, 2),
    AS(0x30, s_lshl3_add_u32, s_lshl_add_u32, 1, 1, 1, 3),
    AS(0x31, s_lshl4_add_u32, s_lshl_add_u32, 1, 1, 1, 4),
    ROW(0x32, s_pack_ll_b32_b16, 1, 1, 1),
    ROW(0x33, s_pack_lh_b32_b16, 1, 1, 1),
    ROW(0x34, s_pack_hh_b32_b16, 1, 1, 1),
};

const struct sg_optable sg_table_sop2 = {rows, sizeof(rows) / sizeof(*rows)};
