// SPDX-License-Identifier: MIT
// Between the parts of the decoder. Each part takes the first word(s), fills the record and returns the
// dwords consumed, or 0 when there is no such instruction. words[] beyond what the caller could read are zero
// and inst->n_words holds how many are real.
#ifndef SG_DECODE_H
#define SG_DECODE_H

#include "softgpu/isa/inst.h"

const struct sg_opinfo *sg_find_op(enum sg_encoding encoding, unsigned opcode);

// May a scalar or vector source field hold this number (SDWA and DPP markers excluded)?
bool sg_valid_source(unsigned src);

int sg_decode_vop1(struct sg_inst *inst);
int sg_decode_vop2(struct sg_inst *inst);
int sg_decode_vopc(struct sg_inst *inst);
int sg_decode_vop3(struct sg_inst *inst);  // VOP3a, VOP3b, and VOP1/2/C in VOP3 form
int sg_decode_vop3p(struct sg_inst *inst); // packed and matrix
int sg_decode_smem(struct sg_inst *inst);
int sg_decode_ds(struct sg_inst *inst);
int sg_decode_flat(struct sg_inst *inst);
int sg_decode_mubuf(struct sg_inst *inst);
int sg_decode_mtbuf(struct sg_inst *inst);
int sg_decode_mimg(struct sg_inst *inst);

static inline uint32_t sg_field(uint32_t word, unsigned low, unsigned bits)
{
    return word >> low & ((1u << bits) - 1);
}

static inline int32_t sg_sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

#endif
