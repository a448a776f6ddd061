// SPDX-License-Identifier: MIT
// VOPC: vector compares into a lane mask. The opcode's low bits are the condition: for floats bit 0 = less, 1
// = equal, 2 = greater, 3 = unordered; for integers the first three. So one loop per operand type serves all
// conditions. Opcodes and semantics: "AMD Instinct MI200 Instruction Set Architecture" reference guide, VOPC
// Instructions.
#include "softgpu/isa/convert.h"
#include "softgpu/isa/lanes.h"

// sg_opinfo.arg: condition in bits 0..3, and whether the result also goes to EXEC (v_cmpx).
#define TO_EXEC 0x10

static enum sg_step finish(struct sg_wave *w, const struct sg_inst *inst, const uint8_t *hit)
{
    const uint64_t bits = sg_pack_hits(hit) & sg_active(w, inst);
    sg_dst_mask(w, inst, bits);
    if (inst->info->arg & TO_EXEC)
        sg_set_sgpr64(w, SG_SGPR_EXEC, bits);
    return SG_STEP_OK;
}

#define COMPARE(name, X)                                                                                     \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        SG_VOP_SOURCE(a, X, 0)                                                                               \
        SG_VOP_SOURCE(b, X, 1)                                                                               \
        const bool lt = inst->info->arg & 1, eq = inst->info->arg & 2, gt = inst->info->arg & 4,             \
                   un = inst->info->arg & 8;                                                                 \
        uint8_t hit[SG_LANES];                                                                               \
        for (unsigned lane = 0; lane < SG_LANES; lane++) {                                                   \
            SG_VOP_LANE(a, X)                                                                                \
            SG_VOP_LANE(b, X)                                                                                \
            const bool is_lt = a<b, is_eq = a == b, is_gt = a> b;                                            \
            const bool is_un = !(is_lt | is_eq | is_gt);                                                     \
            hit[lane] = (is_lt & lt) | (is_eq & eq) | (is_gt & gt) | (is_un & un);                           \
        }                                                                                                    \
        return finish(w, inst, hit);                                                                         \
    }
COMPARE(cmp_f16, f16)
COMPARE(cmp_f32, f32)
COMPARE(cmp_f64, f64)
COMPARE(cmp_i16, i16)
COMPARE(cmp_u16, u16)
COMPARE(cmp_i32, i32)
COMPARE(cmp_u32, u32)
COMPARE(cmp_i64, i64)
COMPARE(cmp_u64, u64)

// Class tests: source 1 is a mask of classes. A denormal is one even where MODE flushes operands.
static enum sg_step op_class_f16(struct sg_wave *w, const struct sg_inst *inst)
{
    uint32_t a_buf[SG_LANES];
    const uint32_t *a_in = sg_src_look16(w, inst, 0, a_buf);
    SG_VOP_SOURCE(b, u32, 1)
    uint8_t hit[SG_LANES];
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint32_t x = a_in[lane], e = x & 0x7c00, f = x & 0x3ff;
        hit[lane] = b_in[lane] >> sg_class_bit(x & 0x8000, e == 0x7c00, !e, !f, f & 0x200) & 1;
    }
    return finish(w, inst, hit);
}

static enum sg_step op_class_f32(struct sg_wave *w, const struct sg_inst *inst)
{
    uint32_t a_buf[SG_LANES];
    const uint32_t *a_in = sg_src_look32(w, inst, 0, a_buf);
    SG_VOP_SOURCE(b, u32, 1)
    uint8_t hit[SG_LANES];
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint32_t x = a_in[lane], e = x & 0x7f800000u, f = x & 0x7fffff;
        hit[lane] = b_in[lane] >> sg_class_bit(x >> 31, e == 0x7f800000u, !e, !f, f & 0x400000) & 1;
    }
    return finish(w, inst, hit);
}

static enum sg_step op_class_f64(struct sg_wave *w, const struct sg_inst *inst)
{
    uint64_t a_buf[SG_LANES];
    const uint64_t *a_in = sg_src_look64(w, inst, 0, a_buf);
    SG_VOP_SOURCE(b, u32, 1)
    uint8_t hit[SG_LANES];
    for (unsigned lane = 0; lane < SG_LANES; lane++) {
        const uint64_t x = a_in[lane], e = x >> 52 & 0x7ff, f = x & 0xfffffffffffffull;
        hit[lane] = b_in[lane] >> sg_class_bit(x >> 63, e == 0x7ff, !e, !f, f >> 51) & 1;
    }
    return finish(w, inst, hit);
}

#define ROW(op, name, fn, n0, n1, arg, flags)                                                                \
    {                                                                                                        \
        op, SG_ENC_VOPC, SG_CLASS_VALU, name, op_##fn, 2, {n0, n1, 0}, arg, SG_OP_SDST | (flags)             \
    }
