// SPDX-License-Identifier: MIT
// Between the files of DS.
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

// Global wave sync; mem_gws.c.
enum sg_step sg_gws_init(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_gws_barrier(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_gws_sema_p(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_gws_sema_v(struct sg_wave *w, const struct sg_inst *inst);
enum sg_step sg_gws_release_all(struct sg_wave *w, const struct sg_inst *inst);

#endif
