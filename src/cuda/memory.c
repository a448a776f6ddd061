// SPDX-License-Identifier: MIT
// Owns the question what an address is.
#include "cuda/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Of user space; device addresses lie below too.
#ifdef __x86_64__
#define ADDRESS_BITS 47
#else
#define ADDRESS_BITS 52
#endif

// The driver rounds up, and takes some for itself.
void kr_memory_make_way(struct kr_cuda *cuda, struct kr_device *device, size_t bytes)
{
    struct kr_own own;
    size_t free_bytes, total;

    if (!device || !device->ready || kr_own_enter(&own, cuda, device) != 0)
        return;
    if (cuda->driver.mem_get_info(&free_bytes, &total) == CUDA_SUCCESS &&
        (free_bytes < bytes || free_bytes - bytes < KR_CUDA_ROOM_LEFT))
        kr_engine_give_back(cuda->engine, device->agent);
    kr_own_leave(&own);
}

static bool is_mapped(uint64_t address)
{
    uint64_t page = address & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
    unsigned char resident;
    return mincore((void *)(uintptr_t)page, 1, &resident) == 0;
}

bool kr_memory_is_managed(const struct kr_driver *driver, uint64_t address)
{
    unsigned int type = 0, managed = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *answers[] = {&type, &managed};
    return driver->pointer_get_attributes(2, which, answers, address) == CUDA_SUCCESS && managed;
}

// The address is not in the inventory: what does the driver know?
static kreplay_reason judge_unknown(struct kr_cuda *cuda, const struct kr_device *device, uint64_t address)
{
    unsigned int type = 0, managed = 0;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *answers[] = {&type, &managed};

    if (cuda->driver.pointer_get_attributes(2, which, answers, address) != CUDA_SUCCESS)
        type = 0;
    if (managed || type == CU_MEMORYTYPE_DEVICE)
        return KREPLAY_REASON_UNTRACKED_MEMORY;
    if (type == CU_MEMORYTYPE_HOST)
        return KREPLAY_REASON_HOST_MEMORY;
    // Where kernels reach ordinary host memory, any mapped address may be meant as one.
    return device->pageable_access && is_mapped(address) ? KREPLAY_REASON_HOST_MEMORY : KREPLAY_REASON_NONE;
}

kreplay_reason kr_memory_judge(struct kr_cuda *cuda, const struct kr_device *device, uint64_t address)
{
    enum kr_memory_kind kind;
    if (address == 0 || address >> ADDRESS_BITS != 0)
        return KREPLAY_REASON_NONE;
    if (!kr_inventory_find(cuda->engine, (void *)(uintptr_t)address, &kind, NULL, NULL))
        return judge_unknown(cuda, device, address);
    switch (kind) {
    case KR_MEMORY_DEVICE:
    case KR_MEMORY_MODULE: // of another GPU it can be: without an access that was noted it is not captured
        return kr_inventory_covers(cuda->engine, device->agent, (void *)(uintptr_t)address)
                   ? KREPLAY_REASON_NONE
                   : KREPLAY_REASON_UNTRACKED_MEMORY;
    case KR_MEMORY_HOST:
        return KREPLAY_REASON_HOST_MEMORY;
    case KR_MEMORY_UNTRACKED:
        break;
    }
    return KREPLAY_REASON_UNTRACKED_MEMORY;
}

static void count_host(void *arg, const void *base, size_t bytes)
{
    (void)base, (void)bytes;
    ++*(size_t *)arg;
}

static void note_host(void *arg, const void *base, size_t bytes)
{
    struct kr_ranges *hosts = arg;
    hosts->list[hosts->count++] = (struct kr_range){(uintptr_t)base, bytes};
}

int kr_memory_list_hosts(struct kr_cuda *cuda, struct kr_device *device)
{
    struct kr_ranges *hosts = &device->hosts;
    size_t count = 0;

    kr_inventory_visit(cuda->engine, KR_MEMORY_HOST, count_host, &count);
    hosts->count = 0;
    if (count == 0)
        return 0;
    struct kr_range *list = realloc(hosts->list, count * sizeof *list);
    if (!list)
        return KREPLAY_NO_MEMORY;
    hosts->list = list;
    kr_inventory_visit(cuda->engine, KR_MEMORY_HOST, note_host, hosts);
    return 0;
}
