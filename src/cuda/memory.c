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

// The driver rounds up, and takes some for itself.
void kr_memory_make_way(struct kr_cuda *cuda, struct kr_device *device, size_t bytes)
{
    struct kr_own own;
    size_t free_bytes, total;

    if (!device->ready || kr_own_enter(&own, cuda, device) != 0)
        return;
    if (cuda->driver.mem_get_info(&free_bytes, &total) == CUDA_SUCCESS &&
        (free_bytes < bytes || free_bytes - bytes < KR_CUDA_ROOM_LEFT))
        kr_engine_give_back(cuda->engine, device->agent);
    kr_own_leave(&own);
}

static void make_way(const struct kr_call_site *site, size_t bytes)
{
    kr_memory_make_way(site->cuda, site->device, bytes);
}

// What cannot be captured counts for all GPUs, as each may reach it; that of a second context for its own.
static void add(const struct kr_call_site *site, void *base, size_t bytes)
{
    enum kr_memory_kind kind = site->call->kind;
    uint32_t agent = kind == KR_MEMORY_UNTRACKED ? KR_ANY_AGENT : site->device->agent;
    if (kind == KR_MEMORY_DEVICE && !kr_cuda_is_ours(site->cuda, site->device, site->data->context))
        kind = KR_MEMORY_UNTRACKED;
    if (kind == KR_MEMORY_UNTRACKED)
        kr_call_complain(site, NOT_CAPTURED);
    int status = kr_inventory_add(site->cuda->engine, agent, base, bytes, kind);
    if (status != 0)
        kr_call_blind(site, status);
}

void kr_on_submission(const struct kr_call_site *site)
{
    if (kr_call_enters(site))
        kr_call_hold_gate(site);
    else
        kr_call_let_go(site);
}

void kr_on_context_end(const struct kr_call_site *site)
{
    kr_on_submission(site);
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

static void add_mapping(const struct kr_call_site *site, const struct kr_range_params *params)
{
    int status = kr_inventory_add_vmem(site->cuda->engine, KR_ANY_AGENT, params->base, params->bytes);
    if (status != 0)
        kr_call_blind(site, status);
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
        add_mapping(site, params);
    }
    kr_call_let_go(site);
}

// Physical memory: nothing reaches it before it is mapped.
void kr_on_reservation(const struct kr_call_site *site)
{
    const struct kr_alloc_params *params = site->data->functionParams;
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    make_way(site, params->bytes);
}

// Nothing is replayed while it exists: what kreplay holds is better given back, however much it needs.
void kr_on_handle(const struct kr_call_site *site)
{
    const struct kr_handle_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        make_way(site, SIZE_MAX);
        return;
    }
    if (kr_call_succeeded(site))
        add(site, *params->result, 0);
    kr_call_let_go(site);
}

// Forgotten before the call: afterwards the address may be somebody else's. A free that fails, as one does while a stream
// is captured, leaves it where it was.
void kr_on_free(const struct kr_call_site *site)
{
    static _Thread_local struct kr_taken taken;
    static _Thread_local bool known;
    const struct kr_free_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        known = kr_inventory_take(site->cuda->engine, params->what, &taken);
        return;
    }
    int status = known && !kr_call_succeeded(site) ? kr_inventory_put_back(site->cuda->engine, &taken) : 0;
    if (status != 0)
        kr_call_blind(site, status);
    kr_call_let_go(site);
}

// May take away several mappings at once.
void kr_on_unmap(const struct kr_call_site *site)
{
    static _Thread_local size_t taken;
    const struct kr_range_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        taken = kr_inventory_remove_range(site->cuda->engine, params->base, params->bytes);
        return;
    }
    if (taken > 0 && !kr_call_succeeded(site))
        add_mapping(site, params);
    kr_call_let_go(site);
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
        int status = kr_inventory_add(site->cuda->engine, KR_ANY_AGENT, &site->cuda->complained[site->cbid],
                                      0, KR_MEMORY_UNTRACKED);
        if (status != 0)
            kr_call_blind(site, status);
    }
    kr_call_let_go(site);
}

static bool allocates(const CUgraphNodeParams *params)
{
    return params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

void kr_on_graph_node(const struct kr_call_site *site)
{
    const struct kr_graph_node_params *params = site->data->functionParams;
    if (allocates(params->node))
        kr_on_other_memory(site);
}

void kr_on_graph_node_v2(const struct kr_call_site *site)
{
    const struct kr_graph_node_v2_params *params = site->data->functionParams;
    if (allocates(params->node))
        kr_on_other_memory(site);
}

// A context of its own for some of the multiprocessors, with the memory of the primary one: its work is not in what one of
// them waits for.
void kr_on_green_context(const struct kr_call_site *site)
{
    const struct kr_green_params *params = site->data->functionParams;
    struct kr_cuda *cuda = site->cuda;
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    kr_call_complain(
        site,
        "work of green contexts cannot be kept apart; from now on kernels run once and are not counted");
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (cuda->devices[i].handle == params->device)
            kr_engine_blind(cuda->engine, i, KREPLAY_REASON_UNTRACKED_MEMORY);
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
