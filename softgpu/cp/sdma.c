// SPDX-License-Identifier: MIT
// A queue of a copy engine: its thread, doorbell and ring. It waits like an AQL queue (backoff.h).
#include "softgpu/cp/sdma.h"
#include "softgpu/cp/backoff.h"
#include "softgpu/cp/queue_thread.h"
#include "softgpu/cp/sdma_packets.h"
#include "softgpu/thunk/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_sdma {
    _Alignas(64) volatile uint64_t doorbell; // written by the program
    _Alignas(64) uint64_t read, write;       // `write` is the program's, nothing here needs it
    struct sg_gpu *gpu;
    const uint32_t *ring;
    uint64_t ring_bytes; // a power of two
    struct sg_queue_thread thread;
};

// A packet may go around the end of the ring.
static void fetch(const struct sg_sdma *queue, uint32_t *dwords)
{
    for (unsigned i = 0; i < SG_SDMA_MOST_DWORDS; i++)
        dwords[i] = queue->ring[((queue->read + i * sizeof(uint32_t)) & (queue->ring_bytes - 1)) / 4];
}

// Copy engines have no way to report an error but a memory fault: the queue stands still, as on hardware.
static void fail(struct sg_sdma *queue, enum sg_sdma_result result, const uint32_t *dwords,
                 const struct sg_sdma_fault *fault)
{
    sg_queue_thread_fail(&queue->thread);
    if (result == SG_SDMA_BAD) {
        fprintf(stderr, "softgpu: copy engine: packet 0x%08" PRIx32 " is not implemented or cut off\n",
                dwords[0]);
        return;
    }
    fprintf(stderr, "softgpu: copy engine: %s\n", fault->why);
    sg_event_memory_fault(queue->gpu, fault->address);
}

// One packet of those rung for.
static enum sg_sdma_result take(struct sg_sdma *queue, uint64_t rung)
{
    uint32_t dwords[SG_SDMA_MOST_DWORDS];
    unsigned length = 0;
    struct sg_sdma_fault fault = {0};
    fetch(queue, dwords);
    const enum sg_sdma_result result =
        sg_sdma_execute(queue->gpu, dwords, (rung - queue->read) / sizeof(uint32_t), &length, &fault);
    if (result == SG_SDMA_DONE)
        __atomic_store_n(&queue->read, queue->read + length * sizeof(uint32_t), __ATOMIC_RELEASE);
    else if (result != SG_SDMA_BLOCKED)
        fail(queue, result, dwords, &fault);
    return result;
}

static void *run(void *arg)
{
    struct sg_sdma *queue = arg;
    struct sg_backoff backoff = {0};
    sg_backoff_thread("softgpu-sdma");
    while (!sg_queue_thread_ends(&queue->thread)) {
        uint64_t rung = __atomic_load_n(&queue->doorbell, __ATOMIC_ACQUIRE);
        if (rung <= queue->read) {
            sg_backoff_wait(&backoff);
            continue;
        }
        if (!sg_queue_thread_may_take(&queue->thread))
            break;
        if (take(queue, rung) == SG_SDMA_DONE)
            backoff = (struct sg_backoff){0};
        else
            sg_backoff_wait(&backoff);
    }
    return NULL;
}

int sg_sdma_create(struct sg_gpu *gpu, void *ring, uint64_t ring_bytes, struct sg_sdma **out)
{
    const uint64_t least = SG_SDMA_MOST_DWORDS * sizeof(uint32_t);
    if (!gpu || !ring || (uintptr_t)ring % sizeof(uint32_t) || ring_bytes < least ||
        (ring_bytes & (ring_bytes - 1)))
        return -EINVAL;
    struct sg_sdma *queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);
    if (!queue)
        return -ENOMEM;
    memset(queue, 0, sizeof(*queue));
    queue->gpu = gpu;
    queue->ring = ring;
    queue->ring_bytes = ring_bytes;
    int rc = sg_queue_thread_start(&queue->thread, run, queue);
    if (rc)
        free(queue);
    else
        *out = queue;
    return rc;
}

volatile uint64_t *sg_sdma_doorbell(struct sg_sdma *queue)
{
    return &queue->doorbell;
}

uint64_t *sg_sdma_read_index(struct sg_sdma *queue)
{
    return &queue->read;
}

uint64_t *sg_sdma_write_index(struct sg_sdma *queue)
{
    return &queue->write;
}

void sg_sdma_suspend(struct sg_sdma *queue)
{
    sg_queue_thread_suspend(&queue->thread);
}

void sg_sdma_resume(struct sg_sdma *queue)
{
    sg_queue_thread_resume(&queue->thread);
}

void sg_sdma_destroy(struct sg_sdma *queue)
{
    sg_queue_thread_stop(&queue->thread);
    free(queue);
}
