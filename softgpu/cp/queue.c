// SPDX-License-Identifier: MIT
// A user queue: its thread, doorbell and ring.
//
// ROCr stores packet indices to the doorbell with a plain store that nothing can hook, so the thread polls
// (backoff.h). The same holds for a packet whose dependencies are not met.
//
// The doorbell only says that there is something to look at, because producers of one queue may ring it out
// of order and a lower index may overwrite a higher one unseen. After a ring, packets are taken as long as
// their headers are valid; looking ends at the first invalid one that was not rung for.
#include "softgpu/cp/queue.h"
#include "softgpu/cp/aql.h"
#include "softgpu/cp/backoff.h"
#include "softgpu/cp/queue_thread.h"
#include "softgpu/cp/signal.h"
#include "softgpu/model/model.h"
#include "softgpu/thunk/gpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES 64u

struct sg_queue {
    _Alignas(64) volatile int64_t doorbell; // written by the program
    _Alignas(64) struct sg_aql aql;
    unsigned char *ring;
    uint64_t packets; // ring size, a power of two
    // The thread's own: highest index rung for, whether packets may be there, and the index of the next one.
    int64_t rung;
    bool looking;
    uint64_t next;
    struct sg_queue_thread thread;
};

static uint16_t *header_of(const struct sg_queue *queue, uint64_t index)
{
    return (uint16_t *)(queue->ring + (index & (queue->packets - 1)) * PACKET_BYTES);
}

// True when the packet at `next` may be taken.
static bool is_ready(struct sg_queue *queue)
{
    int64_t bell = __atomic_load_n(&queue->doorbell, __ATOMIC_ACQUIRE);
    if (bell > queue->rung) {
        queue->rung = bell;
        queue->looking = true;
    }
    if (!queue->looking)
        return false;
    uint16_t header = __atomic_load_n(header_of(queue, queue->next), __ATOMIC_ACQUIRE);
    if ((header & 0xff) != HSA_PACKET_TYPE_INVALID)
        return true;
    queue->looking = queue->rung >= (int64_t)queue->next; // rung for, but not written yet
    return false;
}

// The slot is given back to the producers, then the program is told: whoever waits for the signal finds the
// room free.
static void retire(struct sg_queue *queue, uint64_t start_ts)
{
    hsa_signal_t completion;
    uint16_t *header = header_of(queue, queue->next);
    memcpy(&completion, (const char *)header + 56, sizeof(completion));
    uint64_t end_ts = sg_gpu_clock();
    __atomic_store_n(header, (uint16_t)HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    queue->next++;
    __atomic_store_n(&queue->aql.amd_queue->read_dispatch_id, queue->next, __ATOMIC_RELEASE);
    sg_signal_complete(completion, start_ts, end_ts);
}

// The read index stays at the packet: ROCr's error handler reads it there.
static void report(struct sg_queue *queue, const struct sg_aql_error *error)
{
    sg_queue_thread_fail(&queue->thread);
    fprintf(stderr, "softgpu: %s\n", error->text);
    if (error->is_memory_fault && !sg_event_memory_fault(queue->aql.gpu, error->address))
        return;
    sg_signal_store(queue->aql.amd_queue->queue_inactive_signal, (int64_t)(uint64_t)error->code);
}

static void *run(void *arg)
{
    struct sg_queue *queue = arg;
    struct sg_backoff backoff = {0};
    struct sg_aql_error error;
    sg_backoff_thread("softgpu-queue");
    for (;;) {
        if (!is_ready(queue)) {
            if (sg_queue_thread_ends(&queue->thread))
                break;
            sg_backoff_wait(&backoff);
            continue;
        }
        if (!sg_queue_thread_may_take(&queue->thread))
            break;
        uint64_t start_ts = sg_gpu_clock();
        switch (sg_aql_execute(&queue->aql, header_of(queue, queue->next), queue->next, &error)) {
        case SG_AQL_DONE:
            retire(queue, start_ts);
            backoff = (struct sg_backoff){0};
            break;
        case SG_AQL_BLOCKED:
            sg_backoff_wait(&backoff);
            break;
        case SG_AQL_STOPPED:
            return NULL;
        case SG_AQL_FAILED:
            report(queue, &error);
            break;
        }
    }
    return NULL;
}

int sg_queue_create(struct sg_gpu *gpu, void *ring, uint64_t ring_bytes, void *amd_queue,
                    struct sg_queue **out)
{
    uint64_t packets = ring_bytes / PACKET_BYTES;
    if (!gpu || !ring || !amd_queue || !packets || (packets & (packets - 1)) || ring_bytes % PACKET_BYTES)
        return -EINVAL;
    struct sg_queue *queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);
    if (!queue)
        return -ENOMEM;
    memset(queue, 0, sizeof(*queue));
    queue->aql.gpu = gpu;
    queue->aql.amd_queue = amd_queue;
    queue->ring = ring;
    queue->packets = packets;
    queue->doorbell = queue->rung = -1;
    queue->next = queue->aql.amd_queue->read_dispatch_id;
    int rc = sg_queue_thread_start(&queue->thread, run, queue);
    if (rc)
        free(queue);
    else
        *out = queue;
    return rc;
}

volatile int64_t *sg_queue_doorbell(struct sg_queue *queue)
{
    return &queue->doorbell;
}

void sg_queue_suspend(struct sg_queue *queue)
{
    sg_queue_thread_suspend(&queue->thread);
}

void sg_queue_resume(struct sg_queue *queue)
{
    sg_queue_thread_resume(&queue->thread);
}

void sg_queue_destroy(struct sg_queue *queue)
{
    __atomic_store_n(&queue->aql.stop, 1, __ATOMIC_RELAXED);
    sg_queue_thread_stop(&queue->thread);
    sg_model_destroy(queue->aql.model);
    free(queue);
}
