// SPDX-License-Identifier: MIT
// Owns the order in which dispatches are run, and what the hardware queue does meanwhile.
//
// In the program's queue each dispatch is replaced by two barrier packets. A (completion: count `progress`
// down) says that everything before it is done. B (dependency: a gate signal) holds back everything behind it
// until the worker opens it. Two gate signals are enough for any number of dispatches: B of dispatch n is
// looked at only after B of n-1 was passed, and that A of n was reached shows that it was; so the worker
// closes the gate of n-1 again when it takes up n, before it opens the one of n, and only then can B of n+1,
// which uses the gate of n-1, come into view.
//
// A dispatch whose A is behind something that a later dispatch of another queue must bring about does not
// hold that one up: of all queues' first waiting dispatches the worker runs the one that arrived first among
// those reached.
//
// A dispatch that ends in an error of its queue keeps its signal and its gate as they are: nothing behind it
// runs any more, as on the hardware. The program's error callback is called from here when the record is
// written and no gate is held, since it may free memory, and may end the program.
#include "hsa/worker.h"

#include <stdlib.h>

#include "engine/clock.h"
#include "hsa/backoff.h"
#include "hsa/flight.h"
#include "hsa/host_pointers.h"
#include "hsa/intercept.h"
#include "hsa/kernarg.h"
#include "hsa/passes.h"
#include "hsa/thread.h"
#include "hsa/unheld.h"

static _Thread_local struct kr_hsa_agent *self;

struct kr_hsa_agent *kr_hsa_worker_self(void)
{
    return self;
}

static bool reached(const struct kr_hsa_dispatch *dispatch)
{
    hsa_signal_value_t left = kr_hsa.api.hsa_signal_load_scacquire(dispatch->queue->progress);
    return (uint64_t)(KR_HSA_PROGRESS_START - left) >= dispatch->barrier;
}

// With the agent lock held. Takes the dispatch to run next off its list.
static struct kr_hsa_dispatch *take_next(struct kr_hsa_agent *agent, bool *waiting)
{
    struct kr_hsa_queue *best = NULL;
    *waiting = false;
    for (struct kr_hsa_queue *q = agent->queues; q; q = q->next) {
        if (!q->head || atomic_load(&q->dead))
            continue;
        *waiting = true;
        if ((!best || q->head->sequence < best->head->sequence) && reached(q->head))
            best = q;
    }
    if (!best)
        return NULL;
    struct kr_hsa_dispatch *dispatch = best->head;
    best->head = dispatch->next;
    if (!best->head)
        best->tail = &best->head;
    dispatch->next = NULL;
    return dispatch;
}

static void over(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    struct kr_hsa_agent *agent = queue->agent;
    pthread_mutex_lock(&agent->lock);
    bool last = --queue->unfinished == 0 && queue->gone;
    if (dispatch->recorded)
        atomic_fetch_sub(&agent->recorded, 1);
    pthread_cond_broadcast(&agent->finished);
    pthread_mutex_unlock(&agent->lock);
    kr_hsa_worker_free(dispatch);
    if (last)
        kr_hsa_queue_free(queue);
}

void kr_hsa_worker_free(struct kr_hsa_dispatch *dispatch)
{
    if (dispatch->in_flight)
        kr_hsa_flight_end();
    if (dispatch->own_done.handle)
        kr_hsa.api.hsa_signal_destroy(dispatch->own_done);
    free(dispatch);
}

static void complete_signal(struct kr_hsa_dispatch *dispatch)
{
    hsa_signal_t signal = dispatch->packet.completion_signal;
    if (!signal.handle)
        return;
    // The layout of a signal is part of the platform's public binary interface (amd_hsa_signal.h). The times
    // come before the value, since the program reads them when it sees the value.
    amd_signal_t *shared = (amd_signal_t *)(uintptr_t)signal.handle;
    if (dispatch->live_known) {
        shared->start_ts = dispatch->start_ticks;
        shared->end_ts = dispatch->end_ticks;
    }
    kr_hsa.api.hsa_signal_subtract_screlease(signal, 1);
}

