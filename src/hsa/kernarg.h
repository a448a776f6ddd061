// SPDX-License-Identifier: MIT
// Is it safe to run this dispatch several times, as far as its kernel and its arguments tell?
#ifndef KR_HSA_KERNARG_H
#define KR_HSA_KERNARG_H

#include "hsa/state.h"

// NONE, or why not. Rules, in this order:
//  - the kernel is unknown, talks to the host (printf, host calls) or has no readable description:
//    UNSAFE_KERNEL;
//  - its code object has managed variables: HOST_MEMORY;
//  - any aligned 8-byte word of the argument segment is an address in host memory that the program made
//    accessible to the GPU, or in any memory of the process where the GPU reaches all of it: HOST_MEMORY; in
//    memory that cannot be put back: UNTRACKED_MEMORY.
// Every word counts, also inside structures passed by value. Pointers that lie in device memory are not
// followed.
kreplay_reason kr_hsa_kernarg_check(const struct kr_hsa_dispatch *dispatch);

#endif
