// SPDX-License-Identifier: MIT
// Running operations on the private queue, for the engine (engine/backend.h says what each function
// promises).
#ifndef KR_HSA_PASSES_H
#define KR_HSA_PASSES_H

#include "hsa/state.h"

int kr_hsa_pass_begin(void *ctx, uint32_t agent, kreplay_group *group, size_t op_count);
int kr_hsa_submit(void *ctx, uint32_t agent, struct kr_op *op, size_t index);
int kr_hsa_pass_end(void *ctx, uint32_t agent, uint64_t timeout_ns, struct kr_op_result *results);
int kr_hsa_cancel(void *ctx, uint32_t agent);
void kr_hsa_detach(void *ctx, uint32_t agent, struct kr_window *window);

// A dispatch becomes one that the worker only looks after: it is submitted if it has not been, however long
// it takes until that can be, and completed when it is done. On the worker.
void kr_hsa_detached_add(struct kr_hsa_dispatch *dispatch);
// Submits it if it has not been; has it come to its end? Then its times, or `failed`, are known, and what it
// ran on is given back. `unwanted`: its end is now.
bool kr_hsa_detached_done(struct kr_hsa_dispatch *dispatch, bool unwanted);
// The runtime ends: gives back what it runs on.
void kr_hsa_detached_drop(struct kr_hsa_dispatch *dispatch);

// Is a pass still running that could not be stopped?
bool kr_hsa_strays(struct kr_hsa_agent *agent);

// Gives queue and signals of the agent back to the runtime. Nothing runs on them any more.
void kr_hsa_passes_close(struct kr_hsa_agent *agent);

#endif
