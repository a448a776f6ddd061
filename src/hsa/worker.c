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
#include "hsa/worker.h"

#include <signal.h>
#include <stdlib.h>

#include "engine/clock.h"
#include "hsa/backoff.h"
#include "hsa/kernarg.h"
#include "hsa/passes.h"

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
        if (!q->head)
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
    queue->unfinished--;
    pthread_cond_broadcast(&agent->finished);
    pthread_mutex_unlock(&agent->lock);
    if (dispatch->own_done.handle)
        kr_hsa.api.hsa_signal_destroy(dispatch->own_done);
    free(dispatch);
}

void kr_hsa_dispatch_complete(struct kr_hsa_dispatch *dispatch)
{
    hsa_signal_t signal = dispatch->packet.completion_signal;
    if (signal.handle) {
        // The layout of a signal is part of the platform's public binary interface (amd_hsa_signal.h). The
        // times come before the value, since the program reads them when it sees the value.
        amd_signal_t *shared = (amd_signal_t *)(uintptr_t)signal.handle;
        if (dispatch->live_known) {
            shared->start_ts = dispatch->start_ticks;
            shared->end_ts = dispatch->end_ticks;
        }
        kr_hsa.api.hsa_signal_subtract_screlease(signal, 1);
    }
    // Of a dispatch that ran in place the first gate was passed; it is the second that holds the program.
    uint64_t last = dispatch->ordinal;
    if (dispatch->own_done.handle) {
        kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[last % 2], 1);
        last++;
    }
    kr_hsa.api.hsa_signal_store_screlease(dispatch->queue->gates[last % 2], 0);
}

static void run(struct kr_hsa_dispatch *dispatch, bool ending)
{
    struct kr_hsa_queue *queue = dispatch->queue;
    if (dispatch->ordinal > 0)
        kr_hsa.api.hsa_signal_store_screlease(queue->gates[(dispatch->ordinal - 1) % 2], 1);
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
    kr_window_run(kr_hsa.engine, &dispatch->window);
    queue->agent->current = NULL;
    kr_hsa_private_serve(&queue->agent->runner, NULL);
    if (!dispatch->detached)
        over(dispatch);
}

void kr_hsa_worker_reap(struct kr_hsa_agent *agent)
{
    for (struct kr_hsa_dispatch **at = &agent->detached; *at;) {
        struct kr_hsa_dispatch *dispatch = *at;
        if (!kr_hsa_detached_done(dispatch)) {
            at = &dispatch->next;
            continue;
        }
        *at = dispatch->next;
        kr_hsa_dispatch_complete(dispatch);
        atomic_fetch_sub(&agent->detached_count, 1);
        over(dispatch);
    }
}

// A stop gives up on what cannot be reached any more: nothing has moved for this long.
static const uint64_t STALLED_NS = 1000000000;

static void *work(void *arg)
{
    struct kr_hsa_agent *agent = arg;
    struct kr_backoff backoff = {0};
    uint64_t moved_ns = kr_clock_ns();
    bool waiting;

    self = agent;
    pthread_mutex_lock(&agent->lock);
    for (;;) {
        struct kr_hsa_dispatch *dispatch = take_next(agent, &waiting);
        bool stopping = agent->stopping;
        if (dispatch) {
            pthread_mutex_unlock(&agent->lock);
            run(dispatch, stopping && kr_clock_ns() > agent->decline_from_ns);
            kr_hsa_worker_reap(agent);
            pthread_mutex_lock(&agent->lock);
            backoff.turns = 0;
            moved_ns = kr_clock_ns();
            continue;
        }
        if (stopping && (!waiting || kr_clock_ns() - moved_ns > STALLED_NS))
            break;
        if (!waiting && !agent->detached) {
            pthread_cond_wait(&agent->work, &agent->lock);
            backoff.turns = 0;
            moved_ns = kr_clock_ns();
            continue;
        }
        pthread_mutex_unlock(&agent->lock);
        kr_backoff_wait(&backoff);
        kr_hsa_worker_reap(agent);
        pthread_mutex_lock(&agent->lock);
    }
    agent->worker_done = true;
    pthread_cond_broadcast(&agent->finished);
    pthread_mutex_unlock(&agent->lock);
    return NULL;
}

// The program's signals are the program's threads' business.
static int start_thread(pthread_t *thread, void *(*main)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool kr_hsa_worker_ready(struct kr_hsa_agent *agent)
{
    pthread_mutex_lock(&agent->lock);
    if (!agent->worker_started && !agent->stopping &&
        kr_hsa_private_open(agent, &agent->runner) == KREPLAY_OK) {
        agent->worker_started = start_thread(&agent->worker, work, agent) == 0;
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
    dispatch->next = NULL;
    *queue->tail = dispatch;
    queue->tail = &dispatch->next;
    queue->unfinished++;
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
    while (queue->unfinished > 0 && !agent->worker_done && error == 0)
        error = pthread_cond_timedwait(&agent->finished, &agent->lock, &until);
    bool finished = queue->unfinished == 0;
    pthread_mutex_unlock(&agent->lock);
    return finished;
}

void kr_hsa_workers_clear(void (*visit)(struct kr_hsa_dispatch *dispatch))
{
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        for (struct kr_hsa_queue *q = kr_hsa.agents[i].queues; q; q = q->next) {
            while (q->head) {
                struct kr_hsa_dispatch *dispatch = q->head;
                q->head = dispatch->next;
                visit(dispatch);
                free(dispatch);
            }
            q->tail = &q->head;
        }
}

uint64_t kr_hsa_workers_unfinished(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        pthread_mutex_lock(&kr_hsa.agents[i].lock);
        for (const struct kr_hsa_queue *q = kr_hsa.agents[i].queues; q; q = q->next)
            count += q->unfinished;
        count -= atomic_load(&kr_hsa.agents[i].detached_count); // these are recorded
        pthread_mutex_unlock(&kr_hsa.agents[i].lock);
    }
    return count;
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
        // Called from a tool's callback (a tool that ends the program), the worker cannot wait for itself.
        while (agent->worker_started && !agent->worker_done && self != agent && error == 0)
            error = pthread_cond_timedwait(&agent->finished, &agent->lock, &until);
        bool done = !agent->worker_started || agent->worker_done;
        bool join = agent->worker_started && done;
        agent->worker_started = agent->worker_started && !join;
        pthread_mutex_unlock(&agent->lock);
        if (join)
            pthread_join(agent->worker, NULL);
        all = all && done;
    }
    return all;
}
