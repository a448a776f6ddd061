// SPDX-License-Identifier: MIT
// Moving and comparing captured memory, for the engine. See engine/backend.h for the meaning of each.
#ifndef KR_HSA_COPY_H
#define KR_HSA_COPY_H

#include "hsa/state.h"

int kr_hsa_copy(void *ctx, uint32_t agent, enum kr_path path, const struct kr_copy *list, size_t count);
int kr_hsa_compare(void *ctx, uint32_t agent, const void *a, const void *b, size_t bytes, size_t block_bytes,
                   uint8_t *changed);

// The asynchronous copy alone.
int kr_hsa_copy_by_device(struct kr_hsa_agent *agent, const struct kr_copy *list, size_t count);

// Are copies of kreplay's under way that did not end in time?
bool kr_hsa_copies_late(struct kr_hsa_agent *agent);

// Gives signal and buffers of the agent back to the runtime.
void kr_hsa_copy_close(struct kr_hsa_agent *agent);

#endif
