// SPDX-License-Identifier: MIT
// Owns the translation of packets, in the runtime's callback on the program's thread. It never waits for a
// window, only for room: ROCr keeps what does not fit into its ring in a buffer that may not be used twice,
// and ends the process otherwise. So kreplay knows how full the ring is, by the barriers it has put there,
// and waits before it overflows, which is where the program would have waited for its own ring without
// kreplay.
#include "hsa/intercept.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsa/backoff.h"
#include "hsa/code_objects.h"
#include "hsa/unheld.h"
#include "hsa/worker.h"

enum {
    PACKET_BYTES = 64,
    MOST_PACKETS = 4, // that one becomes: two for a dispatch, four for one that runs in place
    RING_FACTOR = 4,
    LEAST_RING = 1024,
    LEAST_WATCHED = 16,   // a smaller ring has no room for what one packet becomes
    MARKERS_PER_RING = 8, // so that packets other than dispatches are accounted for, too
};

static _Thread_local uint64_t thread_id;

static unsigned packet_type(const void *packet)
{
    return *(const uint16_t *)packet >> HSA_PACKET_HEADER_TYPE & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

static uint64_t barriers_passed(const struct kr_hsa_queue *queue)
{
    return (uint64_t)(KR_HSA_PROGRESS_START - kr_hsa.api.hsa_signal_load_scacquire(queue->progress));
}

// Packets in the hardware's ring, at most.
static uint64_t in_flight(const struct kr_hsa_queue *queue)
{
    uint64_t passed = barriers_passed(queue);
    return queue->written - (passed ? queue->written_at[passed % queue->ring_size] : 0);
}

// False: there will be none, since the queue is dead or the worker cannot make any. More than the ring holds at
// once waits until it is empty; the runtime has a buffer for that.
static bool wait_for_room(const struct kr_hsa_queue *queue, uint64_t packets)
{
    struct kr_backoff backoff = {0};
    uint64_t used;
    while (used = in_flight(queue), used + packets + 1 >= queue->ring_size && used > queue->unmarked + 1) {
        if (atomic_load(&queue->dead) || kr_hsa_worker_self() == queue->agent ||
            atomic_load(&queue->agent->quit))
            return false;
        kr_backoff_wait(&backoff);
    }
    return true;
}

// Room for `packets` packets while they are put together; NULL: out of memory.
static char *scratch(struct kr_hsa_queue *queue, uint64_t packets)
{
    if (packets > queue->scratch_packets) {
        void *grown = realloc(queue->scratch, packets * PACKET_BYTES);
        if (!grown)
            return NULL;
        queue->scratch = grown;
        queue->scratch_packets = packets;
    }
    return queue->scratch;
}

static char *put(struct kr_hsa_queue *queue, char *out, const void *packet)
{
    memcpy(out, packet, PACKET_BYTES);
    queue->written++;
    queue->unmarked++;
    return out + PACKET_BYTES;
}

// A: counts `progress` down when everything before it is done.
static char *put_mark(struct kr_hsa_queue *queue, char *out)
{
    const hsa_barrier_and_packet_t mark = {
        .header = KR_HSA_HEADER(HSA_PACKET_TYPE_BARRIER_AND),
        .completion_signal = queue->progress,
    };
    out = put(queue, out, &mark);
    queue->barriers++;
    queue->unmarked = 0;
    queue->written_at[queue->barriers % queue->ring_size] = queue->written;
    return out;
}

// B: holds back what follows until the worker opens the gate.
static char *put_gate(struct kr_hsa_queue *queue, char *out)
{
    const hsa_barrier_and_packet_t gate = {
        .header = KR_HSA_HEADER(HSA_PACKET_TYPE_BARRIER_AND),
        .dep_signal = {queue->gates[queue->gate_count++ % 2]},
    };
    return put(queue, out, &gate);
}

// One that passes on: its end is counted. The program's own signal stays in its packet, for its times.
static char *put_unheld(struct kr_hsa_queue *queue, char *out, const hsa_kernel_dispatch_packet_t *dispatch)
{
    hsa_kernel_dispatch_packet_t packet = *dispatch;
    if (!packet.completion_signal.handle) {
        packet.completion_signal = queue->unheld;
        return put(queue, out, &packet);
    }
    const hsa_barrier_and_packet_t behind = {
        .header = KR_HSA_HEADER(HSA_PACKET_TYPE_BARRIER_AND),
        .completion_signal = queue->unheld,
    };
    out = put(queue, out, &packet);
    return put(queue, out, &behind);
}

// What stands for a dispatch in the program's queue.
static char *put_dispatch(struct kr_hsa_queue *queue, char *out, struct kr_hsa_dispatch *d)
{
    out = put_mark(queue, out);
    d->barrier = queue->barriers;
    out = put_gate(queue, out);
    if (!d->own_done.handle)
        return out;
    // It runs right here, when the gate opens; another gate keeps what follows until its record is written.
    hsa_kernel_dispatch_packet_t packet = d->packet;
    packet.completion_signal = d->own_done;
    out = put(queue, out, &packet);
    return put_gate(queue, out);
}

static kreplay_dispatch describe(const struct kr_hsa_queue *queue, const struct kr_hsa_kernel *kernel,
                                 const hsa_kernel_dispatch_packet_t *packet)
{
    if (thread_id == 0)
        thread_id = (uint64_t)gettid();
    return (kreplay_dispatch){
        .size = sizeof(kreplay_dispatch),
        .dispatch_id = kr_engine_new_id(kr_hsa.engine, KR_ID_DISPATCH),
        .agent_id = queue->agent->id,
        .queue_id = queue->id,
        .kernel_id = kernel ? kernel->kernel_id : 0,
        .kernel_name = kernel ? kernel->name : "(unknown kernel)",
        .thread_id = thread_id,
        .workgroup = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z},
        .grid = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z},
        .private_segment_bytes = packet->private_segment_size,
        .group_segment_bytes = packet->group_segment_size,
    };
}

