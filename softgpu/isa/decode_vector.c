// SPDX-License-Identifier: MIT
// Decoder of the vector ALU formats. VOP1, VOP2 and VOPC operations in VOP3 form share the row of the short
// form, so that semantics exist once; implicit operands (VCC, accumulator, literals) become explicit sources
// here. Source: "AMD Instinct MI200 Instruction Set Architecture" reference guide, Microcode Formats.
#include "softgpu/isa/decode.h"
#include "softgpu/isa/operand.h"

enum { SRC_SDWA = 249, SRC_DPP = 250 };

// Opcode ranges of the VOP3 field.
enum { VOP3_VOP2 = 0x100, VOP3_VOP1 = 0x140, VOP3_OWN = 0x1c0 };

static void decode_dpp(struct sg_inst *inst)
{
    const uint32_t w = inst->words[1];
    inst->mod = SG_MOD_DPP;
    inst->src[0] = SG_SRC_VGPR0 + sg_field(w, 0, 8);
    inst->dpp_ctrl = sg_field(w, 8, 9);
    inst->dpp_bound_ctrl = sg_field(w, 19, 1);
    inst->neg = sg_field(w, 20, 1) | sg_field(w, 22, 1) << 1;
    inst->abs = sg_field(w, 21, 1) | sg_field(w, 23, 1) << 1;
    inst->dpp_bank_mask = sg_field(w, 24, 4);
    inst->dpp_row_mask = sg_field(w, 28, 4);
}

// Source half of an SDWA dword; the destination half differs between VOPC and the others.
static void decode_sdwa(struct sg_inst *inst)
{
    const uint32_t w = inst->words[1];
    inst->mod = SG_MOD_SDWA;
    inst->src[0] = sg_field(w, 0, 8) + (sg_field(w, 23, 1) ? 0 : SG_SRC_VGPR0);
    if (sg_field(w, 31, 1))
        inst->src[1] -= SG_SRC_VGPR0;
    inst->sdwa_sel[0] = sg_field(w, 16, 3);
    inst->sdwa_sel[1] = sg_field(w, 24, 3);
    inst->sdwa_sext = sg_field(w, 19, 1) | sg_field(w, 27, 1) << 1;
    inst->neg = sg_field(w, 20, 1) | sg_field(w, 28, 1) << 1;
    inst->abs = sg_field(w, 21, 1) | sg_field(w, 29, 1) << 1;
    inst->sdwa_dst_sel = 6;
    if (inst->info->encoding == SG_ENC_VOPC) {
        inst->sdwa_scalar_dst = sg_field(w, 15, 1);
        if (inst->sdwa_scalar_dst)
            inst->sdst = sg_field(w, 8, 7);
        return;
    }
    inst->sdwa_dst_sel = sg_field(w, 8, 3);
    inst->sdwa_dst_unused = sg_field(w, 11, 2);
    inst->clamp = sg_field(w, 13, 1);
    inst->omod = sg_field(w, 14, 2);
}

// Second dword of a short vector form, when there is one. Returns the dwords consumed.
static int decode_extension(struct sg_inst *inst)
{
    const unsigned src0 = inst->src[0];
    if (src0 != SG_SRC_LITERAL && src0 != SRC_SDWA && src0 != SRC_DPP)
        return 1;
    if (inst->n_words < 2)
        return 0;
    if (src0 == SG_SRC_LITERAL)
        inst->literal = inst->words[1];
    else if (src0 == SRC_DPP)
        decode_dpp(inst);
    else
        decode_sdwa(inst);
    return 2;
}

int sg_decode_vop1(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_VOP1, sg_field(w, 9, 8));
    if (!inst->info)
        return 0;
    inst->src[0] = sg_field(w, 0, 9);
    inst->vdst = sg_field(w, 17, 8);
    if (inst->info->flags & SG_OP_SDST)
        inst->sdst = inst->vdst;
    if (inst->info->opcode == 0x52) { // v_accvgpr_mov_b32: both sides are AGPRs
        if (inst->src[0] < SG_SRC_VGPR0)
            return 0;
        inst->src[0] += 256;
        inst->vdst += 256;
    }
    return decode_extension(inst);
}

// Gives the implicit source of a VOP2 operation its place. `src1` still holds the encoded second source.
static int decode_implicit(struct sg_inst *inst)
{
    switch (inst->info->arg) {
    case SG_IMPLICIT_VCC:
        inst->src[2] = SG_SGPR_VCC;
        break;
    case SG_IMPLICIT_DST:
        inst->src[2] = SG_SRC_VGPR0 + inst->vdst;
        break;
    case SG_IMPLICIT_MK:
    case SG_IMPLICIT_AK:
        if (inst->n_words < 2 || inst->src[0] == SRC_SDWA || inst->src[0] == SRC_DPP)
            return 0;
        inst->literal = inst->words[1];
        inst->src[2] = SG_SRC_LITERAL;
        if (inst->info->arg == SG_IMPLICIT_MK) {
            inst->src[2] = inst->src[1];
            inst->src[1] = SG_SRC_LITERAL;
        }
        return 2;
    default:
        break;
    }
    return decode_extension(inst);
}

