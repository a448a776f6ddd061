// SPDX-License-Identifier: MIT
// The worker's own queue. Errors come on a thread of the runtime; kreplay notes them and hands them to the
// program's own error callback, because it is the program's dispatch that failed.
#include "hsa/private_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "hsa/state.h"

enum { RING_PACKETS = 1024 };

// Waits come back this often to look for a queue error.
static const uint64_t WAIT_SLICE_NS = 50000000;

struct kr_hsa_queue_health {
    struct kr_hsa_agent *agent;
    _Atomic hsa_status_t error;
    // The program's queue whose dispatch is on the private queue, for its error callback.
    _Atomic(struct kr_hsa_queue *) program;
};

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    struct kr_hsa_queue_health *health = data;
    (void)source;
    atomic_store(&health->error, status);
    struct kr_hsa_queue *program = atomic_load(&health->program);
    if (program && program->error_callback)
        program->error_callback(status, program->handle, program->error_data);
}

int kr_hsa_private_open(struct kr_hsa_agent *agent, struct kr_hsa_private_queue *queue)
{
    uint32_t size = agent->queue_max_size < RING_PACKETS ? agent->queue_max_size : RING_PACKETS;
    struct kr_hsa_queue_health *health = calloc(1, sizeof(*health));
    if (!health)
        return KREPLAY_NO_MEMORY;
    health->agent = agent;
    hsa_status_t status = kr_hsa.api.hsa_queue_create(agent->handle, size, HSA_QUEUE_TYPE_SINGLE, on_error,
                                                      health, UINT32_MAX, UINT32_MAX, &queue->queue);
    if (status != HSA_STATUS_SUCCESS) {
        queue->queue = NULL;
        free(health);
        return KREPLAY_DEVICE;
    }
    queue->health = health;
    kr_hsa.api.hsa_amd_profiling_set_profiler_enabled(queue->queue, 1);
    return KREPLAY_OK;
}

void kr_hsa_private_close(struct kr_hsa_private_queue *queue)
{
    if (!queue->queue)
        return;
    kr_hsa.api.hsa_queue_destroy(queue->queue);
    free(queue->health);
    *queue = (struct kr_hsa_private_queue){0};
}

void kr_hsa_private_serve(struct kr_hsa_private_queue *queue, struct kr_hsa_queue *program)
{
    if (queue->health)
        atomic_store(&queue->health->program, program);
}

uint64_t kr_hsa_private_room(struct kr_hsa_private_queue *queue)
{
    hsa_queue_t *q = queue->queue;
    return q->size - (kr_hsa.api.hsa_queue_load_write_index_relaxed(q) -
                      kr_hsa.api.hsa_queue_load_read_index_scacquire(q));
}

void kr_hsa_private_push(struct kr_hsa_private_queue *queue, const void *packet)
{
    hsa_queue_t *q = queue->queue;
    uint64_t write = kr_hsa.api.hsa_queue_load_write_index_relaxed(q);

    // The header goes last: it is what makes a packet valid.
    char *slot = (char *)q->base_address + (write & (q->size - 1)) * 64;
    uint32_t first;
    memcpy(&first, packet, sizeof(first));
    memcpy(slot + sizeof(first), (const char *)packet + sizeof(first), 64 - sizeof(first));
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    kr_hsa.api.hsa_queue_store_write_index_screlease(q, write + 1);
}

void kr_hsa_private_ring(struct kr_hsa_private_queue *queue)
{
    uint64_t write = kr_hsa.api.hsa_queue_load_write_index_relaxed(queue->queue);
    kr_hsa.api.hsa_signal_store_screlease(queue->queue->doorbell_signal, (hsa_signal_value_t)(write - 1));
}

int kr_hsa_private_wait(struct kr_hsa_private_queue *queue, hsa_signal_t signal, uint64_t timeout_ns)
{
    uint64_t begin = kr_clock_ns();
    for (;;) {
        uint64_t waited = kr_clock_ns() - begin;
        uint64_t left = waited < timeout_ns ? timeout_ns - waited : 0;
        uint64_t slice = left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS;
        uint64_t ticks = (uint64_t)((double)slice * 1e-9 * (double)kr_hsa.timestamp_hz);
        if (kr_hsa.api.hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks,
                                                 HSA_WAIT_STATE_BLOCKED) < 1)
            return KREPLAY_OK;
        if (queue->health && atomic_load(&queue->health->error) != HSA_STATUS_SUCCESS)
            return KREPLAY_DEVICE;
        if (left == 0)
            return KREPLAY_TIMEOUT;
    }
}
