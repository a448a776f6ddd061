// SPDX-License-Identifier: MIT
// Two ways to copy: the asynchronous copy of the AMD extension with a signal of our own (DMA engines or copy
// kernels, many at a time), and the plain synchronous copy. Comparing brings both sides to the host in
// bounded pieces, since device memory need not be readable there.
#include "hsa/copy.h"

#include <string.h>

#include "engine/clock.h"
#include "hsa/host_pointers.h"
#include "hsa/memory.h"

enum { BOUNCE_BYTES = 4 << 20 };

// Which agent's memory an address is in: the runtime wants to know for a copy.
static hsa_agent_t owner_of(const void *address, const struct kr_hsa_agent *otherwise)
{
    hsa_amd_pointer_info_t info = {.size = sizeof(info)};
    if (kr_hsa.api.hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS ||
        info.type == HSA_EXT_POINTER_TYPE_UNKNOWN || info.agentOwner.handle == 0)
        return otherwise->handle;
    return info.agentOwner;
}

// KREPLAY_TIMEOUT: it has not come down to 0.
static int wait_copied(hsa_signal_t signal)
{
    uint64_t begin = kr_clock_ns();
    hsa_signal_value_t value;
    do {
        value = kr_hsa.api.hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1,
                                                     kr_hsa.timestamp_hz / 20, HSA_WAIT_STATE_BLOCKED);
    } while (value >= 1 && kr_clock_ns() - begin < kr_hsa.bounds.copy_ns);
    if (value >= 1)
        return KREPLAY_TIMEOUT;
    return value == 0 ? KREPLAY_OK : KREPLAY_DEVICE;
}

// What is still on its way would count down a signal in use again: this one is left to it.
static void leave_signal(struct kr_hsa_agent *agent)
{
    const size_t most = sizeof(agent->late_copies) / sizeof(agent->late_copies[0]);
    if (agent->late_copy_count < most)
        agent->late_copies[agent->late_copy_count++] = agent->copied;
    else
        agent->copies_lost = true;
    agent->copied.handle = 0;
}

bool kr_hsa_copies_late(struct kr_hsa_agent *agent)
{
    for (size_t i = agent->late_copy_count; i-- > 0;) {
        if (kr_hsa.api.hsa_signal_load_scacquire(agent->late_copies[i]) >= 1)
            continue;
        kr_hsa.api.hsa_signal_destroy(agent->late_copies[i]);
        agent->late_copies[i] = agent->late_copies[--agent->late_copy_count];
    }
    return agent->late_copy_count > 0 || agent->copies_lost;
}

static int copy_async(struct kr_hsa_agent *agent, const struct kr_copy *list, size_t count)
{
    if (!agent->copied.handle &&
        kr_hsa.api.hsa_signal_create(0, 0, NULL, &agent->copied) != HSA_STATUS_SUCCESS) {
        agent->copied.handle = 0;
        return KREPLAY_DEVICE;
    }
    size_t submitted = 0;
    kr_hsa.api.hsa_signal_store_screlease(agent->copied, (hsa_signal_value_t)count);
    for (; submitted < count; submitted++) {
        const struct kr_copy *c = &list[submitted];
        if (c->bytes == 0) { // the runtime does not complete the signal of an empty copy
            kr_hsa.api.hsa_signal_subtract_screlease(agent->copied, 1);
            continue;
        }
        if (kr_hsa.api.hsa_amd_memory_async_copy(c->to, owner_of(c->to, agent), c->from,
                                                 owner_of(c->from, agent), c->bytes, 0, NULL,
                                                 agent->copied) != HSA_STATUS_SUCCESS)
            break;
    }
    kr_hsa.api.hsa_signal_subtract_screlease(agent->copied, (hsa_signal_value_t)(count - submitted));
    int status = wait_copied(agent->copied);
    if (status != KREPLAY_OK)
        leave_signal(agent);
    else if (submitted < count)
        status = KREPLAY_DEVICE;
    return status;
}

static int copy_sync(const struct kr_copy *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kr_hsa.api.hsa_memory_copy(list[i].to, list[i].from, list[i].bytes) != HSA_STATUS_SUCCESS)
            return KREPLAY_DEVICE;
    return KREPLAY_OK;
}

int kr_hsa_copy(void *ctx, uint32_t agent, enum kr_path path, const struct kr_copy *list, size_t count)
{
    (void)ctx;
    return path == KR_PATH_PRIMARY ? copy_async(&kr_hsa.agents[agent], list, count) : copy_sync(list, count);
}

static bool bounce_buffers(struct kr_hsa_agent *agent)
{
    for (int i = 0; i < 2; i++) {
        if (!agent->bounce[i])
            agent->bounce[i] = kr_hsa_memory_host(agent, BOUNCE_BYTES);
        if (!agent->bounce[i])
            return false;
    }
    return true;
}

static int compare(void *ctx, uint32_t agent_id, const void *a, const void *b, size_t bytes,
                   size_t block_bytes, uint8_t *changed)
{
    struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    if (block_bytes > BOUNCE_BYTES || !bounce_buffers(agent))
        return KREPLAY_NO_MEMORY;
    const size_t step = BOUNCE_BYTES / block_bytes * block_bytes;

    for (size_t at = 0; at < bytes; at += step) {
        size_t piece = bytes - at < step ? bytes - at : step;
        const struct kr_copy list[2] = {{agent->bounce[0], (const char *)a + at, piece},
                                        {agent->bounce[1], (const char *)b + at, piece}};
        int status = kr_hsa_copy(ctx, agent_id, KR_PATH_PRIMARY, list, 2);
        if (status == KREPLAY_TIMEOUT) { // they are written to when nobody expects it any more
            agent->bounce[0] = agent->bounce[1] = NULL;
            return status;
        }
        if (status != KREPLAY_OK)
            status = kr_hsa_copy(ctx, agent_id, KR_PATH_FALLBACK, list, 2);
        if (status != KREPLAY_OK)
            return status;
        kr_hsa_host_pointers_look(agent->bounce[0], piece);
        kr_hsa_host_pointers_look(agent->bounce[1], piece);
        for (size_t in = 0; in < piece; in += block_bytes) {
            size_t block = piece - in < block_bytes ? piece - in : block_bytes;
            changed[(at + in) / block_bytes] =
                memcmp((const char *)agent->bounce[0] + in, (const char *)agent->bounce[1] + in, block) != 0;
        }
    }
    return KREPLAY_OK;
}

int kr_hsa_compare(void *ctx, uint32_t agent_id, const void *a, const void *b, size_t bytes,
                   size_t block_bytes, uint8_t *changed)
{
    int status = compare(ctx, agent_id, a, b, bytes, block_bytes, changed);
    if (status != KREPLAY_OK)
        kr_hsa_host_pointers_missed();
    return status;
}

void kr_hsa_copy_close(struct kr_hsa_agent *agent)
{
    for (int i = 0; i < 2; i++) {
        kr_hsa_memory_release(agent->bounce[i]);
        agent->bounce[i] = NULL;
    }
    if (agent->copied.handle)
        kr_hsa.api.hsa_signal_destroy(agent->copied);
    agent->copied.handle = 0;
}