#define CLASS(op, type, n, flags)                                                                            \
    ROW(op, "v_cmp_class_" #type, class_##type, n, 1, 0, flags),                                             \
        ROW(op + 1, "v_cmpx_class_" #type, class_##type, n, 1, TO_EXEC, flags)
// Sixteen float conditions, eight integer conditions from opcode `op` on.
#define FLOATS(op, cmp, type, n, x, flags)                                                                   \
    ROW(op + 0, cmp "_f_" #type, cmp_##type, n, n, 0 | x, flags),                                            \
        ROW(op + 1, cmp "_lt_" #type, cmp_##type, n, n, 1 | x, flags),                                       \
        ROW(op + 2, cmp "_eq_" #type, cmp_##type, n, n, 2 | x, flags),                                       \
        ROW(op + 3, cmp "_le_" #type, cmp_##type, n, n, 3 | x, flags),                                       \
        ROW(op + 4, cmp "_gt_" #type, cmp_##type, n, n, 4 | x, flags),                                       \
        ROW(op + 5, cmp "_lg_" #type, cmp_##type, n, n, 5 | x, flags),                                       \
        ROW(op + 6, cmp "_ge_" #type, cmp_##type, n, n, 6 | x, flags),                                       \
        ROW(op + 7, cmp "_o_" #type, cmp_##type, n, n, 7 | x, flags),                                        \
        ROW(op + 8, cmp "_u_" #type, cmp_##type, n, n, 8 | x, flags),                                        \
        ROW(op + 9, cmp "_nge_" #type, cmp_##type, n, n, 9 | x, flags),                                      \
        ROW(op + 10, cmp "_nlg_" #type, cmp_##type, n, n, 10 | x, flags),                                    \
        ROW(op + 11, cmp "_ngt_" #type, cmp_##type, n, n, 11 | x, flags),                                    \
        ROW(op + 12, cmp "_nle_" #type, cmp_##type, n, n, 12 | x, flags),                                    \
        ROW(op + 13, cmp "_neq_" #type, cmp_##type, n, n, 13 | x, flags),                                    \
        ROW(op + 14, cmp "_nlt_" #type, cmp_##type, n, n, 14 | x, flags),                                    \
        ROW(op + 15, cmp "_tru_" #type, cmp_##type, n, n, 15 | x, flags)
#define INTEGERS(op, cmp, type, n, x, flags)                                                                 \
    ROW(op + 0, cmp "_f_" #type, cmp_##type, n, n, 0 | x, flags),                                            \
        ROW(op + 1, cmp "_lt_" #type, cmp_##type, n, n, 1 | x, flags),                                       \
        ROW(op + 2, cmp "_eq_" #type, cmp_##type, n, n, 2 | x, flags),                                       \
        ROW(op + 3, cmp "_le_" #type, cmp_##type, n, n, 3 | x, flags),                                       \
        ROW(op + 4, cmp "_gt_" #type, cmp_##type, n, n, 4 | x, flags),                                       \
        ROW(op + 5, cmp "_ne_" #type, cmp_##type, n, n, 5 | x, flags),                                       \
        ROW(op + 6, cmp "_ge_" #type, cmp_##type, n, n, 6 | x, flags),                                       \
        ROW(op + 7, cmp "_t_" #type, cmp_##type, n, n, 7 | x, flags)
#define F   SG_OP_FLOAT
#define F16 SG_OP_FLOAT | SG_OP_HALF
#define F64 SG_OP_FLOAT | SG_OP_DOUBLE

static const struct sg_opinfo rows[] = {
    CLASS(0x10, f32, 1, F),
    CLASS(0x12, f64, 2, F64),
    CLASS(0x14, f16, 1, F16),
    FLOATS(0x20, "v_cmp", f16, 1, 0, F16),
    FLOATS(0x30, "v_cmpx", f16, 1, TO_EXEC, F16),
    FLOATS(0x40, "v_cmp", f32, 1, 0, F),
    FLOATS(0x50, "v_cmpx", f32, 1, TO_EXEC, F),
    FLOATS(0x60, "v_cmp", f64, 2, 0, F64),
    FLOATS(0x70, "v_cmpx", f64, 2, TO_EXEC, F64),
    INTEGERS(0xa0, "v_cmp", i16, 1, 0, SG_OP_HALF),
    INTEGERS(0xa8, "v_cmp", u16, 1, 0, SG_OP_HALF),
    INTEGERS(0xb0, "v_cmpx", i16, 1, TO_EXEC, SG_OP_HALF),
    INTEGERS(0xb8, "v_cmpx", u16, 1, TO_EXEC, SG_OP_HALF),
    INTEGERS(0xc0, "v_cmp", i32, 1, 0, 0),
    INTEGERS(0xc8, "v_cmp", u32, 1, 0, 0),
    INTEGERS(0xd0, "v_cmpx", i32, 1, TO_EXEC, 0),
    INTEGERS(0xd8, "v_cmpx", u32, 1, TO_EXEC, 0),
    INTEGERS(0xe0, "v_cmp", i64, 2, 0, 0),
    INTEGERS(0xe8, "v_cmp", u64, 2, 0, 0),
    INTEGERS(0xf0, "v_cmpx", i64, 2, TO_EXEC, 0),
    INTEGERS(0xf8, "v_cmpx", u64, 2, TO_EXEC, 0),
};

const struct sg_optable sg_table_vopc = {rows, sizeof(rows) / sizeof(*rows)};
