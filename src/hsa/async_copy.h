// SPDX-License-Identifier: MIT
// The program's asynchronous copies. A copy must not run inside a window, and one that waits for other
// signals could start at any time; so kreplay holds it back until what it waits for has happened, starts it
// inside the gate, with a signal of its own, and completes the program's signal when it is done. That also
// tells exactly which copies are under way.
#ifndef KR_HSA_ASYNC_COPY_H
#define KR_HSA_ASYNC_COPY_H

#include "hsa/state.h"

enum kr_hsa_copy_kind { KR_HSA_COPY_LINEAR, KR_HSA_COPY_ENGINE, KR_HSA_COPY_RECT };

// One copy call, with its arguments' contents, since the call returns before it is started.
struct kr_hsa_copy_call {
    enum kr_hsa_copy_kind kind;
    void *dst;
    const void *src;
    size_t size;
    hsa_agent_t dst_agent, src_agent;
    unsigned engine_id;
    bool force_sdma;
    hsa_pitched_ptr_t rect_dst, rect_src;
    hsa_dim3_t dst_offset, src_offset, range;
    hsa_agent_t copy_agent;
    hsa_amd_copy_direction_t direction;
};

// Takes the copy over. Other than SUCCESS: nothing was done, and the signal will not complete.
hsa_status_t kr_hsa_async_copy(const struct kr_hsa_copy_call *call, uint32_t dep_count,
                               const hsa_signal_t *deps, hsa_signal_t completion);

// Is no copy of the agent under way? (Those that are held back are not.) Completes those that are done.
bool kr_hsa_async_copies_idle(uint32_t agent);

// Gives signals that are not in use back to the runtime, which is about to end.
void kr_hsa_async_copies_close(void);

// Times of the last copy that completed this signal of the program's, in the runtime's system domain.
bool kr_hsa_async_copy_time(hsa_signal_t completion, hsa_amd_profiling_async_copy_time_t *time);

#endif
