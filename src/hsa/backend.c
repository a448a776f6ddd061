// SPDX-License-Identifier: MIT
// Fills the engine's struct of functions: draining and buffers here, the rest from the files that own it.
#include "hsa/backend.h"

#include "engine/clock.h"
#include "hsa/async_copy.h"
#include "hsa/backoff.h"
#include "hsa/copy.h"
#include "hsa/host_pointers.h"
#include "hsa/counters.h"
#include "hsa/memory.h"
#include "hsa/passes.h"
#include "hsa/unheld.h"
#include "hsa/worker.h"

// The worker takes a dispatch up only when everything before it in its queue is done.
static int drain_queue(void *ctx, uint32_t agent, void *queue, uint64_t timeout_ns)
{
    (void)ctx, (void)agent, (void)queue, (void)timeout_ns;
    return KREPLAY_OK;
}

// What is wanted goes through the agent's worker one by one, so what can be under way is a copy, a dispatch that
// passed on because nobody wants it, or one that was detached because it did not end in time.
static int drain_agent(void *ctx, uint32_t agent_id, uint64_t timeout_ns)
{
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    struct kr_backoff backoff = {0};
    uint64_t begin = kr_clock_ns();
    (void)ctx;
    for (;;) {
        if (kr_hsa_worker_self() == agent)
            kr_hsa_worker_reap(agent);
        if (kr_hsa_unheld_idle(agent) && kr_hsa_async_copies_idle(agent_id) &&
            atomic_load(&agent->detached_count) == 0 && !kr_hsa_strays(agent) && !kr_hsa_copies_late(agent))
            return KREPLAY_OK;
        if (kr_clock_ns() - begin >= timeout_ns)
            return KREPLAY_TIMEOUT;
        kr_backoff_wait(&backoff);
    }
}

static int alloc(void *ctx, uint32_t agent_id, enum kr_place place, size_t bytes, void **out)
{
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    (void)ctx;
    *out = place == KR_PLACE_DEVICE ? kr_hsa_memory_device(agent, bytes) : kr_hsa_memory_host(agent, bytes);
    if (!*out)
        return KREPLAY_NO_MEMORY;
    if (place == KR_PLACE_DEVICE)
        atomic_fetch_add(&agent->device_used, bytes);
    return KREPLAY_OK;
}

static void release(void *ctx, uint32_t agent_id, enum kr_place place, void *buffer, size_t bytes)
{
    (void)ctx;
    kr_hsa_memory_release(buffer);
    if (place == KR_PLACE_DEVICE)
        atomic_fetch_sub(&kr_hsa.agents[agent_id].device_used, bytes);
}

static uint64_t room(void *ctx, uint32_t agent_id, enum kr_place place)
{
    const struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    (void)ctx;
    if (place == KR_PLACE_HOST)
        return kr_bounds_host_half();
    // The runtime and other processes use some of it too: an eighth is left alone.
    uint64_t usable = agent->device_bytes - agent->device_bytes / 8, used = atomic_load(&agent->device_used);
    return used < usable ? usable - used : 0;
}

static void complete(void *ctx, uint32_t agent, struct kr_window *window, const struct kr_op_result *live)
{
    (void)ctx, (void)agent, (void)live;
    kr_hsa_dispatch_complete(window->backend);
}

const struct kr_backend kr_hsa_backend = {
    .name = "hsa",
    .flags = KR_BACKEND_LIVE_IS_PASS0 | KR_BACKEND_COMPARES_ON_HOST,
    .drain_queue = drain_queue,
    .drain_agent = drain_agent,
    .alloc = alloc,
    .release = release,
    .room = room,
    .copy = kr_hsa_copy,
    .compare = kr_hsa_compare,
    .object = kr_hsa_host_pointers_found,
    .pass_begin = kr_hsa_pass_begin,
    .submit = kr_hsa_submit,
    .pass_end = kr_hsa_pass_end,
    .cancel = kr_hsa_cancel,
    .detach = kr_hsa_detach,
    .complete = complete,
    .counters = kr_hsa_counters,
    .group_create = kr_hsa_group_create,
    .group_destroy = kr_hsa_group_destroy,
};