static const hsa_kernel_dispatch_packet_t *dispatch_at(const void *packets, uint64_t index)
{
    const void *packet = (const char *)packets + index * PACKET_BYTES;
    return packet_type(packet) == HSA_PACKET_TYPE_KERNEL_DISPATCH ? packet : NULL;
}

static void record_all(const struct kr_hsa_queue *queue, const void *packets, uint64_t count,
                       kreplay_reason reason)
{
    for (uint64_t i = 0; i < count; i++) {
        const hsa_kernel_dispatch_packet_t *packet = dispatch_at(packets, i);
        if (!packet)
            continue;
        const kreplay_dispatch dispatch = describe(queue, kr_hsa_kernel_find(packet->kernel_object), packet);
        kr_engine_record_unseen(kr_hsa.engine, &dispatch, reason);
    }
}

// At the program's end, when the worker takes no more.
static void record_late(const struct kr_hsa_queue *queue, const void *packets, uint64_t count)
{
    if (!kr_hsa_hold_ended())
        return;
    record_all(queue, packets, count, KREPLAY_REASON_PROGRAM_ENDING);
    kr_hsa_release();
}

static struct kr_hsa_dispatch *make_dispatch(struct kr_hsa_queue *queue, const struct kr_hsa_kernel *kernel,
                                             const hsa_kernel_dispatch_packet_t *packet,
                                             const struct kr_op *op)
{
    struct kr_hsa_dispatch *d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->queue = queue;
    d->packet = *packet;
    d->kernel = kernel;
    d->ordinal = queue->gate_count;
    if (queue->in_place && kr_hsa.api.hsa_signal_create(1, 0, NULL, &d->own_done) != HSA_STATUS_SUCCESS) {
        free(d);
        return NULL;
    }
    d->op = *op;
    d->op.backend = d;
    if (kr_hsa_worker_self() == queue->agent)
        d->op.unsafe = KREPLAY_REASON_REENTRANT_DISPATCH;
    return d;
}

// Puts what stands for the program's dispatch, and hands it to the worker if it is held.
static char *translate(struct kr_hsa_queue *queue, char *out, const hsa_kernel_dispatch_packet_t *packet)
{
    const struct kr_hsa_kernel *kernel = kr_hsa_kernel_find(packet->kernel_object);
    struct kr_op op = {.kind = KR_OP_DISPATCH, .dispatch = describe(queue, kernel, packet)};
    if (!kr_engine_screen(kr_hsa.engine, &op) && kr_hsa_unheld_may_pass(queue)) {
        kr_engine_record_filtered(kr_hsa.engine, &op.dispatch);
        return put_unheld(queue, out, packet);
    }
    struct kr_hsa_dispatch *d = make_dispatch(queue, kernel, packet, &op);
    if (!d) {
        kr_hsa_blind(queue->agent, KREPLAY_REASON_UNKNOWN_PACKET, "out of memory, a dispatch passes unseen");
        return put(queue, out, packet);
    }
    out = put_dispatch(queue, out, d);
    kr_hsa_worker_add(queue, d);
    return out;
}

