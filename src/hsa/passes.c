// SPDX-License-Identifier: MIT
// One pass: [start counters] dispatch [read, stop counters] for each operation, in order, on the agent's
// private queue.
#include "hsa/passes.h"

#include <stdlib.h>
#include <string.h>

#include "hsa/counters.h"

enum { PACKETS_PER_OP = 4 };

static void free_slot(struct kr_hsa_slot *slot)
{
    if (slot->done.handle)
        kr_hsa.api.hsa_signal_destroy(slot->done);
    if (slot->counted.handle)
        kr_hsa.api.hsa_signal_destroy(slot->counted);
    *slot = (struct kr_hsa_slot){{0}, {0}};
}

static int make_slot(struct kr_hsa_slot *slot)
{
    *slot = (struct kr_hsa_slot){{0}, {0}};
    if (kr_hsa.api.hsa_signal_create(1, 0, NULL, &slot->done) != HSA_STATUS_SUCCESS) {
        slot->done.handle = 0;
        return KREPLAY_DEVICE;
    }
    if (kr_hsa.api.hsa_signal_create(1, 0, NULL, &slot->counted) != HSA_STATUS_SUCCESS) {
        slot->counted.handle = 0;
        free_slot(slot);
        return KREPLAY_DEVICE;
    }
    return KREPLAY_OK;
}

static int reserve(struct kr_hsa_agent *agent, size_t count)
{
    if (count > agent->op_capacity) {
        struct kr_op **ops = realloc(agent->ops, count * sizeof(*ops));
        if (!ops)
            return KREPLAY_NO_MEMORY;
        agent->ops = ops;
        agent->op_capacity = count;
    }
    if (count <= agent->slot_count)
        return KREPLAY_OK;
    struct kr_hsa_slot *slots = realloc(agent->slots, count * sizeof(*slots));
    if (!slots)
        return KREPLAY_NO_MEMORY;
    agent->slots = slots;
    while (agent->slot_count < count) {
        int status = make_slot(&slots[agent->slot_count]);
        if (status != KREPLAY_OK)
            return status;
        agent->slot_count++;
    }
    return KREPLAY_OK;
}

int kr_hsa_pass_begin(void *ctx, uint32_t agent_id, kreplay_group *group, size_t op_count)
{
    (void)ctx;
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    int status = KREPLAY_OK;
    // Counter packets around a dispatch in the program's own queue would have had to be there before.
    if (group && agent->current->own_done.handle)
        return KREPLAY_UNAVAILABLE;
    if (!agent->runner.queue)
        status = kr_hsa_private_open(agent, &agent->runner);
    if (status == KREPLAY_OK)
        status = reserve(agent, op_count);
    if (status == KREPLAY_OK && group)
        status = kr_hsa_group_reserve((struct kr_hsa_group *)group, op_count);
    if (status != KREPLAY_OK)
        return status;
    agent->group = (struct kr_hsa_group *)group;
    agent->op_count = 0;
    return KREPLAY_OK;
}

int kr_hsa_submit(void *ctx, uint32_t agent_id, struct kr_op *op, size_t index)
{
    (void)ctx;
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    struct kr_hsa_dispatch *dispatch = op->backend;
    struct kr_hsa_slot *slot = &agent->slots[index];
    hsa_kernel_dispatch_packet_t packet = dispatch->packet;

    if (dispatch->own_done.handle) {
        kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[dispatch->ordinal % 2], 0);
        dispatch->submitted = true;
        agent->ops[agent->op_count++] = op;
        return KREPLAY_OK;
    }
    if (kr_hsa_private_room(&agent->runner) < PACKETS_PER_OP)
        return KREPLAY_NO_SLOT;
    kr_hsa.api.hsa_signal_store_screlease(slot->done, 1);
    packet.header = KR_HSA_HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH);
    packet.completion_signal = slot->done;
    if (agent->group) {
        const struct kr_hsa_counter_packets around = kr_hsa_group_packets(agent->group, index);
        hsa_barrier_and_packet_t stop; // any packet has its completion signal in the last 8 bytes
        _Static_assert(sizeof(stop) == 64, "AQL packets have 64 bytes");
        memcpy(&stop, around.stop, sizeof(stop));
        stop.completion_signal = slot->counted;
        kr_hsa.api.hsa_signal_store_screlease(slot->counted, 1);
        kr_hsa_private_push(&agent->runner, around.start);
        kr_hsa_private_push(&agent->runner, &packet);
        kr_hsa_private_push(&agent->runner, around.read);
        kr_hsa_private_push(&agent->runner, &stop);
    } else {
        kr_hsa_private_push(&agent->runner, &packet);
    }
    kr_hsa_private_ring(&agent->runner);
    dispatch->submitted = true;
    agent->ops[agent->op_count++] = op;
    return KREPLAY_OK;
}

