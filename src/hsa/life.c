// SPDX-License-Identifier: MIT
// Owns the beginning and the end, in all the ways in which programs end.
#include "hsa/life.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/clock.h"
#include "hsa/async_copy.h"
#include "hsa/backend.h"
#include "hsa/backoff.h"
#include "hsa/copy.h"
#include "hsa/hooks_copy.h"
#include "hsa/hooks_memory.h"
#include "hsa/hooks_shared.h"
#include "hsa/hooks_wait.h"
#include "hsa/host_pointers.h"
#include "hsa/intercept.h"
#include "hsa/passes.h"
#include "hsa/worker.h"

static void ignore(void *arg, const char *variable, const char *value)
{
    (void)arg, (void)variable, (void)value; // the engine reads the same table and complains
}

int kr_hsa_open(void *root_table, char *error, size_t error_bytes)
{
    int status = kr_hsa_table_open(root_table, &kr_hsa.table, error, error_bytes);
    if (status != KREPLAY_OK)
        return status;
    kr_hsa_table_read(&kr_hsa.table, &kr_hsa.api);
    kr_bounds_read(&kr_hsa.bounds, ignore, NULL);
    kr_hsa.owner = getpid();
    status = kr_engine_create(&kr_hsa_backend, NULL, &kr_hsa.engine);
    if (status != KREPLAY_OK)
        snprintf(error, error_bytes, "%s", kreplay_status_text(status));
    return status;
}

void kr_hsa_leave_alone(void)
{
    kr_engine_destroy(kr_hsa.engine);
    kr_hsa.engine = NULL;
}

// A fork child has no worker, and the runtime does not work in it: the hooks must not do anything there.
static void in_fork_child(void)
{
    atomic_store(&kr_hsa.active, false);
}

void kr_hsa_begin(void)
{
    pthread_atfork(NULL, NULL, in_fork_child);
    kr_hsa_hooks_memory_install(&kr_hsa.table);
    kr_hsa_hooks_shared_install(&kr_hsa.table);
    kr_hsa_hooks_copy_install(&kr_hsa.table);
    kr_hsa_hooks_wait_install(&kr_hsa.table);
    kr_hsa_table_hook(&kr_hsa.table, KR_FN_hsa_queue_create, (void *)kr_hsa_hook_queue_create);
    kr_hsa_table_hook(&kr_hsa.table, KR_FN_hsa_queue_destroy, (void *)kr_hsa_hook_queue_destroy);
    atomic_store(&kr_hsa.active, true);
}

// Threads inside hooks: they come back soon, unless they wait for a window that cannot end.
static bool hooks_are_left(void)
{
    struct kr_backoff backoff = {0};
    uint64_t begin = kr_clock_ns();
    while (atomic_load(&kr_hsa.users) > 0) {
        if (kr_clock_ns() - begin > kr_hsa.bounds.exit_ns / 10)
            return false;
        kr_backoff_wait(&backoff);
    }
    return true;
}

bool kr_hsa_end(void)
{
    if (!atomic_load(&kr_hsa.active) || getpid() != kr_hsa.owner || atomic_exchange(&kr_hsa.ended, true))
        return false;
    hooks_are_left(); // what they are bringing shall still be run
    if (!kr_hsa_workers_stop(kr_hsa.bounds.exit_ns) || !hooks_are_left()) {
        kr_engine_message(kr_hsa.engine,
                          "the program ended while work was under way: the output lacks %" PRIu64
                          " of its kernel dispatches",
                          kr_hsa_workers_unfinished());
        return false;
    }
    atomic_store(&kr_hsa.stopped, true);
    return true;
}

static bool may_close(void)
{
    return atomic_load(&kr_hsa.stopped) && getpid() == kr_hsa.owner &&
           !atomic_exchange(&kr_hsa.closed, true) && hooks_are_left();
}

void kr_hsa_last_call(void)
{
    if (!may_close())
        return;
    atomic_store(&kr_hsa.going_down, true);
    kr_engine_end_tool(kr_hsa.engine);
}

void kr_hsa_close(void)
{
    if (!atomic_load(&kr_hsa.active) || getpid() != kr_hsa.owner)
        return;
    const uint64_t bound_ns = kr_hsa.bounds.exit_ns / 10;
    bool gone = kr_hsa_workers_quit(bound_ns) && kr_hsa_private_closed(bound_ns);
    if (!may_close())
        return;
    if (!gone) { // it may use everything
        kr_engine_end_tool(kr_hsa.engine);
        return;
    }
    kr_engine_destroy(kr_hsa.engine);
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        kr_hsa_worker_clear(&kr_hsa.agents[i]);
        kr_hsa_passes_close(&kr_hsa.agents[i]);
        kr_hsa_copy_close(&kr_hsa.agents[i]);
        kr_hsa_host_pointers_close(&kr_hsa.agents[i]);
    }
    kr_hsa_async_copies_close();
}