void kr_hsa_intercept(const void *packets, uint64_t count, uint64_t user_index, void *data,
                      kr_hsa_packet_writer writer)
{
    struct kr_hsa_queue *queue = data;
    (void)user_index;
    if (count == 0 || !kr_hsa_hold()) {
        // Order is kept: what the worker still has is held by its B, and this comes behind.
        record_late(queue, packets, count);
        writer(packets, count);
        return;
    }
    char *begin = scratch(queue, MOST_PACKETS * count), *out = begin;
    if (!begin) {
        kr_hsa_blind(queue->agent, KREPLAY_REASON_UNKNOWN_PACKET, "out of memory, packets pass unseen");
        kr_hsa_release();
        writer(packets, count);
        return;
    }
    if (!wait_for_room(queue, MOST_PACKETS * count)) {
        // On a dead queue nothing runs any more. The other case: a tool's callback submits more than fits,
        // from inside the window that would have to end first.
        bool dead = atomic_load(&queue->dead);
        record_all(queue, packets, count,
                   dead ? KREPLAY_REASON_DEVICE_ERROR : KREPLAY_REASON_REENTRANT_DISPATCH);
        kr_hsa_release();
        if (!dead)
            writer(packets, count);
        return;
    }

    const uint32_t mark_every = queue->ring_size / MARKERS_PER_RING;
    for (uint64_t i = 0; i < count; i++) {
        const hsa_kernel_dispatch_packet_t *packet = dispatch_at(packets, i);
        if (packet) {
            out = translate(queue, out, packet);
        } else {
            const void *other = (const char *)packets + i * PACKET_BYTES;
            kr_hsa_unheld_note_packet(queue, other);
            out = put(queue, out, other);
        }
        if (queue->unmarked >= mark_every)
            out = put_mark(queue, out);
    }
    writer(begin, (uint64_t)(out - begin) / PACKET_BYTES);
    kr_hsa_release();
}

static uint32_t ring_size(const struct kr_hsa_agent *agent, uint32_t asked)
{
    uint64_t size = (uint64_t)asked * RING_FACTOR;
    if (size < LEAST_RING)
        size = LEAST_RING;
    return size > agent->queue_max_size ? asked : (uint32_t)size;
}

void kr_hsa_queue_free(struct kr_hsa_queue *queue)
{
    hsa_signal_t signals[] = {queue->progress, queue->gates[0], queue->gates[1], queue->unheld};
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (signals[i].handle)
            kr_hsa.api.hsa_signal_destroy(signals[i]);
    free(queue->written_at);
    free(queue->scratch);
    free(queue);
}

// Signals that only the hardware waits for need no interrupt, of which a process has a limited number.
static bool make_signal(hsa_signal_value_t value, hsa_signal_t *signal)
{
    if (kr_hsa.api.hsa_amd_signal_create(value, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, signal) ==
        HSA_STATUS_SUCCESS)
        return true;
    signal->handle = 0;
    return false;
}

static struct kr_hsa_queue *make_queue(struct kr_hsa_agent *agent, uint32_t size, bool in_place,
                                       kr_hsa_queue_error_fn callback, void *data)
{
    struct kr_hsa_queue *queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->agent = agent;
    queue->ring_size = size;
    queue->error_callback = callback;
    queue->error_data = data;
    queue->in_place = in_place;
    queue->tail = &queue->head;
    queue->written_at = calloc(size, sizeof(*queue->written_at));
    if (queue->written_at && make_signal(KR_HSA_PROGRESS_START, &queue->progress) &&
        make_signal(KR_HSA_PROGRESS_START, &queue->unheld) && make_signal(1, &queue->gates[0]) &&
        make_signal(1, &queue->gates[1]))
        return queue;
    kr_hsa_queue_free(queue);
    return NULL;
}

// An error in the program's own queue: of packets that are not dispatches, or of a dispatch that runs in
// place.
static void on_error(hsa_status_t status, hsa_queue_t *handle, void *data)
{
    struct kr_hsa_queue *queue = data;
    pthread_mutex_lock(&queue->agent->lock);
    atomic_store(&queue->dead, true);
    pthread_cond_broadcast(&queue->agent->finished);
    pthread_mutex_unlock(&queue->agent->lock);
    if (queue->error_callback)
        queue->error_callback(status, handle, queue->error_data);
}

static hsa_status_t create(struct kr_hsa_agent *agent, uint32_t size, hsa_queue_type32_t type,
                           kr_hsa_queue_error_fn callback, void *data, uint32_t private_segment_size,
                           uint32_t group_segment_size, hsa_queue_t **out)
{
    bool in_place = type == HSA_QUEUE_TYPE_COOPERATIVE && kr_hsa.bounds.decline_cooperative;
    struct kr_hsa_queue *queue = make_queue(agent, size, in_place, callback, data);
    if (!queue)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    hsa_status_t status =
        kr_hsa.api.hsa_amd_queue_intercept_create(agent->handle, queue->ring_size, type, on_error, queue,
                                                  private_segment_size, group_segment_size, &queue->handle);
    if (status != HSA_STATUS_SUCCESS) {
        kr_hsa_queue_free(queue);
        return status;
    }
    status = kr_hsa.api.hsa_amd_queue_intercept_register(queue->handle, kr_hsa_intercept, queue);
    if (status != HSA_STATUS_SUCCESS) {
        kr_hsa.api.hsa_queue_destroy(queue->handle);
        kr_hsa_queue_free(queue);
        return status;
    }
    if (queue->in_place) // on kreplay's own queues times are always taken
        kr_hsa.api.hsa_amd_profiling_set_profiler_enabled(queue->handle, 1);
    queue->id = kr_engine_new_id(kr_hsa.engine, KR_ID_QUEUE);
    pthread_mutex_lock(&agent->lock);
    queue->next = agent->queues;
    agent->queues = queue;
    pthread_mutex_unlock(&agent->lock);
    *out = queue->handle;
    return HSA_STATUS_SUCCESS;
}

