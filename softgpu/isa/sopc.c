// SPDX-License-Identifier: MIT
// SOPC: scalar compares into SCC. Opcodes and semantics: "AMD Instinct MI200 Instruction Set Architecture"
// reference guide, SOPC Instructions.
#include "softgpu/isa/salu.h"

#define SOPC_32(name, T, expr)                                                                               \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const T a = (T)sg_s32(w, inst, 0), b = (T)sg_s32(w, inst, 1);                                        \
        w->scc = (expr);                                                                                     \
        return SG_STEP_OK;                                                                                   \
    }
SOPC_32(s_cmp_eq_i32, int32_t, a == b)
SOPC_32(s_cmp_lg_i32, int32_t, a != b)
SOPC_32(s_cmp_gt_i32, int32_t, a > b)
SOPC_32(s_cmp_ge_i32, int32_t, a >= b)
SOPC_32(s_cmp_lt_i32, int32_t, a < b)
SOPC_32(s_cmp_le_i32, int32_t, a <= b)
SOPC_32(s_cmp_eq_u32, uint32_t, a == b)
SOPC_32(s_cmp_lg_u32, uint32_t, a != b)
SOPC_32(s_cmp_gt_u32, uint32_t, a > b)
SOPC_32(s_cmp_ge_u32, uint32_t, a >= b)
SOPC_32(s_cmp_lt_u32, uint32_t, a < b)
SOPC_32(s_cmp_le_u32, uint32_t, a <= b)
SOPC_32(s_bitcmp0_b32, uint32_t, !(a >> (b & 31) & 1))
SOPC_32(s_bitcmp1_b32, uint32_t, a >> (b & 31) & 1)

static enum sg_step op_s_bitcmp_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    w->scc = (sg_s64(w, inst, 0) >> (sg_s32(w, inst, 1) & 63) & 1) == inst->info->arg;
    return SG_STEP_OK;
}

// s_cmp_eq_u64 and s_cmp_lg_u64: arg says which outcome sets SCC.
static enum sg_step op_s_cmp_u64(struct sg_wave *w, const struct sg_inst *inst)
{
    w->scc = (sg_s64(w, inst, 0) == sg_s64(w, inst, 1)) == inst->info->arg;
    return SG_STEP_OK;
}

// Relative VGPR addressing: the index goes to M0[7:0], the raw second source field, which says what operands it moves,
// to M0[15:12].
static enum sg_step op_s_set_gpr_idx_on(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint32_t modes = inst->src[1] & 15;
    w->mode |= SG_MODE_GPR_IDX_EN;
    w->sgpr[SG_SGPR_M0] = (w->sgpr[SG_SGPR_M0] & 0xffff0f00u) | (sg_s32(w, inst, 0) & 0xff) | modes << 12;
    return SG_STEP_OK;
}

#define ROW(op, name)                 SG_SROW(SG_ENC_SOPC, op, SG_CLASS_SALU, name, 0, 1, 1, 0)
#define AS(op, name, fn, s0, s1, arg) SG_SROW_AS(SG_ENC_SOPC, op, SG_CLASS_SALU, name, fn, 0, s0, s1, arg)

static const struct sg_opinfo rows[] = {
    ROW(0x00, s_cmp_eq_i32),
    ROW(0x01, s_cmp_lg_i32),
    ROW(0x02, s_cmp_gt_i32),
    ROW(0x03, s_cmp_ge_i32),
    ROW(0x04, s_cmp_lt_i32),
    ROW(0x05, s_cmp_le_i32),
    ROW(0x06, s_cmp_eq_u32),
    ROW(0x07, s_cmp_lg_u32),
    ROW(0x08, s_cmp_gt_u32),
    ROW(0x09, s_cmp_ge_u32),
    ROW(0x0a, s_cmp_lt_u32),
    ROW(0x0b, s_cmp_le_u32),
    ROW(0x0c, s_bitcmp0_b32),
    ROW(0x0d, s_bitcmp1_b32),
    AS(0x0e, s_bitcmp0_b64, s_bitcmp_b64, 2, 1, 0),
    AS(0x0f, s_bitcmp1_b64, s_bitcmp_b64, 2, 1, 1),
    SG_SROW_NAMED(SG_ENC_SOPC, 0x10, SG_CLASS_SALU, s_setvskip, 0, 1, 1),
    AS(0x11, s_set_gpr_idx_on, s_set_gpr_idx_on, 1, 0, 0),
    AS(0x12, s_cmp_eq_u64, s_cmp_u64, 2, 2, 1),
    AS(0x13, s_cmp_lg_u64, s_cmp_u64, 2, 2, 0),
};

const struct sg_optable sg_table_sopc = {rows, sizeof(rows) / sizeof(*rows)};
