// SPDX-License-Identifier: MIT
// Memory of kreplay's own, from the runtime's pools.
#ifndef KR_HSA_MEMORY_H
#define KR_HSA_MEMORY_H

#include "hsa/state.h"

// Host memory that the GPU may read and write; NULL if there is none.
void *kr_hsa_memory_host(struct kr_hsa_agent *agent, size_t bytes);
// Memory of the GPU itself; NULL if there is none.
void *kr_hsa_memory_device(struct kr_hsa_agent *agent, size_t bytes);
void kr_hsa_memory_release(void *buffer); // NULL is fine

#endif
