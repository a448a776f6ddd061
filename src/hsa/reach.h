// SPDX-License-Identifier: MIT
// Captured memory within reach of the host: where the GPU's memory is ordinary memory of the process (the software
// GPU, and whatever else the kernel lets the process read so), moving and comparing needs no copy engine.
#ifndef KR_HSA_REACH_H
#define KR_HSA_REACH_H

#include "hsa/state.h"

// True if the host can read `bytes` from `at` itself and does so sooner than a copy engine brings them, which
// is tried out at the agent's first question. Asked by who holds the agent's gate.
bool kr_hsa_in_reach(struct kr_hsa_agent *agent, const void *at, size_t bytes);

// Makes the copies, if all of them are within reach. False: some may have been made, and copying the whole list by other
// means does no harm.
bool kr_hsa_reach_copy(struct kr_hsa_agent *agent, const struct kr_copy *list, size_t count);

#endif
