// SPDX-License-Identifier: MIT
// Enumerates agents and pools with public queries and announces each GPU to the engine.
#include "hsa/agents.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local bool starting; // a tool that calls the runtime while it is told of an agent

static bool add_pool(struct kr_hsa_pool pool)
{
    struct kr_hsa_pool *grown = realloc(kr_hsa.pools, (kr_hsa.pool_count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    kr_hsa.pools = grown;
    kr_hsa.pools[kr_hsa.pool_count++] = pool;
    return true;
}

const struct kr_hsa_pool *kr_hsa_pool_find(uint64_t handle)
{
    for (size_t i = 0; i < kr_hsa.pool_count; i++)
        if (kr_hsa.pools[i].handle == handle)
            return &kr_hsa.pools[i];
    return NULL;
}

struct pool_walk {
    struct kr_hsa_agent *agent; // NULL = host
    uint32_t lds_bytes;
};

static hsa_status_t visit_pool(hsa_amd_memory_pool_t pool, void *data)
{
    struct pool_walk *walk = data;
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    size_t size = 0;
    bool allocatable = false;

    if (kr_hsa.api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment) !=
        HSA_STATUS_SUCCESS)
        return HSA_STATUS_SUCCESS;
    kr_hsa.api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
    if (segment == HSA_AMD_SEGMENT_GROUP)
        walk->lds_bytes = (uint32_t)size;
    if (segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    kr_hsa.api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    kr_hsa.api.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                            &allocatable);

    bool kernarg = flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT;
    if (!add_pool((struct kr_hsa_pool){pool.handle, walk->agent ? (int)walk->agent->id : -1, kernarg, flags}))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (!allocatable)
        return HSA_STATUS_SUCCESS;
    if (walk->agent && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) &&
        !walk->agent->device_pool.handle) {
        walk->agent->device_pool = pool;
        walk->agent->device_bytes = size;
    }
    if (!walk->agent && (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) &&
        (!kr_hsa.host_pool.handle || !kernarg))
        kr_hsa.host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

// hsa_memory_allocate names regions. In ROCr they share their handles with pools, but nothing promises that.
static hsa_status_t visit_region(hsa_region_t region, void *data)
{
    const struct kr_hsa_agent *agent = data;
    hsa_region_segment_t segment;
    uint32_t flags = 0;

    if (kr_hsa_pool_find(region.handle) ||
        kr_hsa.api.hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment) != HSA_STATUS_SUCCESS ||
        segment != HSA_REGION_SEGMENT_GLOBAL)
        return HSA_STATUS_SUCCESS;
    kr_hsa.api.hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
    bool kernarg = flags & HSA_REGION_GLOBAL_FLAG_KERNARG;
    return add_pool((struct kr_hsa_pool){region.handle, agent ? (int)agent->id : -1, kernarg, flags})
               ? HSA_STATUS_SUCCESS
               : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static uint32_t number(hsa_agent_t agent, uint32_t attribute)
{
    uint32_t value = 0;
    kr_hsa.api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, &value);
    return value;
}

static void text(hsa_agent_t agent, uint32_t attribute, char out[64])
{
    memset(out, 0, 64);
    if (kr_hsa.api.hsa_agent_get_info(agent, (hsa_agent_info_t)attribute, out) != HSA_STATUS_SUCCESS)
        out[0] = '\0';
    out[63] = '\0';
}

static bool init_agent(struct kr_hsa_agent *agent, hsa_agent_t handle, uint32_t id)
{
    *agent = (struct kr_hsa_agent){.handle = handle, .id = id};
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&agent->lock, NULL) != 0 || pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&agent->work, NULL);
    pthread_cond_init(&agent->finished, &monotonic);
    pthread_condattr_destroy(&monotonic);
    text(handle, HSA_AGENT_INFO_NAME, agent->name);
    text(handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, agent->product);
    text(handle, HSA_AGENT_INFO_VENDOR_NAME, agent->vendor);
    agent->queue_max_size = number(handle, HSA_AGENT_INFO_QUEUE_MAX_SIZE);
    agent->catalogue = kr_catalogue_find(agent->name);
    return true;
}

