// SPDX-License-Identifier: MIT
// Where the shadow's buffers come from: idle ones first, then device memory while there is room, then pinned
// host memory within the budget.
#ifndef KR_BUFFERS_H
#define KR_BUFFERS_H

#include "engine/snapshot.h"

// FOOTPRINT_BUDGET: only host memory is left and the budget forbids it. SNAPSHOT_FAILED: nothing can be had.
kreplay_reason kr_buffer_get(struct kr_engine *engine, struct kr_shadow *shadow, size_t bytes,
                             struct kr_buffer *out);
void kr_buffer_put(struct kr_engine *engine, struct kr_shadow *shadow,
                   struct kr_buffer *buffer); // to the idle ones
void kr_buffer_free(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_buffer *buffer);
void kr_buffers_free_idle(struct kr_engine *engine, struct kr_shadow *shadow);

#endif
