// SPDX-License-Identifier: MIT
// Owns the inventory's upkeep. Allocating and freeing wait for a window that is open on the agent: what it
// captured must stay as it is.
#include "hsa/hooks_memory.h"

#include <stdlib.h>

#include "hsa/agents.h"
#include "hsa/code_objects.h"

// ---- Page-locked host ranges. The program may lock overlapping ranges, and one range several times.
struct locked {
    uintptr_t host, device; // address given, address on the GPU
    size_t bytes;
};
static pthread_rwlock_t locked_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct locked *locked;
static size_t locked_count, locked_capacity;

bool kr_hsa_locked_contains(const void *address)
{
    bool found = false;
    pthread_rwlock_rdlock(&locked_lock);
    for (size_t i = 0; i < locked_count && !found; i++)
        found = (uintptr_t)address - locked[i].device < locked[i].bytes;
    pthread_rwlock_unlock(&locked_lock);
    return found;
}

// With the lock held.
static bool room_for_locked(void)
{
    if (locked_count < locked_capacity)
        return true;
    size_t capacity = locked_capacity ? locked_capacity * 2 : 64;
    struct locked *grown = realloc(locked, capacity * sizeof(*grown));
    if (!grown)
        return false;
    locked = grown;
    locked_capacity = capacity;
    return true;
}

void kr_hsa_locked_visit(void (*visit)(void *arg, const void *base, size_t bytes), void *arg)
{
    pthread_rwlock_rdlock(&locked_lock);
    for (size_t i = 0; i < locked_count; i++)
        visit(arg, (const void *)locked[i].device, locked[i].bytes);
    pthread_rwlock_unlock(&locked_lock);
}

static void add_locked(const void *host, const void *device, size_t bytes)
{
    pthread_rwlock_wrlock(&locked_lock);
    bool added = room_for_locked();
    if (added)
        locked[locked_count++] = (struct locked){(uintptr_t)host, (uintptr_t)device, bytes};
    pthread_rwlock_unlock(&locked_lock);
    if (!added)
        kr_hsa_blind(NULL, KREPLAY_REASON_HOST_MEMORY, "out of memory, host memory cannot be tracked");
}

static void remove_locked(const void *host)
{
    pthread_rwlock_wrlock(&locked_lock);
    for (size_t i = locked_count; i-- > 0;) {
        if (locked[i].host == (uintptr_t)host) {
            locked[i] = locked[--locked_count];
            break;
        }
    }
    pthread_rwlock_unlock(&locked_lock);
}

static hsa_status_t memory_lock(void *host, size_t size, hsa_agent_t *agents, int agent_count, void **device)
{
    hsa_status_t status = kr_hsa.api.hsa_amd_memory_lock(host, size, agents, agent_count, device);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        add_locked(host, *device, size);
        kr_hsa_release();
    }
    return status;
}

static hsa_status_t memory_lock_to_pool(void *host, size_t size, hsa_agent_t *agents, int agent_count,
                                        hsa_amd_memory_pool_t pool, uint32_t flags, void **device)
{
    hsa_status_t status =
        kr_hsa.api.hsa_amd_memory_lock_to_pool(host, size, agents, agent_count, pool, flags, device);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        add_locked(host, *device, size);
        kr_hsa_release();
    }
    return status;
}

static hsa_status_t memory_unlock(void *host)
{
    if (kr_hsa_hold()) {
        remove_locked(host);
        kr_hsa_release();
    }
    return kr_hsa.api.hsa_amd_memory_unlock(host);
}

// Managed memory, where the driver moves pages: ranges of the program's own mappings.
static hsa_status_t svm_attributes_set(void *base, size_t size, hsa_amd_svm_attribute_pair_t *attributes,
                                       size_t count)
{
    hsa_status_t status = kr_hsa.api.hsa_amd_svm_attributes_set(base, size, attributes, count);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        // The runtime has no call that ends this; a later set of the same range replaces it.
        remove_locked(base);
        add_locked(base, base, size);
        kr_hsa_release();
    }
    return status;
}

// ---- Allocations
static void track(const struct kr_hsa_pool *pool, void *base, size_t bytes)
{
    enum kr_memory_kind kind = pool->agent < 0 ? KR_MEMORY_HOST : KR_MEMORY_DEVICE;
    uint32_t agent = pool->agent < 0 ? 0 : (uint32_t)pool->agent;
    // Kernel arguments live in pools made for them; the runtime owns what they hold.
    if (pool->agent < 0 && pool->kernarg)
        return;
    if (kind == KR_MEMORY_DEVICE)
        atomic_fetch_add(&kr_hsa.agents[agent].device_used, bytes);
    if (kr_inventory_add(kr_hsa.engine, agent, base, bytes, kind) != KREPLAY_OK)
        kr_hsa_blind(pool->agent < 0 ? NULL : &kr_hsa.agents[agent], KREPLAY_REASON_UNTRACKED_MEMORY,
                     "out of memory, an allocation cannot be tracked");
}

