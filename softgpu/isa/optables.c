// SPDX-License-Identifier: MIT
// Collects the opcode tables by encoding. VINTRP and EXP, which belong to graphics, do not exist on gfx90a.
#include "softgpu/isa/inst.h"

const struct sg_optable *const sg_optables[SG_ENC_COUNT] = {
    [SG_ENC_SOP1] = &sg_table_sop1,       [SG_ENC_SOP2] = &sg_table_sop2,
    [SG_ENC_SOPK] = &sg_table_sopk,       [SG_ENC_SOPC] = &sg_table_sopc,
    [SG_ENC_SOPP] = &sg_table_sopp,       [SG_ENC_SMEM] = &sg_table_smem,
    [SG_ENC_VOP1] = &sg_table_vop1,       [SG_ENC_VOP2] = &sg_table_vop2,
    [SG_ENC_VOPC] = &sg_table_vopc,       [SG_ENC_VOP3] = &sg_table_vop3,
    [SG_ENC_VOP3P] = &sg_table_vop3p,     [SG_ENC_DS] = &sg_table_ds,
    [SG_ENC_FLAT] = &sg_table_flat,       [SG_ENC_GLOBAL] = &sg_table_global,
    [SG_ENC_SCRATCH] = &sg_table_scratch, [SG_ENC_MUBUF] = &sg_table_mubuf,
    [SG_ENC_MTBUF] = &sg_table_mtbuf,     [SG_ENC_MIMG] = &sg_table_mimg,
};
