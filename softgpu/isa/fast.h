// SPDX-License-Identifier: MIT
// Fast paths of the interpreter: which are on, and the choice for one instruction. Each does what the plain semantics do.
#ifndef SG_FAST_H
#define SG_FAST_H

#include "softgpu/isa/inst.h"

enum sg_fast_path {
    SG_FAST_BLOCKS = 1,  // several instructions for each look-up of code
    SG_FAST_VECTOR = 2,  // vector instructions work in the registers, without copies
    SG_FAST_MEMORY = 4,  // unit-stride global memory, LDS without lists of pointers
    SG_FAST_AVX2 = 8,    // semantics compiled for such hosts
    SG_FAST_AVX512 = 16, // the same
    SG_FAST_ALL = 31,
};

// What SOFTGPU_FAST asks for and the host has.
unsigned sg_fast_paths(void);

// For tests: other paths from now on, less what the host lacks. Forgets decoded code; no launch may run.
void sg_fast_set(unsigned paths);

// Chooses inst->exec and inst->direct of a decoded instruction.
void sg_fast_choose(struct sg_inst *inst);

#endif
