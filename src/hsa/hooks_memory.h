// SPDX-License-Identifier: MIT
// Hooks through which kreplay knows the program's memory: allocations, frees, page-locked ranges, code
// objects.
#ifndef KR_HSA_HOOKS_MEMORY_H
#define KR_HSA_HOOKS_MEMORY_H

#include "hsa/state.h"

void kr_hsa_hooks_memory_install(const struct kr_hsa_table *table);

// Is the address in host memory that the program has locked for the GPU?
bool kr_hsa_locked_contains(const void *address);

#endif
