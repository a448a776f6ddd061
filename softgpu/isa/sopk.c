// SPDX-License-Identifier: MIT
// SOPK: scalar operations with a 16-bit constant, and the hardware registers of s_getreg and s_setreg.
// Opcodes and semantics: "AMD Instinct MI200 Instruction Set Architecture" reference guide, SOPK
// Instructions.
#include "softgpu/isa/salu.h"

// Hardware register numbers. Source: the same guide, S_GETREG_B32; SH_MEM_BASES: LLVM "User Guide for AMDGPU
// Backend", hwreg operand.
enum {
    HW_MODE = 1,
    HW_STATUS = 2,
    HW_TRAPSTS = 3,
    HW_HW_ID = 4,
    HW_GPR_ALLOC = 5,
    HW_LDS_ALLOC = 6,
    HW_SH_MEM_BASES = 15
};

static enum sg_step op_s_movk_i32(struct sg_wave *w, const struct sg_inst *inst)
{
    sg_sdst32(w, inst, (uint32_t)inst->simm);
    return SG_STEP_OK;
}

static enum sg_step op_s_cmovk_i32(struct sg_wave *w, const struct sg_inst *inst)
{
    if (w->scc)
        sg_sdst32(w, inst, (uint32_t)inst->simm);
    return SG_STEP_OK;
}

// Compares of the destination register with the constant, sign- or zero-extended as the type wants.
#define CMPK(name, T, K, op)                                                                                 \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        w->scc = (T)w->sgpr[inst->sdst] op(T)(K) inst->simm;                                                 \
        return SG_STEP_OK;                                                                                   \
    }
CMPK(s_cmpk_eq_i32, int32_t, int16_t, ==)
CMPK(s_cmpk_lg_i32, int32_t, int16_t, !=)
CMPK(s_cmpk_gt_i32, int32_t, int16_t, >)
CMPK(s_cmpk_ge_i32, int32_t, int16_t, >=)
CMPK(s_cmpk_lt_i32, int32_t, int16_t, <)
CMPK(s_cmpk_le_i32, int32_t, int16_t, <=)
CMPK(s_cmpk_eq_u32, uint32_t, uint16_t, ==)
CMPK(s_cmpk_lg_u32, uint32_t, uint16_t, !=)
CMPK(s_cmpk_gt_u32, uint32_t, uint16_t, >)
CMPK(s_cmpk_ge_u32, uint32_t, uint16_t, >=)
CMPK(s_cmpk_lt_u32, uint32_t, uint16_t, <)
CMPK(s_cmpk_le_u32, uint32_t, uint16_t, <=)

static enum sg_step op_s_addk_i32(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint32_t a = w->sgpr[inst->sdst], b = (uint32_t)inst->simm, r = a + b;
    sg_sdst32(w, inst, r);
    w->scc = (~(a ^ b) & (a ^ r)) >> 31;
    return SG_STEP_OK;
}

static enum sg_step op_s_mulk_i32(struct sg_wave *w, const struct sg_inst *inst)
{
    sg_sdst32(w, inst, w->sgpr[inst->sdst] * (uint32_t)inst->simm);
    return SG_STEP_OK;
}

static enum sg_step op_s_call_b64(struct sg_wave *w, const struct sg_inst *inst)
{
    sg_sdst64(w, inst, w->pc);
    w->pc += (uint64_t)((int64_t)inst->simm * 4);
    return SG_STEP_OK;
}

// STATUS as a program may read it: SCC, EXECZ, VCCZ and the bits that never change.
static uint32_t status_register(const struct sg_wave *w)
{
    uint32_t s = w->status & ~0x601u;
    s |= w->scc;
    s |= (uint32_t)(sg_exec(w) == 0) << 9;
    s |= (uint32_t)(sg_sgpr64(w, SG_SGPR_VCC) == 0) << 10;
    return s;
}

// Bits 63:48 of the two apertures: private in the low half, shared in the high half. Compiled code builds
// generic pointers to LDS and scratch from this register.
static uint32_t sh_mem_bases(const struct sg_wave *w)
{
    const struct sg_launch *launch = w->group ? w->group->launch : NULL;
    if (!launch)
        return 0;
    return (launch->shared_aperture_hi & 0xffff0000u) | launch->private_aperture_hi >> 16;
}

