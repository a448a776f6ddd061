// SPDX-License-Identifier: MIT
// Decoder: picks the encoding, decodes the scalar ALU formats, and checks what all formats share (register
// ranges). Source: "AMD Instinct MI200 Instruction Set Architecture" reference guide, Microcode Formats.
#include "softgpu/isa/decode.h"

#include <string.h>

const struct sg_opinfo *sg_find_op(enum sg_encoding encoding, unsigned opcode)
{
    const struct sg_optable *table = sg_optables[encoding];
    if (!table)
        return NULL;
    size_t low = 0, high = table->count;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (table->rows[mid].opcode < opcode)
            low = mid + 1;
        else
            high = mid;
    }
    return low < table->count && table->rows[low].opcode == opcode ? &table->rows[low] : NULL;
}

bool sg_valid_source(unsigned src)
{
    if (src >= SG_SRC_VGPR0 || src <= 208)
        return true;
    return (src >= 235 && src <= 248) || (src >= 251 && src <= 253) || src == SG_SRC_LITERAL;
}

// Reads the literal behind a one-dword instruction when a source asks for it. Returns the dwords consumed.
static int with_literal(struct sg_inst *inst, bool wanted)
{
    if (!wanted)
        return 1;
    if (inst->n_words < 2)
        return 0;
    inst->literal = inst->words[1];
    return 2;
}

static int decode_sop1(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_SOP1, sg_field(w, 8, 8));
    inst->src[0] = sg_field(w, 0, 8);
    inst->sdst = sg_field(w, 16, 7);
    return with_literal(inst, inst->src[0] == SG_SRC_LITERAL);
}

static int decode_sop2(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_SOP2, sg_field(w, 23, 7));
    inst->src[0] = sg_field(w, 0, 8);
    inst->src[1] = sg_field(w, 8, 8);
    inst->sdst = sg_field(w, 16, 7);
    return with_literal(inst, inst->src[0] == SG_SRC_LITERAL || inst->src[1] == SG_SRC_LITERAL);
}

static int decode_sopc(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_SOPC, sg_field(w, 16, 7));
    inst->src[0] = sg_field(w, 0, 8);
    inst->src[1] = sg_field(w, 8, 8);
    return with_literal(inst, inst->src[0] == SG_SRC_LITERAL || inst->src[1] == SG_SRC_LITERAL);
}

static int decode_sopk(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_SOPK, sg_field(w, 23, 5));
    inst->simm = (int16_t)sg_field(w, 0, 16);
    inst->sdst = sg_field(w, 16, 7);
    return with_literal(inst, sg_field(w, 23, 5) == 0x14); // s_setreg_imm32_b32
}

static int decode_sopp(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    inst->info = sg_find_op(SG_ENC_SOPP, sg_field(w, 16, 7));
    inst->simm = (int16_t)sg_field(w, 0, 16);
    return 1;
}

static int decode_salu(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    switch (sg_field(w, 23, 9)) {
    case 0x17d:
        return decode_sop1(inst);
    case 0x17e:
        return decode_sopc(inst);
    case 0x17f:
        return decode_sopp(inst);
    default:
        return sg_field(w, 28, 4) == 0xb ? decode_sopk(inst) : decode_sop2(inst);
    }
}

static int decode_any(struct sg_inst *inst)
{
    const uint32_t w = inst->words[0];
    if (!(w >> 31)) {
        if (sg_field(w, 25, 6) == 0x3f)
            return sg_decode_vop1(inst);
        return sg_field(w, 25, 6) == 0x3e ? sg_decode_vopc(inst) : sg_decode_vop2(inst);
    }
    if (sg_field(w, 30, 2) == 2)
        return decode_salu(inst);
    if (inst->n_words < 2)
        return 0;
    switch (sg_field(w, 26, 6)) {
    case 0x30:
        return sg_decode_smem(inst);
    case 0x34:
        return sg_field(w, 23, 3) == 7 ? sg_decode_vop3p(inst) : sg_decode_vop3(inst);
    case 0x36:
        return sg_decode_ds(inst);
    case 0x37:
        return sg_decode_flat(inst);
    case 0x38:
        return sg_decode_mubuf(inst);
    case 0x3a:
        return sg_decode_mtbuf(inst);
    case 0x3c:
        return sg_decode_mimg(inst);
    default: // 0x31 EXP and 0x35 VINTRP do not exist on gfx90a
        return 0;
    }
}

static bool is_scalar_alu(const struct sg_opinfo *info)
{
    return info->encoding <= SG_ENC_SOPP;
}

static bool is_vector_alu(const struct sg_opinfo *info)
{
    return info->encoding >= SG_ENC_VOP1 && info->encoding <= SG_ENC_VOP3P;
}

// Keeps register groups inside their file, so that semantics need no bounds checks.
static bool registers_fit(const struct sg_inst *inst)
{
    const struct sg_opinfo *info = inst->info;
    if (!is_scalar_alu(info) && !is_vector_alu(info))
        return true;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned n = info->src_dwords[i], src = inst->src[i];
        if (!n)
            continue;
        if (!sg_valid_source(src))
            return false;
        const unsigned end = src < 128 ? 128 : src < SG_SRC_AGPR0 ? 512 : 768;
        if ((src < 128 || src >= SG_SRC_VGPR0) && src + n > end)
            return false;
    }
    if (is_scalar_alu(info))
        return inst->sdst + info->dst_dwords <= 128;
    if (info->flags & SG_OP_SDST)
        return inst->sdst < 128;
    return inst->vdst + info->dst_dwords <= (inst->vdst < 256 ? 256u : 512u);
}

int sg_decode(const uint32_t *code, size_t avail_dwords, struct sg_inst *inst)
{
    memset(inst, 0, sizeof(*inst));
    if (!avail_dwords)
        return 0;
    inst->n_words = avail_dwords < 2 ? 1 : 2;
    memcpy(inst->words, code, 4u * inst->n_words);
    const int n = decode_any(inst);
    if (!n || !inst->info || !registers_fit(inst)) {
        inst->info = NULL;
        return 0;
    }
    inst->n_words = (uint8_t)n;
    for (int i = n; i < 4; i++)
        inst->words[i] = 0;
    return n;
}
