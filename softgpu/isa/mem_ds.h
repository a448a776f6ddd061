// SPDX-License-Identifier: MIT
// Between the two files of DS.
#ifndef SG_MEM_DS_H
#define SG_MEM_DS_H

#include "softgpu/isa/memory.h"

#define SG_MODE_DENORM32 0x30 // MODE.fp_denorm of 32-bit floats; 0 = flushed in and out

enum sg_step sg_ds_nop(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_ds_swizzle(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_ds_permute(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_ds_bpermute(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_ds_append(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_ds_consume(struct sg_wave *w, const struct sg_inst *inst);

#endif