static void open_gate(struct kr_hsa_dispatch *dispatch)
{
    // Of a dispatch that ran in place the first gate was passed; it is the second that holds the program.
    uint64_t last = dispatch->ordinal;
    if (dispatch->own_done.handle) {
        kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[last % 2], 1);
        last++;
    }
    kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[last % 2], 0);
}

// With the agent lock held, which is given up meanwhile if something passes on behind the gate: that must not come to
// run inside a window of another GPU that shuts this one's gate. Returns whether the engine's gate was entered.
static bool let_go_on(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_agent *agent = dispatch->queue->agent;
    bool inside = kr_gate_inside(kr_hsa.engine, agent->id), entered = false;
    while (!dispatch->queue->destroyed) {
        if (kr_hsa_unheld_may_open(dispatch, inside || entered)) {
            open_gate(dispatch);
            break;
        }
        pthread_mutex_unlock(&agent->lock);
        kr_gate_enter(kr_hsa.engine, agent->id);
        pthread_mutex_lock(&agent->lock);
        entered = true;
    }
    return entered;
}

void kr_hsa_dispatch_complete(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    struct kr_hsa_agent *agent = queue->agent;
    bool entered = false;
    // The lock keeps the program's signal alive: a queue's destruction does not end without it.
    pthread_mutex_lock(&agent->lock);
    if (dispatch->failed != HSA_STATUS_SUCCESS) {
        atomic_store(&queue->dead, true);
        queue->telling = true;
        pthread_cond_broadcast(&agent->finished);
    } else if (!queue->destroyed) {
        complete_signal(dispatch);
        entered = let_go_on(dispatch);
    }
    pthread_mutex_unlock(&agent->lock);
    if (entered)
        kr_gate_leave(kr_hsa.engine, agent->id);
}

// The queue's destruction waits for this, as the runtime's own waits for the callback. What
// runs in place fails in the program's own queue, and there the runtime has called it.
static void tell_program(struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    if (!dispatch->recorded)
        atomic_fetch_add(&queue->agent->recorded, 1);
    dispatch->recorded = true;
    if (queue->error_callback && !dispatch->own_done.handle)
        queue->error_callback(dispatch->failed, queue->handle, queue->error_data);
    pthread_mutex_lock(&queue->agent->lock);
    queue->telling = false;
    pthread_mutex_unlock(&queue->agent->lock);
    over(dispatch);
}

static void before_run(struct kr_hsa_dispatch *dispatch)
{
    if (dispatch->ordinal > 0)
        kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[(dispatch->ordinal - 1) % 2], 1);
}

static void run(struct kr_hsa_dispatch *dispatch, bool ending)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    before_run(dispatch);
    if (ending)
        dispatch->op.unsafe = KREPLAY_REASON_PROGRAM_ENDING;
    else if (dispatch->op.unsafe == KREPLAY_REASON_NONE)
        dispatch->op.unsafe = kr_hsa_kernarg_check(dispatch);
    dispatch->window = (struct kr_window){
        .agent = queue->agent->id,
        .queue = queue,
        .ops = &dispatch->op,
        .op_count = 1,
        .backend = dispatch,
    };
    queue->agent->current = dispatch;
    kr_hsa_host_pointers_begin(queue->agent);
    kr_window_run(kr_hsa.engine, &dispatch->window);
    kr_hsa_host_pointers_end(queue->agent);
    queue->agent->current = NULL;
    if (dispatch->detached)
        return;
    if (dispatch->failed != HSA_STATUS_SUCCESS)
        tell_program(dispatch);
    else
        over(dispatch);
}

