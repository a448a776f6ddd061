// SPDX-License-Identifier: MIT
// Entry of libkreplay.so: ROCr loads it through HSA_TOOLS_LIB, calls OnLoad in the middle of hsa_init, and
// OnUnload in hsa_shut_down, which many programs (all HIP ones) never call. So there is an exit handler, too.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/clock.h"
#include "hsa/backend.h"
#include "hsa/backoff.h"
#include "hsa/hooks_copy.h"
#include "hsa/hooks_memory.h"
#include "hsa/intercept.h"
#include "hsa/memory.h"
#include "hsa/onload.h"
#include "hsa/worker.h"
#include "tool/tool.h"

static void ignore(void *arg, const char *variable, const char *value)
{
    (void)arg, (void)variable, (void)value; // the engine reads the same table and complains
}

// Hooks that other threads are in, or a last one that another thread called just now.
static bool wait_for_users(int allowed)
{
    struct kr_backoff backoff = {0};
    uint64_t begin = kr_clock_ns();
    while (atomic_load(&kr_hsa.users) > allowed) {
        if (kr_clock_ns() - begin > UINT64_C(1000000000))
            return false;
        kr_backoff_wait(&backoff);
    }
    return true;
}

// Ends collection once: waiting dispatches run un-replayed, the tool gets its last call. When a thread does
// not come back in time, everything it could still use stays as it is; the log is complete up to there either
// way.
static bool finish(void)
{
    if (!atomic_load(&kr_hsa.active) || atomic_exchange(&kr_hsa.ended, true) || getpid() != kr_hsa.owner)
        return false;
    if (!kr_hsa_workers_stop(kr_hsa.bounds.exit_ns) || !wait_for_users(0)) {
        kr_engine_message(kr_hsa.engine, "the program ended while work was under way");
        return false;
    }
    kr_engine_destroy(kr_hsa.engine);
    return true;
}

static void at_exit(void)
{
    finish();
}

static void in_fork_child(void)
{
    atomic_store(&kr_hsa.active, false);
}

static void say(const char *text)
{
    dprintf(STDERR_FILENO, "kreplay: %s\n", text);
}

static void install(void)
{
    kr_hsa_hooks_memory_install(&kr_hsa.table);
    kr_hsa_hooks_copy_install(&kr_hsa.table);
    kr_hsa_table_hook(&kr_hsa.table, KR_FN_hsa_queue_create, (void *)kr_hsa_hook_queue_create);
    kr_hsa_table_hook(&kr_hsa.table, KR_FN_hsa_queue_destroy, (void *)kr_hsa_hook_queue_destroy);
}

// Always true: whatever is wrong with kreplay, the program runs on.
bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
            const char *const *failed_tool_names)
{
    static bool loaded;
    char error[512] = "";
    (void)runtime_version, (void)failed_tool_count, (void)failed_tool_names;

    if (loaded) {
        say("the HSA runtime was started again; only its first life is recorded");
        return true;
    }
    loaded = true;
    if (kr_hsa_table_open(table, &kr_hsa.table, error, sizeof(error)) != KREPLAY_OK) {
        dprintf(STDERR_FILENO, "kreplay: nothing is recorded: %s\n", error);
        return true;
    }
    kr_hsa_table_read(&kr_hsa.table, &kr_hsa.api);
    kr_bounds_read(&kr_hsa.bounds, ignore, NULL);
    kr_hsa.owner = getpid();
    if (kr_engine_create(&kr_hsa_backend, NULL, &kr_hsa.engine) != KREPLAY_OK) {
        say("nothing is recorded: out of memory");
        return true;
    }
    if (kr_tool_start("hsa", error, sizeof(error)) != KREPLAY_OK) {
        dprintf(STDERR_FILENO, "kreplay: nothing is recorded: %s\n", error);
        kr_engine_destroy(kr_hsa.engine);
        return true;
    }
    if (!kr_engine_active(kr_hsa.engine)) {
        kr_engine_destroy(kr_hsa.engine);
        return true;
    }
    pthread_atfork(NULL, NULL, in_fork_child);
    atexit(at_exit);
    install();
    atomic_store(&kr_hsa.active, true);
    return true;
}

void OnUnload(void)
{
    if (!finish())
        return;
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        struct kr_hsa_agent *agent = &kr_hsa.agents[i];
        kr_hsa_private_close(&agent->runner);
        kr_hsa_memory_release(agent->bounce[0]);
        kr_hsa_memory_release(agent->bounce[1]);
    }
}