static void forget(void *base)
{
    enum kr_memory_kind kind;
    hsa_amd_pointer_info_t info = {.size = sizeof(info)};
    size_t bytes = 0;
    void *start = NULL;
    if (!kr_inventory_find(kr_hsa.engine, base, &kind, &start, &bytes) || start != base)
        return;
    kr_inventory_remove(kr_hsa.engine, base);
    // Untracked is what was shared after it had been allocated; see hooks_shared.c.
    if ((kind != KR_MEMORY_DEVICE && kind != KR_MEMORY_UNTRACKED) ||
        kr_hsa.api.hsa_amd_pointer_info(base, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS)
        return;
    struct kr_hsa_agent *agent = kr_hsa_agent_of(info.agentOwner);
    if (agent)
        atomic_fetch_sub(&agent->device_used, bytes);
}

// Allocates under the gate of the pool's agent; when that fails, kreplay's own buffers make room.
static hsa_status_t allocate(uint64_t pool_handle, size_t size, void **out,
                             hsa_status_t (*original)(uint64_t pool, size_t size, uint32_t flags, void **out),
                             uint32_t flags)
{
    if (!kr_hsa_hold())
        return original(pool_handle, size, flags, out);
    const struct kr_hsa_pool *pool = kr_hsa_pool_find(pool_handle);
    struct kr_hsa_agent *agent = pool && pool->agent >= 0 ? &kr_hsa.agents[pool->agent] : NULL;
    if (agent)
        kr_hsa_gates_enter(agent);
    hsa_status_t status = original(pool_handle, size, flags, out);
    if (status == HSA_STATUS_ERROR_OUT_OF_RESOURCES && agent &&
        kr_engine_give_back(kr_hsa.engine, agent->id) > 0)
        status = original(pool_handle, size, flags, out);
    if (status == HSA_STATUS_SUCCESS && pool)
        track(pool, *out, size);
    if (agent)
        kr_hsa_gates_leave(agent);
    kr_hsa_release();
    return status;
}

static hsa_status_t original_pool_allocate(uint64_t pool, size_t size, uint32_t flags, void **out)
{
    return kr_hsa.api.hsa_amd_memory_pool_allocate((hsa_amd_memory_pool_t){pool}, size, flags, out);
}

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **out)
{
    return allocate(pool.handle, size, out, original_pool_allocate, flags);
}

static hsa_status_t original_region_allocate(uint64_t region, size_t size, uint32_t flags, void **out)
{
    (void)flags;
    return kr_hsa.api.hsa_memory_allocate((hsa_region_t){region}, size, out);
}

static hsa_status_t region_allocate(hsa_region_t region, size_t size, void **out)
{
    return allocate(region.handle, size, out, original_region_allocate, 0);
}

static hsa_status_t release(void *base, hsa_status_t (*original)(void *base))
{
    if (!base || !kr_hsa_hold())
        return original(base);
    kr_hsa_gates_enter(NULL);
    forget(base); // before it happens: the address may be given out again at once
    hsa_status_t status = original(base);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

static hsa_status_t pool_free(void *base)
{
    return release(base, kr_hsa.api.hsa_amd_memory_pool_free);
}

static hsa_status_t region_free(void *base)
{
    return release(base, kr_hsa.api.hsa_memory_free);
}

// Access for other GPUs ties their windows together.
static hsa_status_t allow_access(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
                                 const void *base)
{
    if (agents && kr_hsa_hold()) {
        hsa_amd_pointer_info_t info = {.size = sizeof(info)};
        const struct kr_hsa_agent *owner = NULL;
        if (kr_hsa.api.hsa_amd_pointer_info(base, &info, NULL, NULL, NULL) == HSA_STATUS_SUCCESS)
            owner = kr_hsa_agent_of(info.agentOwner);
        for (uint32_t i = 0; owner && i < count; i++) {
            const struct kr_hsa_agent *accessor = kr_hsa_agent_of(agents[i]);
            if (accessor && accessor != owner)
                kr_engine_allow_access(kr_hsa.engine, owner->id, accessor->id);
        }
        kr_hsa_release();
    }
    return kr_hsa.api.hsa_amd_agents_allow_access(count, agents, flags, base);
}

// ---- Code objects. Freezing copies them to the device.
static hsa_status_t executable_freeze(hsa_executable_t executable, const char *options)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_executable_freeze(executable, options);
    kr_hsa_gates_enter(NULL);
    hsa_status_t status = kr_hsa.api.hsa_executable_freeze(executable, options);
    if (status == HSA_STATUS_SUCCESS)
        kr_hsa_executable_added(executable);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

static hsa_status_t executable_destroy(hsa_executable_t executable)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_executable_destroy(executable);
    kr_hsa_gates_enter(NULL);
    kr_hsa_executable_removed(executable);
    hsa_status_t status = kr_hsa.api.hsa_executable_destroy(executable);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

void kr_hsa_hooks_memory_install(const struct kr_hsa_table *table)
{
    const struct {
        enum kr_hsa_function function;
        void *hook;
    } hooks[] = {
        {KR_FN_hsa_amd_memory_lock, (void *)memory_lock},
        {KR_FN_hsa_amd_memory_lock_to_pool, (void *)memory_lock_to_pool},
        {KR_FN_hsa_amd_memory_unlock, (void *)memory_unlock},
        {KR_FN_hsa_amd_memory_pool_allocate, (void *)pool_allocate},
        {KR_FN_hsa_amd_memory_pool_free, (void *)pool_free},
        {KR_FN_hsa_memory_allocate, (void *)region_allocate},
        {KR_FN_hsa_memory_free, (void *)region_free},
        {KR_FN_hsa_amd_agents_allow_access, (void *)allow_access},
        {KR_FN_hsa_amd_svm_attributes_set, (void *)svm_attributes_set},
        {KR_FN_hsa_executable_freeze, (void *)executable_freeze},
        {KR_FN_hsa_executable_destroy, (void *)executable_destroy},
    };
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        kr_hsa_table_hook(table, hooks[i].function, hooks[i].hook);
}