int sg_decode_vop2(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_VOP2, sg_field(w, 25, 6));
    if (!inst->info)
        return 0;
    inst->src[0] = sg_field(w, 0, 9);
    inst->src[1] = SG_SRC_VGPR0 + sg_field(w, 9, 8);
    inst->vdst = sg_field(w, 17, 8);
    inst->sdst = SG_SGPR_VCC;
    return decode_implicit(inst);
}

int sg_decode_vopc(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_VOPC, sg_field(w, 17, 8));
    if (!inst->info)
        return 0;
    inst->src[0] = sg_field(w, 0, 9);
    inst->src[1] = SG_SRC_VGPR0 + sg_field(w, 9, 8);
    inst->sdst = inst->vdst = SG_SGPR_VCC;
    return decode_extension(inst);
}

static const struct sg_opinfo *vop3_row(unsigned opcode)
{
    if (opcode < VOP3_VOP2)
        return sg_find_op(SG_ENC_VOPC, opcode);
    if (opcode < VOP3_VOP1)
        return sg_find_op(SG_ENC_VOP2, opcode - VOP3_VOP2);
    if (opcode < VOP3_OWN)
        return sg_find_op(SG_ENC_VOP1, opcode - VOP3_VOP1);
    return sg_find_op(SG_ENC_VOP3, opcode);
}

int sg_decode_vop3(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    const struct sg_opinfo *info = inst->info = vop3_row(sg_field(w0, 16, 10));
    if (!info)
        return 0;
    const bool is_vop2 = info->encoding == SG_ENC_VOP2;
    if (is_vop2 && (info->arg == SG_IMPLICIT_MK || info->arg == SG_IMPLICIT_AK))
        return 0;
    inst->vdst = sg_field(w0, 0, 8);
    inst->src[0] = sg_field(w1, 0, 9);
    inst->src[1] = sg_field(w1, 9, 9);
    inst->src[2] = sg_field(w1, 18, 9);
    inst->clamp = sg_field(w0, 15, 1);
    inst->omod = sg_field(w1, 27, 2);
    inst->neg = sg_field(w1, 29, 3);
    if (info->flags & SG_OP_VOP3B) {
        inst->sdst = sg_field(w0, 8, 7);
    } else {
        inst->abs = sg_field(w0, 8, 3);
        inst->op_sel = sg_field(w0, 11, 4);
    }
    if (info->flags & SG_OP_SDST)
        inst->sdst = inst->vdst;
    if (is_vop2 && info->arg == SG_IMPLICIT_DST)
        inst->src[2] = SG_SRC_VGPR0 + inst->vdst;
    for (unsigned i = 0; i < 3; i++)
        if (info->src_dwords[i] && inst->src[i] == SG_SRC_LITERAL)
            return 0; // GFX9 has no literals in VOP3
    return 2;
}

// Matrix operations and AGPR moves: acc bits say which operands are AGPRs.
static int decode_mai(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    const unsigned opcode = inst->info->opcode;
    if (opcode == 0x58) { // v_accvgpr_read_b32
        if (inst->src[0] < SG_SRC_VGPR0)
            return 0;
        inst->src[0] += 256;
        return 2;
    }
    if (opcode == 0x59) { // v_accvgpr_write_b32
        inst->vdst += 256;
        return 2;
    }
    const bool acc_cd = sg_field(w0, 15, 1);
    inst->clamp = 0;
    inst->neg = inst->neg_hi = inst->op_sel = inst->op_sel_hi = 0; // these bits are cbsz, abid and blgp here
    if (acc_cd)
        inst->vdst += 256;
    for (unsigned i = 0; i < 3; i++) {
        const bool acc = i < 2 ? sg_field(w1, 27 + i, 1) : acc_cd;
        if (acc && inst->src[i] >= SG_SRC_VGPR0)
            inst->src[i] += 256;
    }
    return 2;
}

int sg_decode_vop3p(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    inst->info = sg_find_op(SG_ENC_VOP3P, sg_field(w0, 16, 7));
    if (!inst->info)
        return 0;
    inst->vdst = sg_field(w0, 0, 8);
    inst->src[0] = sg_field(w1, 0, 9);
    inst->src[1] = sg_field(w1, 9, 9);
    inst->src[2] = sg_field(w1, 18, 9);
    inst->neg_hi = sg_field(w0, 8, 3);
    inst->op_sel = sg_field(w0, 11, 3);
    inst->op_sel_hi = sg_field(w1, 27, 2) | sg_field(w0, 14, 1) << 2;
    inst->clamp = sg_field(w0, 15, 1);
    inst->neg = sg_field(w1, 29, 3);
    for (unsigned i = 0; i < 3; i++)
        if (inst->info->src_dwords[i] && inst->src[i] == SG_SRC_LITERAL)
            return 0;
    return inst->info->opcode >= 0x40 ? decode_mai(inst) : 2;
}
