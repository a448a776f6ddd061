// SPDX-License-Identifier: MIT
// Two ways to copy: the asynchronous copy of the AMD extension with a signal of our own (DMA engines or copy
// kernels, many at a time), and the plain synchronous copy. Where the host can do the first by itself, it does
// (reach.h). Comparing brings what is on the
// device to the host in bounded pieces, since device memory need not be readable there.
#include "hsa/copy.h"

#include <string.h>

#include "hsa/host_pointers.h"
#include "hsa/memory.h"
#include "hsa/reach.h"
#include "hsa/signal_wait.h"

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

static bool on_host(hsa_agent_t owner)
{
    return !kr_hsa_agent_of(owner);
}

// KREPLAY_TIMEOUT: it has not come down to 0.
static int wait_copied(hsa_signal_t signal)
{
    hsa_signal_value_t value = kr_hsa_signal_wait(signal, kr_hsa.bounds.copy_ns);
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

int kr_hsa_copy_by_device(struct kr_hsa_agent *agent, const struct kr_copy *list, size_t count)
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
        hsa_agent_t to = owner_of(c->to, agent), from = owner_of(c->from, agent);
        bool host_only = on_host(to) && on_host(from); // buffers of kreplay's
        if (host_only)
            memcpy(c->to, c->from, c->bytes);
        if (host_only || c->bytes == 0) { // the runtime does not complete the signal of an empty copy
            kr_hsa.api.hsa_signal_subtract_screlease(agent->copied, 1);
            continue;
        }
        if (kr_hsa.api.hsa_amd_memory_async_copy(c->to, to, c->from, from, c->bytes, 0, NULL,
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
    if (path == KR_PATH_FALLBACK)
        return copy_sync(list, count);
    if (kr_hsa_reach_copy(&kr_hsa.agents[agent], list, count))
        return KREPLAY_OK;
    return kr_hsa_copy_by_device(&kr_hsa.agents[agent], list, count);
}

// A side of a comparison: what is on the device passes through a buffer on the host.
struct side {
    const char *at;
    void *bounce; // NULL: the host reads it as it is
};

static bool make_side(struct kr_hsa_agent *agent, unsigned index, const void *at, size_t bytes,
                      struct side *side)
{
    *side = (struct side){at, NULL};
    if (kr_hsa_in_reach(agent, at, bytes) || on_host(owner_of(at, agent)))
        return true;
    if (!agent->bounce[index])
        agent->bounce[index] = kr_hsa_memory_host(agent, BOUNCE_BYTES);
    side->bounce = agent->bounce[index];
    return side->bounce != NULL;
}

// Brings a piece of both sides to where the host can read it.
static int fetch(struct kr_hsa_agent *agent, const struct side sides[2], size_t at, size_t bytes,
                 const char *out[2])
{
    struct kr_copy list[2];
    size_t count = 0;
    for (unsigned i = 0; i < 2; i++) {
        out[i] = sides[i].bounce ? sides[i].bounce : sides[i].at + at;
        if (sides[i].bounce)
            list[count++] = (struct kr_copy){sides[i].bounce, sides[i].at + at, bytes};
    }
    if (count == 0)
        return KREPLAY_OK;
    int status = kr_hsa_copy_by_device(agent, list, count);
    if (status == KREPLAY_TIMEOUT) // they are written to when nobody expects it any more
        agent->bounce[0] = agent->bounce[1] = NULL;
    else if (status != KREPLAY_OK)
        status = copy_sync(list, count);
    return status;
}

static int compare(struct kr_hsa_agent *agent, const void *a, const void *b, size_t bytes, size_t block_bytes,
                   uint8_t *changed)
{
    struct side sides[2];
    if (block_bytes > BOUNCE_BYTES || !make_side(agent, 0, a, bytes, &sides[0]) ||
        !make_side(agent, 1, b, bytes, &sides[1]))
        return KREPLAY_NO_MEMORY;
    const size_t step = BOUNCE_BYTES / block_bytes * block_bytes;

    for (size_t at = 0; at < bytes; at += step) {
        size_t piece = bytes - at < step ? bytes - at : step;
        const char *here[2];
        int status = fetch(agent, sides, at, piece, here);
        if (status != KREPLAY_OK)
            return status;
        for (size_t in = 0; in < piece; in += block_bytes) {
            size_t block = piece - in < block_bytes ? piece - in : block_bytes;
            bool differ = memcmp(here[0] + in, here[1] + in, block) != 0;
            kr_hsa_host_pointers_look(here[0] + in, block);
            if (differ) // else it has been looked at
                kr_hsa_host_pointers_look(here[1] + in, block);
            changed[(at + in) / block_bytes] = differ;
        }
    }
    return KREPLAY_OK;
}

int kr_hsa_compare(void *ctx, uint32_t agent_id, const void *a, const void *b, size_t bytes,
                   size_t block_bytes, uint8_t *changed)
{
    (void)ctx;
    int status = compare(&kr_hsa.agents[agent_id], a, b, bytes, block_bytes, changed);
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