// Its record was written when nobody knew whether it would still come to run.
static void run_late(struct kr_hsa_dispatch *dispatch)
{
    uint32_t agent = dispatch->queue->agent->id;
    before_run(dispatch);
    kr_gate_enter(kr_hsa.engine, agent); // not inside another GPU's window; that one's drain waits for it
    kr_hsa_detached_add(dispatch);
    kr_gate_leave(kr_hsa.engine, agent);
}

void kr_hsa_worker_reap(struct kr_hsa_agent *agent)
{
    for (struct kr_hsa_dispatch **at = &agent->detached; *at;) {
        struct kr_hsa_dispatch *dispatch = *at;
        pthread_mutex_lock(&agent->lock);
        bool unwanted = dispatch->queue->destroyed;
        pthread_mutex_unlock(&agent->lock);
        if (!kr_hsa_detached_done(dispatch, unwanted)) {
            at = &dispatch->next;
            continue;
        }
        *at = dispatch->next;
        kr_hsa_dispatch_complete(dispatch);
        atomic_fetch_sub(&agent->detached_count, 1);
        if (dispatch->failed == HSA_STATUS_SUCCESS || unwanted) {
            over(dispatch);
            continue;
        }
        dispatch->next = agent->failed; // this may be inside a window: later
        agent->failed = dispatch;
    }
}

// Outside all gates.
static void look_after_detached(struct kr_hsa_agent *agent)
{
    kr_hsa_worker_reap(agent);
    while (agent->failed) {
        struct kr_hsa_dispatch *dispatch = agent->failed;
        agent->failed = dispatch->next;
        tell_program(dispatch);
    }
}

// With the agent lock held: a dispatch without a record, marked as one that has it.
static struct kr_hsa_dispatch *take_unrecorded(struct kr_hsa_agent *agent)
{
    for (struct kr_hsa_queue *q = agent->queues; q; q = q->next)
        for (struct kr_hsa_dispatch *d = q->head; d; d = d->next)
            if (!d->recorded) {
                d->recorded = true;
                atomic_fetch_add(&agent->recorded, 1);
                return d;
            }
    return NULL;
}

static kreplay_reason why_waiting(const struct kr_hsa_queue *queue, kreplay_reason otherwise)
{
    return atomic_load(&queue->dead) ? KREPLAY_REASON_DEVICE_ERROR : otherwise;
}

// With the agent lock held, which is given up meanwhile: writes the records of all that waits.
static void settle(struct kr_hsa_agent *agent)
{
    struct kr_hsa_dispatch *dispatch;
    while ((dispatch = take_unrecorded(agent)) != NULL) {
        const kreplay_dispatch copy = dispatch->op.dispatch; // the queue's destruction may free it
        kreplay_reason reason = why_waiting(dispatch->queue, KREPLAY_REASON_PROGRAM_ENDING);
        pthread_mutex_unlock(&agent->lock);
        kr_engine_record_unseen(kr_hsa.engine, &copy, reason);
        pthread_mutex_lock(&agent->lock);
    }
    agent->settled = true;
    pthread_cond_broadcast(&agent->finished);
}

static void *work(void *arg)
{
    struct kr_hsa_agent *agent = arg;
    struct kr_backoff backoff = {0};
    uint64_t moved_ns = kr_clock_ns();
    bool waiting;

    self = agent;
    pthread_mutex_lock(&agent->lock);
    while (!agent->quit) {
        struct kr_hsa_dispatch *dispatch = take_next(agent, &waiting);
        bool stopping = agent->stopping;
        if (dispatch) {
            pthread_mutex_unlock(&agent->lock);
            if (dispatch->recorded)
                run_late(dispatch);
            else
                run(dispatch, stopping && kr_clock_ns() > agent->decline_from_ns);
            look_after_detached(agent);
            pthread_mutex_lock(&agent->lock);
            backoff.turns = 0;
            moved_ns = kr_clock_ns();
            continue;
        }
        if (stopping && !waiting && !agent->detached)
            break;
        // At the end of the program what cannot be reached now has only to be in the log. It still runs if
        // something that ends later lets it.
        if (stopping && !agent->settled &&
            (!waiting || kr_clock_ns() - moved_ns > kr_hsa.bounds.exit_stall_ns))
            settle(agent);
        if (!waiting && !agent->detached) {
            pthread_cond_wait(&agent->work, &agent->lock);
            backoff.turns = 0;
            moved_ns = kr_clock_ns();
            continue;
        }
        pthread_mutex_unlock(&agent->lock);
        kr_backoff_wait(&backoff);
        look_after_detached(agent);
        pthread_mutex_lock(&agent->lock);
    }
    settle(agent); // of dead queues
    agent->worker_done = true;
    pthread_cond_broadcast(&agent->finished);
    pthread_mutex_unlock(&agent->lock);
    return NULL;
}

