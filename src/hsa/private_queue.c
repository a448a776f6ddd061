// SPDX-License-Identifier: MIT
// The worker's own queue. The runtime reports errors on its event thread, on which all of the program's
// handlers run, too: they are noted there and nothing else. What the program hears of them, it hears from the
// worker, with the records written and the gates open (worker.c).
#include "hsa/private_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "hsa/backoff.h"
#include "hsa/signal_wait.h"
#include "hsa/state.h"
#include "hsa/thread.h"

enum { RING_PACKETS = 1024 };

// Waits come back this often to look for a queue error.
static const uint64_t WAIT_SLICE_NS = 50000000;

struct kr_hsa_queue_health {
    _Atomic hsa_status_t error;
};

static _Atomic unsigned closing; // threads that destroy a queue

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    struct kr_hsa_queue_health *health = data;
    (void)source;
    atomic_store(&health->error, status);
}

int kr_hsa_private_open(struct kr_hsa_agent *agent, struct kr_hsa_private_queue *queue)
{
    uint32_t size = agent->queue_max_size < RING_PACKETS ? agent->queue_max_size : RING_PACKETS;
    struct kr_hsa_queue_health *health = calloc(1, sizeof(*health));
    if (!health)
        return KREPLAY_NO_MEMORY;
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

int kr_hsa_private_halt(struct kr_hsa_private_queue *queue)
{
    if (!queue->queue || kr_hsa.api.hsa_queue_inactivate(queue->queue) == HSA_STATUS_SUCCESS)
        return KREPLAY_OK;
    return KREPLAY_DEVICE;
}

int kr_hsa_private_close(struct kr_hsa_private_queue *queue)
{
    if (!queue->queue)
        return KREPLAY_OK;
    const struct kr_hsa_private_queue old = *queue;
    *queue = (struct kr_hsa_private_queue){0};
    if (kr_hsa.api.hsa_queue_destroy(old.queue) != HSA_STATUS_SUCCESS)
        return KREPLAY_DEVICE; // and its error callback may still come
    free(old.health);
    return KREPLAY_OK;
}

static void *close_now(void *arg)
{
    struct kr_hsa_private_queue *queue = arg;
    kr_hsa_private_close(queue);
    free(queue);
    atomic_fetch_sub(&closing, 1);
    return NULL;
}

void kr_hsa_private_close_later(struct kr_hsa_private_queue *queue)
{
    struct kr_hsa_private_queue *handed = queue->queue ? malloc(sizeof(*handed)) : NULL;
    pthread_t thread;
    if (handed) {
        *handed = *queue;
        atomic_fetch_add(&closing, 1);
        if (kr_hsa_thread_start(&thread, close_now, handed)) {
            pthread_detach(thread);
        } else { // it stays behind
            atomic_fetch_sub(&closing, 1);
            free(handed);
        }
    }
    *queue = (struct kr_hsa_private_queue){0};
}

bool kr_hsa_private_closed(uint64_t timeout_ns)
{
    struct kr_backoff backoff = {0};
    uint64_t begin = kr_clock_ns();
    while (atomic_load(&closing) > 0) {
        if (kr_clock_ns() - begin > timeout_ns)
            return false;
        kr_backoff_wait(&backoff);
    }
    return true;
}

hsa_status_t kr_hsa_private_error(const struct kr_hsa_private_queue *queue)
{
    return queue->health ? atomic_load(&queue->health->error) : HSA_STATUS_SUCCESS;
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
        if (kr_hsa_signal_wait(signal, slice) < 1)
            return KREPLAY_OK;
        if (kr_hsa_private_error(queue) != HSA_STATUS_SUCCESS)
            return KREPLAY_DEVICE;
        if (left == 0)
            return KREPLAY_TIMEOUT;
    }
}
