// SPDX-License-Identifier: MIT
// Owns the inventory's side of allocations: what is captured, and what exists that cannot be.
#include "cuda/memory.h"

#include "cuda/callbacks.h"
#include "cuda/params.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOT_CAPTURED "such memory cannot be captured; while it exists, kernels run once and are not counted"
// Of user space; device addresses lie below too.
#ifdef __x86_64__
#define ADDRESS_BITS 47
#else
#define ADDRESS_BITS 52
#endif

// At the start of an allocation: buffers of kreplay's give way to the program's.
static void make_way(const struct kr_call_site *site, size_t bytes)
{
    struct kr_own own;
    size_t free_bytes = SIZE_MAX, total;

    if (!site->device->ready || kr_own_enter(&own, site->cuda, site->device) != 0)
        return;
    if (site->cuda->driver.mem_get_info(&free_bytes, &total) == CUDA_SUCCESS && free_bytes < bytes)
        kr_engine_give_back(site->cuda->engine, site->device->agent);
    kr_own_leave(&own);
}

static void add(const struct kr_call_site *site, void *base, size_t bytes)
{
    enum kr_memory_kind kind = site->call->kind;
    if (kind == KR_MEMORY_DEVICE && !kr_cuda_is_ours(site->cuda, site->device, site->data->context))
        kind = KR_MEMORY_UNTRACKED;
    if (kind == KR_MEMORY_UNTRACKED)
        kr_call_complain(site, NOT_CAPTURED);
    if (kr_inventory_add(site->cuda->engine, site->device->agent, base, bytes, kind) != 0)
        kr_call_blind(site);
}

void kr_on_submission(const struct kr_call_site *site)
{
    if (kr_call_enters(site))
        kr_call_hold_gate(site);
    else
        kr_call_let_go(site);
}

void kr_on_alloc(const struct kr_call_site *site)
{
    const struct kr_alloc_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        if (site->call->kind != KR_MEMORY_HOST)
            make_way(site, params->bytes);
        return;
    }
    if (kr_call_succeeded(site))
        add(site, *params->result, params->bytes);
    kr_call_let_go(site);
}

void kr_on_alloc_pitch(const struct kr_call_site *site)
{
    const struct kr_alloc_pitch_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        make_way(site, params->width_bytes * params->height);
        return;
    }
    if (kr_call_succeeded(site))
        add(site, *params->result, *params->pitch * params->height);
    kr_call_let_go(site);
}

void kr_on_map(const struct kr_call_site *site)
{
    const struct kr_range_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site))
        add(site, params->base, params->bytes);
    kr_call_let_go(site);
}

// Which GPUs may reach a mapping is said later, by cuMemSetAccess: it counts for all.
void kr_on_mapping(const struct kr_call_site *site)
{
    const struct kr_range_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site)) {
        kr_call_complain(site, NOT_CAPTURED);
        if (kr_inventory_add_vmem(site->cuda->engine, KR_ANY_AGENT, params->base, params->bytes) != 0)
            kr_call_blind(site);
    }
    kr_call_let_go(site);
}

void kr_on_handle(const struct kr_call_site *site)
{
    const struct kr_handle_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site))
        add(site, *params->result, 0);
    kr_call_let_go(site);
}

// Forgotten before the call: afterwards the address may be somebody else's. (A free of a valid address that
// fails has found the context broken.)
void kr_on_free(const struct kr_call_site *site)
{
    const struct kr_free_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        kr_inventory_remove(site->cuda->engine, params->what);
        return;
    }
    kr_call_let_go(site);
}

// May take away several mappings at once.
void kr_on_unmap(const struct kr_call_site *site)
{
    const struct kr_range_params *params = site->data->functionParams;
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    for (size_t at = 0; at < params->bytes;) {
        enum kr_memory_kind kind;
        void *base = NULL;
        size_t bytes = 0;
        if (!kr_inventory_find(site->cuda->engine, (char *)params->base + at, &kind, &base, &bytes) ||
            bytes == 0)
            break;
        kr_inventory_remove(site->cuda->engine, base);
        at += bytes;
    }
}

void kr_on_other_memory(const struct kr_call_site *site)
{
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site)) {
        // An entry that nothing removes: a place of our own stands for it.
        kr_call_complain(site,
                         "such memory cannot be captured; from now on kernels run once and are not counted");
        if (kr_inventory_add(site->cuda->engine, site->device->agent, &site->cuda->complained[site->cbid], 0,
                             KR_MEMORY_UNTRACKED) != 0)
            kr_call_blind(site);
    }
    kr_call_let_go(site);
}

// Of a context that need not have been seen before: programs enable access before they use the other GPU.
static bool device_of_context(const struct kr_cuda *cuda, CUcontext context, CUdevice *device)
{
    CUcontext before;
    struct kr_own own;
    bool known = false;

    kr_own_enter(&own, cuda, NULL);
    if (cuda->driver.ctx_push_current(context) == CUDA_SUCCESS) {
        known = cuda->driver.ctx_get_device(device) == CUDA_SUCCESS;
        cuda->driver.ctx_pop_current(&before);
    }
    kr_own_leave(&own);
    return known;
}

void kr_on_peer_access(const struct kr_call_site *site)
{
    const struct kr_peer_params *params = site->data->functionParams;
    CUdevice peer;
    if (!kr_call_enters(site))
        return;
    if (!device_of_context(site->cuda, params->peer, &peer))
        return; // kernels that point into its memory are declined then
    for (uint32_t i = 0; i < site->cuda->device_count; i++)
        if (site->cuda->devices[i].handle == peer)
            kr_engine_allow_access(site->cuda->engine, i, site->device->agent);
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