bool kr_hsa_worker_ready(struct kr_hsa_agent *agent)
{
    pthread_mutex_lock(&agent->lock);
    if (!agent->worker_started && !agent->stopping &&
        kr_hsa_private_open(agent, &agent->runner) == KREPLAY_OK) {
        agent->worker_started = kr_hsa_thread_start(&agent->worker, work, agent);
        if (!agent->worker_started)
            kr_hsa_private_close(&agent->runner);
    }
    bool ready = agent->worker_started && !agent->stopping;
    pthread_mutex_unlock(&agent->lock);
    return ready;
}

void kr_hsa_worker_add(struct kr_hsa_queue *queue, struct kr_hsa_dispatch *dispatch)
{
    struct kr_hsa_agent *agent = queue->agent;
    pthread_mutex_lock(&agent->lock);
    dispatch->sequence = agent->sequence++;
    dispatch->in_flight = true;
    kr_hsa_flight_begin();
    kr_hsa_unheld_shut(queue, dispatch);
    dispatch->next = NULL;
    *queue->tail = dispatch;
    queue->tail = &dispatch->next;
    queue->unfinished++;
    agent->settled = false;
    pthread_cond_signal(&agent->work);
    pthread_mutex_unlock(&agent->lock);
}

static struct timespec deadline_after(uint64_t timeout_ns)
{
    uint64_t at = kr_clock_ns() + timeout_ns;
    return (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
}

bool kr_hsa_worker_finish(struct kr_hsa_queue *queue, uint64_t timeout_ns)
{
    struct kr_hsa_agent *agent = queue->agent;
    struct timespec until = deadline_after(timeout_ns);
    int error = 0;
    pthread_mutex_lock(&agent->lock);
    while (queue->unfinished > 0 && (!atomic_load(&queue->dead) || queue->telling) && !agent->worker_done &&
           self != agent && error == 0)
        error = pthread_cond_timedwait(&agent->finished, &agent->lock, &until);
    bool finished = queue->unfinished == 0;
    pthread_mutex_unlock(&agent->lock);
    return finished;
}

uint64_t kr_hsa_worker_abandon(struct kr_hsa_queue *queue)
{
    struct kr_hsa_agent *agent = queue->agent;
    uint64_t count = 0;
    pthread_mutex_lock(&agent->lock);
    struct kr_hsa_queue **at = &agent->queues;
    while (*at && *at != queue)
        at = &(*at)->next;
    if (*at)
        *at = queue->next;
    struct kr_hsa_dispatch *list = queue->head;
    queue->head = NULL;
    queue->tail = &queue->head;
    for (struct kr_hsa_dispatch *d = list; d; d = d->next) {
        queue->unfinished--;
        if (d->recorded)
            atomic_fetch_sub(&agent->recorded, 1);
    }
    queue->destroyed = true;
    kreplay_reason reason = why_waiting(queue, KREPLAY_REASON_QUEUE_DRAIN_STUCK);
    pthread_cond_signal(&agent->work); // a detached one is to be stopped
    pthread_mutex_unlock(&agent->lock);
    while (list) {
        struct kr_hsa_dispatch *dispatch = list;
        list = dispatch->next;
        count++;
        if (!dispatch->recorded)
            kr_engine_record_unseen(kr_hsa.engine, &dispatch->op.dispatch, reason);
        kr_hsa_worker_free(dispatch);
    }
    return count;
}

void kr_hsa_worker_forget(struct kr_hsa_queue *queue)
{
    pthread_mutex_lock(&queue->agent->lock);
    queue->gone = true;
    bool last = queue->unfinished == 0;
    pthread_mutex_unlock(&queue->agent->lock);
    if (last)
        kr_hsa_queue_free(queue);
}

uint64_t kr_hsa_workers_unfinished(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        pthread_mutex_lock(&kr_hsa.agents[i].lock);
        for (const struct kr_hsa_queue *q = kr_hsa.agents[i].queues; q; q = q->next)
            count += q->unfinished;
        count -= atomic_load(&kr_hsa.agents[i].recorded);
        pthread_mutex_unlock(&kr_hsa.agents[i].lock);
    }
    return count;
}

