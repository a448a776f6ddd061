// SPDX-License-Identifier: MIT
// AQL user queues of a software GPU: a thread per queue polls the doorbell, runs packets in order and
// completes signals. Called by the thunk only.
#ifndef SG_QUEUE_H
#define SG_QUEUE_H

#include <stdint.h>

struct sg_gpu; // thunk's view of one GPU node: id, events, clock, perf block; see softgpu/thunk/gpu.h
struct sg_queue;

// Starts a queue over `ring` (`ring_bytes`, a power of two of 64-byte packets). `amd_queue` is the
// amd_queue_t that holds read and write index. The doorbell is a 64-bit word owned by the queue, initialised
// to -1. 0 or -errno.
int sg_queue_create(struct sg_gpu *gpu, void *ring, uint64_t ring_bytes, void *amd_queue,
                    struct sg_queue **out);

// Address that ROCr stores packet indices to; lives as long as the queue.
volatile int64_t *sg_queue_doorbell(struct sg_queue *queue);

// Stops the thread (a running kernel is asked to stop) and frees the queue.
void sg_queue_destroy(struct sg_queue *queue);

// No further packets are taken / packets are taken again (hsaKmtUpdateQueue with 0 and 100 percent).
void sg_queue_suspend(struct sg_queue *queue);
void sg_queue_resume(struct sg_queue *queue);

#endif
