// SPDX-License-Identifier: MIT
// Hooks through which kreplay knows the program's memory: allocations, frees, page-locked ranges, code
// objects.
#ifndef KR_HSA_HOOKS_MEMORY_H
#define KR_HSA_HOOKS_MEMORY_H

#include "hsa/state.h"

void kr_hsa_hooks_memory_install(const struct kr_hsa_table *table);

// Is the address in host memory that the program has locked for the GPU?
bool kr_hsa_locked_contains(const void *address);
// Calls `visit` for every such range, by its addresses on the GPU, with a lock held.
void kr_hsa_locked_visit(void (*visit)(void *arg, const void *base, size_t bytes), void *arg);

#endif