// With the agent lock held: joins a worker that has ended.
static void join(struct kr_hsa_agent *agent)
{
    if (!agent->worker_started || !agent->worker_done || self == agent)
        return;
    agent->worker_started = false;
    pthread_mutex_unlock(&agent->lock);
    pthread_join(agent->worker, NULL);
    pthread_mutex_lock(&agent->lock);
}

bool kr_hsa_workers_stop(uint64_t timeout_ns)
{
    struct timespec until = deadline_after(timeout_ns);
    uint64_t decline_from_ns = kr_clock_ns() + timeout_ns / 2;
    bool all = true;
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        struct kr_hsa_agent *agent = &kr_hsa.agents[i];
        int error = 0;
        pthread_mutex_lock(&agent->lock);
        agent->stopping = true;
        agent->decline_from_ns = decline_from_ns;
        pthread_cond_broadcast(&agent->work);
        // The worker itself cannot wait: a tool's callback or the program's error callback ends the program.
        if (self == agent && !agent->current)
            settle(agent);
        while (agent->worker_started && !agent->worker_done && !agent->settled && self != agent && error == 0)
            error = pthread_cond_timedwait(&agent->finished, &agent->lock, &until);
        all = all && (!agent->worker_started || agent->worker_done || agent->settled);
        join(agent);
        pthread_mutex_unlock(&agent->lock);
    }
    return all;
}

bool kr_hsa_workers_quit(uint64_t timeout_ns)
{
    struct timespec until = deadline_after(timeout_ns);
    bool all = true;
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        struct kr_hsa_agent *agent = &kr_hsa.agents[i];
        int error = 0;
        pthread_mutex_lock(&agent->lock);
        agent->quit = true;
        pthread_cond_broadcast(&agent->work);
        while (agent->worker_started && !agent->worker_done && self != agent && error == 0)
            error = pthread_cond_timedwait(&agent->finished, &agent->lock, &until);
        all = all && (!agent->worker_started || (agent->worker_done && self != agent));
        join(agent);
        pthread_mutex_unlock(&agent->lock);
    }
    return all;
}

void kr_hsa_worker_clear(struct kr_hsa_agent *agent)
{
    struct kr_hsa_dispatch **lists[] = {&agent->detached, &agent->failed};
    for (unsigned i = 0; i < 2; i++)
        while (*lists[i]) {
            struct kr_hsa_dispatch *dispatch = *lists[i];
            *lists[i] = dispatch->next;
            kr_hsa_detached_drop(dispatch);
            kr_hsa_worker_free(dispatch);
        }
    for (struct kr_hsa_queue *q = agent->queues; q; q = q->next)
        while (q->head) {
            struct kr_hsa_dispatch *dispatch = q->head;
            q->head = dispatch->next;
            kr_hsa_worker_free(dispatch);
        }
}
