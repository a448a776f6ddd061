// SPDX-License-Identifier: MIT
// Allocates kreplay's buffers through the runtime's own functions, so that no hook sees them.
#include "hsa/memory.h"

void *kr_hsa_memory_host(struct kr_hsa_agent *agent, size_t bytes)
{
    void *buffer = NULL;
    if (bytes == 0 || !kr_hsa.host_pool.handle ||
        kr_hsa.api.hsa_amd_memory_pool_allocate(kr_hsa.host_pool, bytes, 0, &buffer) != HSA_STATUS_SUCCESS)
        return NULL;
    if (kr_hsa.api.hsa_amd_agents_allow_access(1, &agent->handle, NULL, buffer) != HSA_STATUS_SUCCESS) {
        kr_hsa.api.hsa_amd_memory_pool_free(buffer);
        return NULL;
    }
    return buffer;
}

void *kr_hsa_memory_device(struct kr_hsa_agent *agent, size_t bytes)
{
    void *buffer = NULL;
    if (bytes == 0 || !agent->device_pool.handle ||
        kr_hsa.api.hsa_amd_memory_pool_allocate(agent->device_pool, bytes, 0, &buffer) != HSA_STATUS_SUCCESS)
        return NULL;
    return buffer;
}

void kr_hsa_memory_release(void *buffer)
{
    if (buffer)
        kr_hsa.api.hsa_amd_memory_pool_free(buffer);
}
