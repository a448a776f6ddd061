// SPDX-License-Identifier: MIT
// The end of the program.
#ifndef KR_CUDA_ENDING_H
#define KR_CUDA_ENDING_H

#include "cuda/state.h"

// In the exit handler. Launches are not replayed from here on (`program_ending`); windows that are open have `bound_ns` to end.
// Afterwards callbacks do nothing but leave what they had entered. False: a window is left, or this is a child of
// the program's process, and the output cannot be completed.
bool kr_cuda_end(struct kr_cuda *cuda, uint64_t bound_ns);

#endif
