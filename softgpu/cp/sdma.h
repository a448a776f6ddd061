// SPDX-License-Identifier: MIT
// Queues of the copy engines (SDMA) of a software GPU. Called by the thunk only.
#ifndef SG_SDMA_H
#define SG_SDMA_H

#include <stdint.h>

struct sg_gpu;
struct sg_sdma;

// Starts a queue over `ring` (`ring_bytes`, a power of two). Its indices count bytes and never wrap; all
// three are owned by the queue, start at 0 and live as long as it. 0 or -errno.
int sg_sdma_create(struct sg_gpu *gpu, void *ring, uint64_t ring_bytes, struct sg_sdma **out);

volatile uint64_t *sg_sdma_doorbell(struct sg_sdma *queue);
uint64_t *sg_sdma_read_index(struct sg_sdma *queue);
uint64_t *sg_sdma_write_index(struct sg_sdma *queue);

// Stops the thread, after the packet that it is in, and frees the queue.
void sg_sdma_destroy(struct sg_sdma *queue);

// No further packets are taken / packets are taken again.
void sg_sdma_suspend(struct sg_sdma *queue);
void sg_sdma_resume(struct sg_sdma *queue);

#endif