// Identifiers and allocation registers have no meaning here that a program could rely on: they read as zero,
// except that HW_ID tells waves of a group apart.
static bool read_hwreg(const struct sg_wave *w, unsigned id, uint32_t *value)
{
    *value = 0;
    switch (id) {
    case HW_MODE:
        *value = w->mode;
        return true;
    case HW_STATUS:
        *value = status_register(w);
        return true;
    case HW_HW_ID:
        *value = w->wave_in_group & 15;
        return true;
    case HW_SH_MEM_BASES:
        *value = sh_mem_bases(w);
        return true;
    case HW_TRAPSTS:
    case HW_GPR_ALLOC:
    case HW_LDS_ALLOC:
        return true;
    default:
        return false;
    }
}

// simm16 of s_getreg and s_setreg: register id, lowest bit, number of bits - 1.
struct hwreg_field {
    unsigned id, offset;
    uint32_t mask;
};

static struct hwreg_field hwreg_field(const struct sg_inst *inst)
{
    const uint32_t k = (uint16_t)inst->simm;
    const unsigned size = (k >> 11) + 1;
    const uint32_t mask = size >= 32 ? UINT32_MAX : (1u << size) - 1;
    return (struct hwreg_field){.id = k & 63, .offset = k >> 6 & 31, .mask = mask};
}

static enum sg_step op_s_getreg_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    const struct hwreg_field f = hwreg_field(inst);
    uint32_t value;
    if (!read_hwreg(w, f.id, &value))
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0,
                             "read of hardware register %u, which is not modelled", f.id);
    sg_sdst32(w, inst, value >> f.offset & f.mask);
    return SG_STEP_OK;
}

static enum sg_step write_hwreg(struct sg_wave *w, const struct sg_inst *inst, uint32_t value)
{
    const struct hwreg_field f = hwreg_field(inst);
    const uint32_t mask = f.mask << f.offset, bits = value << f.offset & mask;
    switch (f.id) {
    case HW_MODE:
        if (bits & (SG_MODE_FP16_OVFL | SG_MODE_VSKIP))
            return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "MODE bit %s is not implemented",
                                 bits & SG_MODE_VSKIP ? "VSKIP" : "FP16_OVFL");
        w->mode = (w->mode & ~mask) | bits;
        return SG_STEP_OK;
    case HW_STATUS:
        w->status = (w->status & ~mask) | bits;
        return SG_STEP_OK;
    case HW_TRAPSTS:
        return SG_STEP_OK;
    default:
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0,
                             "write of hardware register %u, which is not modelled", f.id);
    }
}

static enum sg_step op_s_setreg_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    return write_hwreg(w, inst, w->sgpr[inst->sdst]);
}

static enum sg_step op_s_setreg_imm32_b32(struct sg_wave *w, const struct sg_inst *inst)
{
    return write_hwreg(w, inst, inst->literal);
}

#define ROW(op, name, d) SG_SROW(SG_ENC_SOPK, op, SG_CLASS_SALU, name, d, 0, 0, 0)

static const struct sg_opinfo rows[] = {
    ROW(0x00, s_movk_i32, 1),
    ROW(0x01, s_cmovk_i32, 1),
    ROW(0x02, s_cmpk_eq_i32, 1),
    ROW(0x03, s_cmpk_lg_i32, 1),
    ROW(0x04, s_cmpk_gt_i32, 1),
    ROW(0x05, s_cmpk_ge_i32, 1),
    ROW(0x06, s_cmpk_lt_i32, 1),
    ROW(0x07, s_cmpk_le_i32, 1),
    ROW(0x08, s_cmpk_eq_u32, 1),
    ROW(0x09, s_cmpk_lg_u32, 1),
    ROW(0x0a, s_cmpk_gt_u32, 1),
    ROW(0x0b, s_cmpk_ge_u32, 1),
    ROW(0x0c, s_cmpk_lt_u32, 1),
    ROW(0x0d, s_cmpk_le_u32, 1),
    ROW(0x0e, s_addk_i32, 1),
    ROW(0x0f, s_mulk_i32, 1),
    SG_SROW_NAMED(SG_ENC_SOPK, 0x10, SG_CLASS_BRANCH, s_cbranch_i_fork, 2, 0, 0),
    ROW(0x11, s_getreg_b32, 1),
    ROW(0x12, s_setreg_b32, 1),
    ROW(0x14, s_setreg_imm32_b32, 0),
    SG_SROW(SG_ENC_SOPK, 0x15, SG_CLASS_BRANCH, s_call_b64, 2, 0, 0, 0),
};

const struct sg_optable sg_table_sopk = {rows, sizeof(rows) / sizeof(*rows)};