static hsa_signal_t done_signal(const struct kr_hsa_dispatch *dispatch, const struct kr_hsa_slot *slot)
{
    return dispatch->own_done.handle ? dispatch->own_done : slot->done;
}

// Times of a dispatch that is done; the first ones are those of the live execution. A start of 0: the queue
// takes no times.
static void take_times(struct kr_hsa_agent *agent, struct kr_hsa_dispatch *dispatch, hsa_signal_t done,
                       struct kr_op_result *result)
{
    const amd_signal_t *shared = (const amd_signal_t *)(uintptr_t)done.handle;
    if (!dispatch->live_done) {
        dispatch->start_ticks = shared->start_ts;
        dispatch->end_ticks = shared->end_ts;
        dispatch->live_known = shared->start_ts != 0;
        dispatch->live_done = true;
    }
    hsa_amd_profiling_dispatch_time_t time = {0};
    if (!result || shared->start_ts == 0 ||
        kr_hsa.api.hsa_amd_profiling_get_dispatch_time(agent->handle, done, &time) != HSA_STATUS_SUCCESS)
        return;
    result->start_ns = kr_hsa_ticks_to_ns(time.start);
    result->end_ns = kr_hsa_ticks_to_ns(time.end);
}

// Of a dispatch that runs in the program's own queue it is that queue which reports errors.
static int wait_done(struct kr_hsa_private_queue *queue, const struct kr_hsa_dispatch *dispatch,
                     hsa_signal_t signal, uint64_t timeout_ns)
{
    static const uint64_t slice_ns = 50000000;
    struct kr_hsa_private_queue none = {0};
    if (!dispatch->own_done.handle)
        return kr_hsa_private_wait(queue, signal, timeout_ns);
    for (uint64_t left = timeout_ns;; left -= slice_ns) {
        int status = kr_hsa_private_wait(&none, signal, left < slice_ns ? left : slice_ns);
        if (status != KREPLAY_TIMEOUT)
            return status;
        if (atomic_load(&dispatch->queue->dead))
            return KREPLAY_DEVICE;
        if (left <= slice_ns)
            return KREPLAY_TIMEOUT;
    }
}

// The last signal of the pass under way.
static hsa_signal_t last_signal(const struct kr_hsa_agent *agent)
{
    const struct kr_hsa_slot *slot = &agent->slots[agent->op_count - 1];
    return agent->group ? slot->counted : done_signal(agent->ops[agent->op_count - 1]->backend, slot);
}

// A live execution that ends in an error is the program's to hear of, see worker.c; one of a pass is not.
static void note_failure(struct kr_hsa_dispatch *dispatch, const struct kr_hsa_private_queue *queue)
{
    if (dispatch->live_done)
        return;
    hsa_status_t error = kr_hsa_private_error(queue);
    dispatch->failed = error != HSA_STATUS_SUCCESS ? error : HSA_STATUS_ERROR;
    dispatch->live_done = true;
}

int kr_hsa_pass_end(void *ctx, uint32_t agent_id, uint64_t timeout_ns, struct kr_op_result *results)
{
    (void)ctx;
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    if (agent->op_count == 0)
        return KREPLAY_OK;
    int status =
        wait_done(&agent->runner, agent->ops[agent->op_count - 1]->backend, last_signal(agent), timeout_ns);
    if (status == KREPLAY_DEVICE) {
        // The queue is dead, and with it whatever was on it. What had ended before has its own result.
        for (size_t i = 0; i < agent->op_count; i++)
            note_failure(agent->ops[i]->backend, &agent->runner);
        if (kr_hsa_private_error(&agent->runner) != HSA_STATUS_SUCCESS) {
            kr_hsa_private_halt(&agent->runner);
            kr_hsa_private_close_later(&agent->runner);
        }
        return status;
    }
    if (status != KREPLAY_OK)
        return status;
    for (size_t i = 0; i < agent->op_count; i++) {
        struct kr_hsa_dispatch *dispatch = agent->ops[i]->backend;
        take_times(agent, dispatch, done_signal(dispatch, &agent->slots[i]), &results[i]);
        if (agent->group && status == KREPLAY_OK)
            status = kr_hsa_group_read(agent->group, i, results[i].values, &results[i].value_count);
    }
    return status;
}

int kr_hsa_cancel(void *ctx, uint32_t agent_id)
{
    (void)ctx;
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    int status = kr_hsa_private_halt(&agent->runner);
    if (status != KREPLAY_OK) {
        if (agent->op_count > 0) // drain_agent waits for it
            agent->straying = last_signal(agent);
        return status;
    }
    kr_hsa_private_close_later(&agent->runner); // the next pass opens a new one
    return KREPLAY_OK;
}

