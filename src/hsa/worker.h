// SPDX-License-Identifier: MIT
// The thread of each agent that takes the program's dispatches one after the other through the engine.
#ifndef KR_HSA_WORKER_H
#define KR_HSA_WORKER_H

#include "hsa/state.h"

// Starts the agent's worker and opens its private queue if that has not happened yet. Called before the first
// queue is intercepted. False: it cannot run, leave the agent's queues alone.
bool kr_hsa_worker_ready(struct kr_hsa_agent *agent);

// Hands dispatches over, in submission order, before their packets are in the ring.
void kr_hsa_worker_add(struct kr_hsa_queue *queue, struct kr_hsa_dispatch *dispatch);

// Waits until all dispatches of the queue have completed. False after `timeout_ns`.
bool kr_hsa_worker_finish(struct kr_hsa_queue *queue, uint64_t timeout_ns);

// Completes detached dispatches that have come to their end. On the worker only.
void kr_hsa_worker_reap(struct kr_hsa_agent *agent);

// Completes the program's signal with the live times and lets the queue go on, for the engine and for reap.
void kr_hsa_dispatch_complete(struct kr_hsa_dispatch *dispatch);

// The program destroys the queue: it leaves its agent's list, and what is still in it gets its record and
// never runs. What runs detached is stopped by the worker. Returns how many did not come to run.
uint64_t kr_hsa_worker_abandon(struct kr_hsa_queue *queue);
// The runtime has destroyed it: frees it, now or after its last dispatch.
void kr_hsa_worker_forget(struct kr_hsa_queue *queue);

void kr_hsa_worker_free(struct kr_hsa_dispatch *dispatch);

// The program is ending: what waits is run once and not replayed; what cannot be reached gets its record.
// Waits for that for at most `timeout_ns`; false if there still is a dispatch without a record then. A worker
// that has no more records to write goes on for what still runs, or comes to run while the program ends.
bool kr_hsa_workers_stop(uint64_t timeout_ns);

// Dispatches that are neither done nor recorded, after an unsuccessful stop.
uint64_t kr_hsa_workers_unfinished(void);

// The runtime is ending: ends the workers, whatever is left. False: one is still busy after `timeout_ns`.
bool kr_hsa_workers_quit(uint64_t timeout_ns);

// Frees what the agent's worker has left, after it has quit.
void kr_hsa_worker_clear(struct kr_hsa_agent *agent);

#endif
