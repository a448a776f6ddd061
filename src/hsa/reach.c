// SPDX-License-Identifier: MIT
// Asks the kernel, not the device's name: a read of one's own memory through process_vm_readv answers with an
// error where a load would end in a signal. Memory of a discrete GPU is no memory that the kernel reads so, even where
// the processor can reach it over the bus, where reading is slow. What the program's kernels and the host see of
// each other's stores is not changed by this: all passes begin and end with system scope fences.
#include "hsa/reach.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/clock.h"
#include "hsa/copy.h"
#include "hsa/memory.h"

enum { TRIAL_BYTES = 1 << 20, TRIALS = 3 };

static bool readable(const void *at, size_t bytes)
{
    char first_last[2];
    const struct iovec here = {first_last, sizeof(first_last)};
    const struct iovec there[2] = {{(void *)(uintptr_t)at, 1}, {(char *)(uintptr_t)at + bytes - 1, 1}};
    static _Thread_local pid_t self; // asking costs as much as reading, and no worker survives a fork
    if (!self)
        self = getpid();
    return bytes == 0 || process_vm_readv(self, &here, 1, there, 2, 0) == (ssize_t)sizeof(first_last);
}

// What is copied to is a buffer of kreplay's, or captured memory: that comes from the runtime's pools, which are mapped
// for writing.
static bool copy_in_reach(const struct kr_copy *copy)
{
    if (!readable(copy->from, copy->bytes) || !readable(copy->to, copy->bytes))
        return false;
    memcpy(copy->to, copy->from, copy->bytes);
    return true;
}

// Shortest of a few times for one copy, or UINT64_MAX.
static uint64_t time_of(struct kr_hsa_agent *agent, bool by_host, const struct kr_copy *copy)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIALS; i++) {
        uint64_t begin = kr_clock_ns();
        bool done = by_host ? copy_in_reach(copy) : kr_hsa_copy_by_device(agent, copy, 1) == KREPLAY_OK;
        uint64_t took = kr_clock_ns() - begin;
        if (!done)
            return UINT64_MAX;
        best = took < best ? took : best;
    }
    return best;
}

static bool host_is_sooner(struct kr_hsa_agent *agent)
{
    void *device = kr_hsa_memory_device(agent, TRIAL_BYTES), *host = kr_hsa_memory_host(agent, TRIAL_BYTES);
    bool sooner = false;
    if (device && host) {
        const struct kr_copy copy = {.to = host, .from = device, .bytes = TRIAL_BYTES};
        uint64_t by_host = time_of(agent, true, &copy);
        uint64_t by_device = by_host == UINT64_MAX ? 0 : time_of(agent, false, &copy);
        sooner = by_host < by_device;
        if (by_host != UINT64_MAX)
            kr_engine_say(kr_hsa.engine, KR_LEVEL_INFO,
                          "GPU %u: 1 MiB of its memory takes %llu us by the host, %llu us by a copy engine",
                          agent->id, (unsigned long long)by_host / 1000,
                          (unsigned long long)by_device / 1000);
    }
    kr_hsa_memory_release(device);
    kr_hsa_memory_release(host);
    return sooner;
}

// In the values of KREPLAY_HOST_COPIES, see engine/bounds.h.
enum { NEVER, WHERE_QUICKER };

static bool may_reach(struct kr_hsa_agent *agent)
{
    const uint64_t wish = kr_hsa.bounds.host_copies;
    if (agent->reach == KR_HSA_REACH_UNKNOWN) {
        bool reach = wish > WHERE_QUICKER || (wish == WHERE_QUICKER && host_is_sooner(agent));
        agent->reach = reach ? KR_HSA_REACH_HOST : KR_HSA_REACH_NONE;
    }
    return agent->reach == KR_HSA_REACH_HOST;
}

bool kr_hsa_in_reach(struct kr_hsa_agent *agent, const void *at, size_t bytes)
{
    return may_reach(agent) && readable(at, bytes);
}

bool kr_hsa_reach_copy(struct kr_hsa_agent *agent, const struct kr_copy *list, size_t count)
{
    bool all = may_reach(agent);
    for (size_t i = 0; i < count && all; i++)
        all = copy_in_reach(&list[i]);
    return all;
}
