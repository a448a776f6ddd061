// SPDX-License-Identifier: MIT
// Owns copies from the program's call to its signal. A thread of kreplay's for each GPU starts the ones that
// were held back and completes the finished ones, so that a window on one GPU does not hold up copies of
// another; the runtime's event thread is not used, since it may be inside one of our hooks.
#include "hsa/async_copy.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "hsa/backoff.h"
#include "hsa/copy_times.h"
#include "hsa/thread.h"

struct pending {
    struct pending *next;
    struct kr_hsa_copy_call call;
    uint64_t agents;         // bits: GPUs that it involves
    hsa_signal_t completion; // the program's
    hsa_signal_t own;        // set while under way
    bool starting, started;
    uint32_t dep_count;
    hsa_signal_t deps[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct pending *first, **last = &first; // in the order of the calls
static uint64_t threads_started;               // bits by GPU
static hsa_signal_t *spare;                    // own signals not in use
static size_t spare_count, spare_capacity;

static bool satisfied(const struct pending *p)
{
    for (uint32_t i = 0; i < p->dep_count; i++)
        if (kr_hsa.api.hsa_signal_load_scacquire(p->deps[i]) != 0)
            return false;
    return true;
}

// With the lock held.
static bool get_signal(hsa_signal_t *signal)
{
    if (spare_count == 0)
        return kr_hsa.api.hsa_signal_create(1, 0, NULL, signal) == HSA_STATUS_SUCCESS;
    *signal = spare[--spare_count];
    kr_hsa.api.hsa_signal_store_screlease(*signal, 1);
    return true;
}

// With the lock held.
static void put_signal(hsa_signal_t signal)
{
    if (spare_count == spare_capacity) {
        size_t capacity = spare_capacity ? spare_capacity * 2 : 16;
        hsa_signal_t *grown = realloc(spare, capacity * sizeof(*grown));
        if (!grown) {
            kr_hsa.api.hsa_signal_destroy(signal);
            return;
        }
        spare = grown;
        spare_capacity = capacity;
    }
    spare[spare_count++] = signal;
}

static hsa_status_t call_runtime(const struct kr_hsa_copy_call *c, hsa_signal_t signal)
{
    switch (c->kind) {
    case KR_HSA_COPY_LINEAR:
        return kr_hsa.api.hsa_amd_memory_async_copy(c->dst, c->dst_agent, c->src, c->src_agent, c->size, 0,
                                                    NULL, signal);
    case KR_HSA_COPY_ENGINE:
        return kr_hsa.api.hsa_amd_memory_async_copy_on_engine(c->dst, c->dst_agent, c->src, c->src_agent,
                                                              c->size, 0, NULL, signal, c->engine_id,
                                                              c->force_sdma);
    case KR_HSA_COPY_RECT:
        return kr_hsa.api.hsa_amd_memory_async_copy_rect(&c->rect_dst, &c->dst_offset, &c->rect_src,
                                                         &c->src_offset, &c->range, c->copy_agent,
                                                         c->direction, 0, NULL, signal);
    }
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// With the lock held.
static void unlink_pending(struct pending *p)
{
    struct pending **at = &first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (!p->next)
        last = at;
}

// The program's signal gets what ours got. With the lock held.
static void finish(struct pending *p, hsa_signal_value_t value)
{
    hsa_amd_profiling_async_copy_time_t time;
    if (kr_hsa.api.hsa_amd_profiling_get_async_copy_time(p->own, &time) == HSA_STATUS_SUCCESS)
        kr_hsa_copy_times_put(p->completion, time);
    if (value < 0)
        kr_hsa.api.hsa_signal_store_screlease(p->completion,
                                              value); // the runtime's way to report a failed copy
    else
        kr_hsa.api.hsa_signal_subtract_screlease(p->completion, 1);
    put_signal(p->own);
    unlink_pending(p);
    free(p);
}

// With the lock held: completes what is done. Returns whether anything was.
static bool reap(void)
{
    bool any = false;
    for (struct pending *p = first, *next; p; p = next) {
        next = p->next;
        if (!p->started)
            continue;
        hsa_signal_value_t value = kr_hsa.api.hsa_signal_load_scacquire(p->own);
        if (value >= 1)
            continue;
        finish(p, value);
        any = true;
    }
    return any;
}

static void gates(uint64_t agents, bool enter)
{
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++)
        if (agents >> i & 1)
            (enter ? kr_hsa_gates_enter : kr_hsa_gates_leave)(&kr_hsa.agents[i]);
}

// Starts a copy, inside the gates while kreplay is at work. Without the lock held: the gate may be closed for
// long, and the window that closed it waits in kr_hsa_async_copies_idle.
static hsa_status_t start(struct pending *p, bool gated)
{
    uint64_t agents = gated ? p->agents : 0;
    gates(agents, true);
    pthread_mutex_lock(&lock);
    bool have = get_signal(&p->own);
    pthread_mutex_unlock(&lock);
    hsa_status_t status = have ? call_runtime(&p->call, p->own) : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_lock(&lock);
    p->started = status == HSA_STATUS_SUCCESS;
    if (!p->started && have)
        put_signal(p->own);
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    gates(agents, false);
    return status;
}

// The copy was accepted long ago: all that is left is to say that it failed.
static void fail(struct pending *p)
{
    pthread_mutex_lock(&lock);
    unlink_pending(p);
    pthread_mutex_unlock(&lock);
    kr_hsa.api.hsa_signal_store_screlease(p->completion, -1);
    free(p);
}

// Whose thread starts it: the first of its GPUs, whose gate is waited for first.
static unsigned server_of(const struct pending *p)
{
    return p->agents ? (unsigned)__builtin_ctzll(p->agents) : 0;
}

// With the lock held.
static struct pending *startable(unsigned server)
{
    for (struct pending *p = first; p; p = p->next)
        if (!p->starting && server_of(p) == server && satisfied(p))
            return p;
    return NULL;
}

// With the lock held: is there anything to start or to wait for?
static bool serves(unsigned server)
{
    for (const struct pending *p = first; p; p = p->next)
        if (server_of(p) == server)
            return true;
    return false;
}

static void *serve(void *arg)
{
    struct kr_backoff backoff = {0};
    const unsigned server = (unsigned)(uintptr_t)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct pending *p = startable(server);
        if (p) {
            p->starting = true;
            pthread_mutex_unlock(&lock);
            bool held = kr_hsa_hold();
            if (start(p, held) != HSA_STATUS_SUCCESS)
                fail(p);
            if (held)
                kr_hsa_release();
            pthread_mutex_lock(&lock);
            backoff.turns = 0;
            continue;
        }
        if (reap()) {
            backoff.turns = 0;
            continue;
        }
        if (!serves(server)) {
            pthread_cond_wait(&work, &lock);
            backoff.turns = 0;
            continue;
        }
        pthread_mutex_unlock(&lock);
        kr_backoff_wait(&backoff);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

// With the lock held.
static bool thread_runs(unsigned server)
{
    pthread_t thread;
    if (threads_started >> server & 1)
        return true;
    if (!kr_hsa_thread_start(&thread, serve, (void *)(uintptr_t)server))
        return false;
    pthread_detach(thread);
    threads_started |= UINT64_C(1) << server;
    return true;
}

static uint64_t agents_of(const struct kr_hsa_copy_call *call)
{
    const hsa_agent_t handles[] = {call->dst_agent, call->src_agent, call->copy_agent};
    uint64_t agents = 0;
    for (unsigned i = 0; i < 3; i++) {
        const struct kr_hsa_agent *agent = kr_hsa_agent_of(handles[i]);
        if (agent)
            agents |= UINT64_C(1) << agent->id;
    }
    return agents;
}

hsa_status_t kr_hsa_async_copy(const struct kr_hsa_copy_call *call, uint32_t dep_count,
                               const hsa_signal_t *deps, hsa_signal_t completion)
{
    struct pending *p = calloc(1, sizeof(*p) + dep_count * sizeof(*deps));
    if (!p)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    p->call = *call;
    p->agents = agents_of(call);
    p->completion = completion;
    p->dep_count = dep_count;
    if (dep_count > 0)
        memcpy(p->deps, deps, dep_count * sizeof(*deps));

    pthread_mutex_lock(&lock);
    if (!thread_runs(server_of(p))) {
        pthread_mutex_unlock(&lock);
        free(p);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    p->starting = satisfied(p); // by this thread, at once
    *last = p;
    last = &p->next;
    bool now = p->starting;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    if (!now)
        return HSA_STATUS_SUCCESS;

    hsa_status_t status = start(p, true);
    if (status != HSA_STATUS_SUCCESS) {
        pthread_mutex_lock(&lock);
        unlink_pending(p);
        pthread_mutex_unlock(&lock);
        free(p);
    }
    return status;
}

bool kr_hsa_async_copies_idle(uint32_t agent)
{
    bool idle = true;
    pthread_mutex_lock(&lock);
    reap();
    for (struct pending *p = first; p && idle; p = p->next)
        idle = !p->started || !(p->agents >> agent & 1);
    pthread_mutex_unlock(&lock);
    return idle;
}

void kr_hsa_async_copies_close(void)
{
    pthread_mutex_lock(&lock);
    reap();
    while (spare_count > 0)
        kr_hsa.api.hsa_signal_destroy(spare[--spare_count]);
    pthread_mutex_unlock(&lock);
}

bool kr_hsa_async_copy_time(hsa_signal_t completion, hsa_amd_profiling_async_copy_time_t *time)
{
    pthread_mutex_lock(&lock);
    bool found = kr_hsa_copy_times_get(completion, time);
    pthread_mutex_unlock(&lock);
    return found;
}
