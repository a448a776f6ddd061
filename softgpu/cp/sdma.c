// SPDX-License-Identifier: MIT
// A queue of a copy engine: its thread, doorbell and ring. It waits like an AQL queue (backoff.h).
#include "softgpu/cp/sdma.h"
#include "softgpu/cp/backoff.h"
#include "softgpu/cp/sdma_packets.h"
#include "softgpu/thunk/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
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
    volatile int stop;
    pthread_t thread;
    pthread_mutex_t lock; // guards the rest
    pthread_cond_t changed;
    bool suspended, failed, stopping;
};

// Waits while the queue is suspended or failed. False when it is to end.
static bool may_take(struct sg_sdma *queue)
{
    pthread_mutex_lock(&queue->lock);
    while ((queue->suspended || queue->failed) && !queue->stopping)
        pthread_cond_wait(&queue->changed, &queue->lock);
    bool go_on = !queue->stopping;
    pthread_mutex_unlock(&queue->lock);
    return go_on;
}

// A packet may go around the end of the ring.
static void fetch(const struct sg_sdma *queue, uint32_t *dwords)
{
    for (unsigned i = 0; i < SG_SDMA_MOST_DWORDS; i++)
        dwords[i] = queue->ring[((queue->read + i * sizeof(uint32_t)) & (queue->ring_bytes - 1)) / 4];
}

// Copy engines have no way to report an error but a memory fault: the queue stands still, as on hardware.
static void fail(struct sg_sdma *queue, enum sg_sdma_result result, const uint32_t *dwords, uint64_t address)
{
    pthread_mutex_lock(&queue->lock);
    queue->failed = true;
    pthread_mutex_unlock(&queue->lock);
    if (result == SG_SDMA_BAD) {
        fprintf(stderr, "softgpu: copy engine: packet 0x%08" PRIx32 " is not implemented or cut off\n",
                dwords[0]);
        return;
    }
    fprintf(stderr, "softgpu: copy engine: no memory at 0x%" PRIx64 "\n", address);
    sg_event_memory_fault(queue->gpu, address);
}

// One packet of those rung for.
static enum sg_sdma_result take(struct sg_sdma *queue, uint64_t rung)
{
    uint32_t dwords[SG_SDMA_MOST_DWORDS];
    unsigned length = 0;
    uint64_t address = 0;
    fetch(queue, dwords);
    enum sg_sdma_result result = sg_sdma_execute(dwords, &length, &address);
    if (result == SG_SDMA_DONE && length * sizeof(uint32_t) > rung - queue->read)
        result = SG_SDMA_BAD;
    if (result == SG_SDMA_DONE)
        __atomic_store_n(&queue->read, queue->read + length * sizeof(uint32_t), __ATOMIC_RELEASE);
    else if (result != SG_SDMA_BLOCKED)
        fail(queue, result, dwords, address);
    return result;
}

static void *run(void *arg)
{
    struct sg_sdma *queue = arg;
    struct sg_backoff backoff = {0};
    sg_backoff_thread("softgpu-sdma");
    while (!__atomic_load_n(&queue->stop, __ATOMIC_RELAXED)) {
        uint64_t rung = __atomic_load_n(&queue->doorbell, __ATOMIC_ACQUIRE);
        if (rung <= queue->read) {
            sg_backoff_wait(&backoff);
            continue;
        }
        if (!may_take(queue))
            break;
        if (take(queue, rung) == SG_SDMA_DONE)
            backoff = (struct sg_backoff){0};
        else
            sg_backoff_wait(&backoff);
    }
    return NULL;
}

// Signals of the program must not be handled on this thread, whose stack and locks it knows nothing of.
static int start_thread(struct sg_sdma *queue)
{
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = pthread_create(&queue->thread, NULL, run, queue);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

static void free_queue(struct sg_sdma *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
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
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    int rc = start_thread(queue);
    if (rc)
        free_queue(queue);
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

static void set_suspended(struct sg_sdma *queue, bool suspended)
{
    pthread_mutex_lock(&queue->lock);
    queue->suspended = suspended;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void sg_sdma_suspend(struct sg_sdma *queue)
{
    set_suspended(queue, true);
}

void sg_sdma_resume(struct sg_sdma *queue)
{
    set_suspended(queue, false);
}

void sg_sdma_destroy(struct sg_sdma *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    __atomic_store_n(&queue->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    free_queue(queue);
}
