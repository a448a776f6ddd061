// SPDX-License-Identifier: MIT
// Preloaded for SOFTGPU_CHECK=alloc. The driver library sees allocations in whole pages; these wrappers of the
// runtime's calls tell it what the program asked for. Calls that do not go through the dynamic symbols (those of
// the runtime itself, and of tools that use its tables) stay at page granularity.
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                                 void **ptr);
EXPORT hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr);

static void tell(const void *address, uint64_t bytes)
{
    void (*asked)(const void *, uint64_t) = NULL;
    *(void **)&asked = dlsym(RTLD_DEFAULT, "softgpu_mem_asked");
    if (asked)
        asked(address, bytes);
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **ptr)
{
    hsa_status_t (*next)(hsa_amd_memory_pool_t, size_t, uint32_t, void **) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "hsa_amd_memory_pool_allocate");
    if (!next)
        return HSA_STATUS_ERROR;
    hsa_status_t status = next(pool, size, flags, ptr);
    if (status == HSA_STATUS_SUCCESS)
        tell(*ptr, size);
    return status;
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
    hsa_status_t (*next)(hsa_region_t, size_t, void **) = NULL;
    *(void **)&next = dlsym(RTLD_NEXT, "hsa_memory_allocate");
    if (!next)
        return HSA_STATUS_ERROR;
    hsa_status_t status = next(region, size, ptr);
    if (status == HSA_STATUS_SUCCESS)
        tell(*ptr, size);
    return status;
}
