// SPDX-License-Identifier: MIT
// MIMG: image instructions, known by name. The opcodes are those that gfx90a accepts.
// Source: "AMD Instinct MI200 Instruction Set Architecture", MIMG instruction list.
#include "softgpu/isa/memory.h"

#define LOAD(op, n)                                                                                          \
    {                                                                                                        \
        .opcode = op, .encoding = SG_ENC_MIMG, .klass = SG_CLASS_VMEM_RD, .mnemonic = n                      \
    }
#define STORE(op, n)                                                                                         \
    {                                                                                                        \
        .opcode = op, .encoding = SG_ENC_MIMG, .klass = SG_CLASS_VMEM_WR, .mnemonic = n                      \
    }

static const struct sg_opinfo mimg_rows[] = {
    LOAD(0, "image_load"),
    LOAD(1, "image_load_mip"),
    LOAD(2, "image_load_pck"),
    LOAD(3, "image_load_pck_sgn"),
    LOAD(4, "image_load_mip_pck"),
    LOAD(5, "image_load_mip_pck_sgn"),
    STORE(8, "image_store"),
    STORE(9, "image_store_mip"),
    STORE(10, "image_store_pck"),
    STORE(11, "image_store_mip_pck"),
    LOAD(14, "image_get_resinfo"),
    STORE(16, "image_atomic_swap"),
    STORE(17, "image_atomic_cmpswap"),
    STORE(18, "image_atomic_add"),
    STORE(19, "image_atomic_sub"),
    STORE(20, "image_atomic_smin"),
    STORE(21, "image_atomic_umin"),
    STORE(22, "image_atomic_smax"),
    STORE(23, "image_atomic_umax"),
    STORE(24, "image_atomic_and"),
    STORE(25, "image_atomic_or"),
    STORE(26, "image_atomic_xor"),
    STORE(27, "image_atomic_inc"),
    STORE(28, "image_atomic_dec"),
    LOAD(32, "image_sample"),
};

const struct sg_optable sg_table_mimg = SG_TABLE(mimg_rows);