// A larger ring than asked for has room for what kreplay adds; where there is none, the program's size does.
static hsa_status_t create_watched(struct kr_hsa_agent *agent, uint32_t size, hsa_queue_type32_t type,
                                   kr_hsa_queue_error_fn callback, void *data, uint32_t private_segment_size,
                                   uint32_t group_segment_size, hsa_queue_t **out)
{
    if (size == 0 || (size & (size - 1)) != 0) // not the runtime's to refuse when it sees another size
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    uint32_t large = ring_size(agent, size);
    hsa_status_t status =
        create(agent, large, type, callback, data, private_segment_size, group_segment_size, out);
    if (status == HSA_STATUS_SUCCESS || large == size || size < LEAST_WATCHED)
        return status;
    return create(agent, size, type, callback, data, private_segment_size, group_segment_size, out);
}

hsa_status_t kr_hsa_hook_queue_create(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type,
                                      kr_hsa_queue_error_fn callback, void *data,
                                      uint32_t private_segment_size, uint32_t group_segment_size,
                                      hsa_queue_t **out)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_queue_create(handle, size, type, callback, data, private_segment_size,
                                           group_segment_size, out);
    struct kr_hsa_agent *agent = kr_hsa_agent_of(handle);
    hsa_status_t status = HSA_STATUS_ERROR;
    if (agent && out && kr_hsa_worker_ready(agent))
        status =
            create_watched(agent, size, type, callback, data, private_segment_size, group_segment_size, out);
    if (status != HSA_STATUS_SUCCESS) {
        // What the runtime refuses, too, is between the program and it.
        status = kr_hsa.api.hsa_queue_create(handle, size, type, callback, data, private_segment_size,
                                             group_segment_size, out);
        if (agent && status == HSA_STATUS_SUCCESS)
            kr_hsa_blind(agent, KREPLAY_REASON_UNKNOWN_PACKET,
                         "a queue cannot be watched, and its dispatches are not recorded");
    }
    kr_hsa_release();
    return status;
}

// What passed on and still runs goes on running until the runtime has destroyed its queue: no window may begin before.
static hsa_status_t destroy(struct kr_hsa_queue *queue, hsa_queue_t *handle)
{
    struct kr_hsa_agent *agent = queue->agent;
    bool runs = !kr_hsa_unheld_queue_idle(queue);
    if (runs)
        kr_gate_enter(kr_hsa.engine, agent->id);
    uint64_t id = queue->id, left = kr_hsa_worker_abandon(queue);
    // They stay unrun, as they would have on the hardware.
    if (left > 0)
        kr_engine_message(kr_hsa.engine,
                          "queue %llu was destroyed with %llu dispatches in it that did not come to run",
                          (unsigned long long)id, (unsigned long long)left);
    hsa_status_t status = kr_hsa.api.hsa_queue_destroy(handle);
    if (runs)
        kr_gate_leave(kr_hsa.engine, agent->id);
    if (status == HSA_STATUS_SUCCESS)
        kr_hsa_worker_forget(queue);
    return status;
}

static struct kr_hsa_queue *find_queue(const hsa_queue_t *handle)
{
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        struct kr_hsa_agent *agent = &kr_hsa.agents[i];
        pthread_mutex_lock(&agent->lock);
        struct kr_hsa_queue *queue = agent->queues;
        while (queue && queue->handle != handle)
            queue = queue->next;
        pthread_mutex_unlock(&agent->lock);
        if (queue)
            return queue;
    }
    return NULL;
}

hsa_status_t kr_hsa_hook_queue_destroy(hsa_queue_t *handle)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_queue_destroy(handle);
    struct kr_hsa_queue *queue = find_queue(handle);
    if (queue)
        kr_hsa_worker_finish(queue, kr_hsa.bounds.queue_drain_ns);
    hsa_status_t status = queue ? destroy(queue, handle) : kr_hsa.api.hsa_queue_destroy(handle);
    kr_hsa_release();
    return status;
}
