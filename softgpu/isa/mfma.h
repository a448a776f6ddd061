// SPDX-License-Identifier: MIT
// Matrix fused multiply-add: one exec function for all shapes and types, see mfma.c.
#ifndef SG_MFMA_H
#define SG_MFMA_H

#include "softgpu/isa/wave.h"

enum sg_step sg_mfma(struct sg_wave *w, const struct sg_inst *inst);

#endif