// The queue with what runs on it, and the signals, become the dispatch's; the agent goes on with new ones.
static void hand_over(struct kr_hsa_agent *agent, struct kr_hsa_dispatch *dispatch, size_t index)
{
    if (dispatch->own_done.handle) {
        dispatch->runs_until = dispatch->own_done;
        return;
    }
    dispatch->runs_on = agent->runner;
    dispatch->runs_in = agent->slots[index];
    dispatch->runs_until = agent->group ? dispatch->runs_in.counted : dispatch->runs_in.done;
    dispatch->runs_counted = agent->group;
    if (agent->group)
        kr_hsa_group_hold(agent->group);
    agent->runner = (struct kr_hsa_private_queue){0};
    agent->slots[index] = agent->slots[--agent->slot_count];
}

void kr_hsa_detach(void *ctx, uint32_t agent_id, struct kr_window *window)
{
    (void)ctx;
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    struct kr_hsa_dispatch *dispatch = window->backend;
    if (dispatch->submitted)
        hand_over(agent, dispatch, 0);
    dispatch->recorded = true;
    atomic_fetch_add(&agent->recorded, 1);
    kr_hsa_detached_add(dispatch);
}

void kr_hsa_detached_add(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_agent *agent = dispatch->queue->agent;
    dispatch->detached = true;
    dispatch->next = agent->detached;
    agent->detached = dispatch;
    atomic_fetch_add(&agent->detached_count, 1);
}

// Submits a detached dispatch, on a queue of its own. False: that cannot be now, and is tried again.
static bool start_detached(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_agent *agent = dispatch->queue->agent;
    if (dispatch->own_done.handle) {
        kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[dispatch->ordinal % 2], 0);
        dispatch->runs_until = dispatch->own_done;
        dispatch->submitted = true;
        return true;
    }
    if (!dispatch->runs_on.queue) { // between windows nothing is on the runner
        dispatch->runs_on = agent->runner;
        agent->runner = (struct kr_hsa_private_queue){0};
    }
    if (!dispatch->runs_on.queue && kr_hsa_private_open(agent, &dispatch->runs_on) != KREPLAY_OK)
        return false;
    if (!dispatch->runs_in.done.handle && make_slot(&dispatch->runs_in) != KREPLAY_OK)
        return false;
    hsa_kernel_dispatch_packet_t packet = dispatch->packet;
    packet.header = KR_HSA_HEADER(HSA_PACKET_TYPE_KERNEL_DISPATCH);
    packet.completion_signal = dispatch->runs_in.done;
    dispatch->runs_until = dispatch->runs_in.done;
    kr_hsa_private_push(&dispatch->runs_on, &packet);
    kr_hsa_private_ring(&dispatch->runs_on);
    dispatch->submitted = true;
    return true;
}

static void forget_detached(struct kr_hsa_dispatch *dispatch, bool healthy)
{
    struct kr_hsa_agent *agent = dispatch->queue->agent;
    if (healthy && !agent->runner.queue) {
        agent->runner = dispatch->runs_on;
        dispatch->runs_on = (struct kr_hsa_private_queue){0};
    }
    kr_hsa_private_close_later(&dispatch->runs_on);
    free_slot(&dispatch->runs_in);
    kr_hsa_group_let_go(dispatch->runs_counted);
    dispatch->runs_counted = NULL;
}

bool kr_hsa_detached_done(struct kr_hsa_dispatch *dispatch, bool unwanted)
{
    int status = KREPLAY_TIMEOUT;
    if (dispatch->submitted || (!unwanted && start_detached(dispatch)))
        status = wait_done(&dispatch->runs_on, dispatch, dispatch->runs_until, 0);
    if (status == KREPLAY_TIMEOUT) {
        // With its queue the program has given up the dispatch, as it would have on the hardware.
        if (!unwanted || kr_hsa_private_halt(&dispatch->runs_on) != KREPLAY_OK)
            return false;
    }
    if (status == KREPLAY_OK)
        take_times(dispatch->queue->agent, dispatch, done_signal(dispatch, &dispatch->runs_in), NULL);
    if (status == KREPLAY_DEVICE) {
        note_failure(dispatch, &dispatch->runs_on);
        kr_hsa_private_halt(&dispatch->runs_on);
    }
    forget_detached(dispatch, status == KREPLAY_OK);
    return true;
}

void kr_hsa_detached_drop(struct kr_hsa_dispatch *dispatch)
{
    kr_hsa_private_close(&dispatch->runs_on);
    free_slot(&dispatch->runs_in);
    kr_hsa_group_let_go(dispatch->runs_counted);
}

bool kr_hsa_strays(struct kr_hsa_agent *agent)
{
    if (agent->straying.handle && kr_hsa.api.hsa_signal_load_scacquire(agent->straying) < 1)
        agent->straying.handle = 0;
    return agent->straying.handle != 0;
}

void kr_hsa_passes_close(struct kr_hsa_agent *agent)
{
    kr_hsa_private_close(&agent->runner);
    while (agent->slot_count > 0)
        free_slot(&agent->slots[--agent->slot_count]);
    free(agent->slots);
    free(agent->ops);
    agent->slots = NULL;
    agent->ops = NULL;
    agent->op_capacity = 0;
}
