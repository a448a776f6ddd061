// SPDX-License-Identifier: MIT
// Finding the GPUs and their memory pools, once.
#ifndef KR_HSA_AGENTS_H
#define KR_HSA_AGENTS_H

#include "hsa/state.h"

// OnLoad comes in the middle of hsa_init, where the runtime's state differs between releases; so the agents
// are looked for when the program first calls a hooked function, which is after hsa_init. False: there is no
// usable GPU, or the calling thread is the one that is starting.
bool kr_hsa_agents_start(void);

// The pool or region with this handle, or NULL.
const struct kr_hsa_pool *kr_hsa_pool_find(uint64_t handle);

#endif
