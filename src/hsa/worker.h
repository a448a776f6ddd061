// SPDX-License-Identifier: MIT
// The thread of each agent that takes the program's dispatches one after the other through the engine.
#ifndef KR_HSA_WORKER_H
#define KR_HSA_WORKER_H

#include "hsa/state.h"

// Starts the agent's worker and opens its private queue if that has not happened yet. Called before the first
// queue is intercepted. False: it cannot run, leave the agent's queues alone.
bool kr_hsa_worker_ready(struct kr_hsa_agent *agent);

// Hands dispatches over, in submission order.
void kr_hsa_worker_add(struct kr_hsa_queue *queue, struct kr_hsa_dispatch *dispatch);

// Waits until all dispatches of the queue have completed. False after `timeout_ns`.
bool kr_hsa_worker_finish(struct kr_hsa_queue *queue, uint64_t timeout_ns);

// Completes detached dispatches that have come to their end. On the worker only.
void kr_hsa_worker_reap(struct kr_hsa_agent *agent);

// Completes the program's signal with the live times and lets the queue go on, for the engine and for reap.
void kr_hsa_dispatch_complete(struct kr_hsa_dispatch *dispatch);

// The program is ending: what waits is run once and not replayed, then the workers end. Waits for that for at
// most `timeout_ns`; false if a worker is still busy then.
bool kr_hsa_workers_stop(uint64_t timeout_ns);

// Dispatches that are neither done nor recorded, after an unsuccessful stop.
uint64_t kr_hsa_workers_unfinished(void);

// After a successful stop, with no thread left in a hook: visits and frees the dispatches that the workers
// could not reach. They never run.
void kr_hsa_workers_clear(void (*visit)(struct kr_hsa_dispatch *dispatch));

#endif
