// SPDX-License-Identifier: MIT
// Decoder of the memory formats. On gfx90a one bit of each says that the data registers are AGPRs.
// Source: "AMD Instinct MI200 Instruction Set Architecture" reference guide, Microcode Formats.
#include "softgpu/isa/decode.h"

enum { SRC_ZERO = 128, SADDR_OFF = 0x7f };

int sg_decode_smem(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    inst->info = sg_find_op(SG_ENC_SMEM, sg_field(w0, 18, 8));
    inst->src[0] = sg_field(w0, 0, 6) << 1;
    inst->sdst = sg_field(w0, 6, 7);
    inst->nv = sg_field(w0, 15, 1);
    inst->glc = sg_field(w0, 16, 1);
    inst->soffset = SRC_ZERO;
    const bool immediate = sg_field(w0, 17, 1), soffset_en = sg_field(w0, 14, 1);
    if (immediate)
        inst->simm = sg_sign_extend(w1, 21);
    if (soffset_en)
        inst->soffset = sg_field(w1, 25, 7);
    else if (!immediate)
        inst->soffset = sg_field(w1, 0, 7);
    return 2;
}

int sg_decode_ds(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    const unsigned acc = sg_field(w0, 25, 1) << 8;
    inst->info = sg_find_op(SG_ENC_DS, sg_field(w0, 17, 8));
    inst->offset0 = sg_field(w0, 0, 8);
    inst->offset1 = sg_field(w0, 8, 8);
    inst->simm = (int32_t)sg_field(w0, 0, 16);
    inst->gds = sg_field(w0, 16, 1);
    inst->vaddr = sg_field(w1, 0, 8);
    inst->vdata = sg_field(w1, 8, 8) + acc;
    inst->vdata2 = sg_field(w1, 16, 8) + acc;
    inst->vdst = sg_field(w1, 24, 8) + acc;
    return 2;
}

int sg_decode_flat(struct sg_inst *inst)
{
    static const enum sg_encoding segment[4] = {SG_ENC_FLAT, SG_ENC_SCRATCH, SG_ENC_GLOBAL, SG_ENC_COUNT};
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    const enum sg_encoding encoding = segment[sg_field(w0, 14, 2)];
    if (encoding == SG_ENC_COUNT)
        return 0;
    const unsigned acc = sg_field(w1, 23, 1) << 8;
    inst->info = sg_find_op(encoding, sg_field(w0, 18, 7));
    // FLAT offsets are unsigned 12 bits, the other segments have signed 13 bits.
    inst->simm = encoding == SG_ENC_FLAT ? (int32_t)sg_field(w0, 0, 12) : sg_sign_extend(w0, 13);
    inst->lds = sg_field(w0, 13, 1);
    inst->glc = sg_field(w0, 16, 1);
    inst->slc = sg_field(w0, 17, 1);
    inst->scc = sg_field(w0, 25, 1);
    inst->vaddr = sg_field(w1, 0, 8);
    inst->vdata = sg_field(w1, 8, 8) + acc;
    inst->vdst = sg_field(w1, 24, 8) + acc;
    inst->saddr = encoding == SG_ENC_FLAT ? SADDR_OFF : sg_field(w1, 16, 7);
    return 2;
}

int sg_decode_mubuf(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    inst->info = sg_find_op(SG_ENC_MUBUF, sg_field(w0, 18, 7));
    inst->simm = (int32_t)sg_field(w0, 0, 12);
    inst->offen = sg_field(w0, 12, 1);
    inst->idxen = sg_field(w0, 13, 1);
    inst->glc = sg_field(w0, 14, 1);
    inst->scc = sg_field(w0, 15, 1);
    inst->lds = sg_field(w0, 16, 1);
    inst->slc = sg_field(w0, 17, 1);
    inst->vaddr = sg_field(w1, 0, 8);
    inst->vdst = inst->vdata = sg_field(w1, 8, 8) + (sg_field(w1, 23, 1) << 8);
    inst->saddr = sg_field(w1, 16, 5) << 2;
    inst->soffset = sg_field(w1, 24, 8);
    return sg_valid_source(inst->soffset) && inst->soffset != SG_SRC_LITERAL ? 2 : 0;
}

int sg_decode_mtbuf(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    inst->info = sg_find_op(SG_ENC_MTBUF, sg_field(w0, 15, 4));
    inst->simm = (int32_t)sg_field(w0, 0, 12);
    inst->offen = sg_field(w0, 12, 1);
    inst->idxen = sg_field(w0, 13, 1);
    inst->glc = sg_field(w0, 14, 1);
    inst->scc = sg_field(w1, 21, 1);
    inst->slc = sg_field(w1, 22, 1);
    inst->vaddr = sg_field(w1, 0, 8);
    inst->vdst = inst->vdata = sg_field(w1, 8, 8) + (sg_field(w1, 23, 1) << 8);
    inst->saddr = sg_field(w1, 16, 5) << 2;
    inst->soffset = sg_field(w1, 24, 8);
    return sg_valid_source(inst->soffset) && inst->soffset != SG_SRC_LITERAL ? 2 : 0;
}

int sg_decode_mimg(struct sg_inst *inst)
{
    const uint32_t w0 = inst->words[0], w1 = inst->words[1];
    inst->info = sg_find_op(SG_ENC_MIMG, sg_field(w0, 18, 7) | sg_field(w0, 0, 1) << 7);
    inst->scc = sg_field(w0, 7, 1);
    inst->glc = sg_field(w0, 13, 1);
    inst->slc = sg_field(w0, 25, 1);
    inst->vaddr = sg_field(w1, 0, 8);
    inst->vdst = inst->vdata = sg_field(w1, 8, 8) + (sg_field(w0, 16, 1) << 8);
    inst->saddr = sg_field(w1, 16, 5) << 2;
    return 2;
}