static hsa_status_t visit_agent(hsa_agent_t handle, void *data)
{
    (void)data;
    hsa_device_type_t type;
    if (kr_hsa.api.hsa_agent_get_info(handle, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS)
        return HSA_STATUS_SUCCESS;
    if (type == HSA_DEVICE_TYPE_CPU) {
        struct pool_walk walk = {0};
        if (!kr_hsa.cpu.handle)
            kr_hsa.cpu = handle;
        kr_hsa.api.hsa_amd_agent_iterate_memory_pools(handle, visit_pool, &walk);
        kr_hsa.api.hsa_agent_iterate_regions(handle, visit_region, NULL);
        return HSA_STATUS_SUCCESS;
    }
    if (type != HSA_DEVICE_TYPE_GPU || kr_hsa.agent_count == KR_HSA_MAX_AGENTS)
        return HSA_STATUS_SUCCESS;

    struct kr_hsa_agent *agent = &kr_hsa.agents[kr_hsa.agent_count];
    if (!init_agent(agent, handle, kr_hsa.agent_count))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    const struct kr_hsa_agent *before = agent->id > 0 ? agent - 1 : NULL;
    agent->first_counter_id = 1;
    if (before)
        agent->first_counter_id =
            before->first_counter_id + (before->catalogue ? before->catalogue->counter_count : 0);
    kr_hsa.agent_count++;
    return HSA_STATUS_SUCCESS;
}

static int announce(struct kr_hsa_agent *agent)
{
    struct pool_walk walk = {.agent = agent};
    kr_hsa.api.hsa_amd_agent_iterate_memory_pools(agent->handle, visit_pool, &walk);
    kr_hsa.api.hsa_agent_iterate_regions(agent->handle, visit_region, agent);
    const kreplay_agent info = {
        .size = sizeof(info),
        .agent_id = agent->id,
        .node_id = number(agent->handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID),
        .name = agent->name,
        .product = agent->product,
        .vendor = agent->vendor,
        .compute_units = number(agent->handle, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
        .shader_engines = number(agent->handle, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES),
        .simds_per_cu = number(agent->handle, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU),
        .wave_size = number(agent->handle, HSA_AGENT_INFO_WAVEFRONT_SIZE),
        .max_waves_per_cu = number(agent->handle, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU),
        .lds_bytes = walk.lds_bytes,
        .max_clock_mhz = number(agent->handle, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY),
        .memory_bytes = agent->device_bytes,
    };
    return kr_engine_add_agent(kr_hsa.engine, &info);
}

static void start(void)
{
    uint64_t hz = 0;
    kr_hsa.api.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz);
    kr_hsa.timestamp_hz = hz ? hz : 1000000000u;
    kr_hsa.api.hsa_system_get_info((hsa_system_info_t)HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT,
                                   &kr_hsa.any_memory);
    kr_hsa.api.hsa_iterate_agents(visit_agent, NULL);
    for (uint32_t i = 0; i < kr_hsa.agent_count; i++) {
        int status = announce(&kr_hsa.agents[i]);
        if (status != KREPLAY_OK) {
            kr_engine_message(kr_hsa.engine, "GPU %u (%s) cannot be used: %s", i, kr_hsa.agents[i].name,
                              kreplay_status_text(status));
            kr_hsa.agent_count = i;
        }
    }
}

bool kr_hsa_agents_start(void)
{
    if (atomic_load(&kr_hsa.started))
        return kr_hsa.agent_count > 0;
    if (starting)
        return false;
    pthread_mutex_lock(&kr_hsa.lock);
    if (!atomic_load(&kr_hsa.started)) {
        starting = true;
        start();
        starting = false;
        atomic_store(&kr_hsa.started, true);
    }
    pthread_mutex_unlock(&kr_hsa.lock);
    return kr_hsa.agent_count > 0;
}
