// SPDX-License-Identifier: MIT
// Owns the inventory's side of allocations: what is captured, and what exists that cannot be.
#include "cuda/callbacks.h"
#include "cuda/memory.h"
#include "cuda/params.h"

#define NOT_CAPTURED "such memory cannot be captured; while it exists, kernels run once and are not counted"

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

// An entry that nothing removes: a place of our own stands for it.
static void add_for_good(const struct kr_call_site *site)
{
    kr_call_complain(site,
                     "such memory cannot be captured; from now on kernels run once and are not counted");
    int status = kr_inventory_add(site->cuda->engine, KR_ANY_AGENT, &site->cuda->complained[site->cbid], 0,
                                  KR_MEMORY_UNTRACKED);
    if (status != 0)
        kr_call_blind(site, status);
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

// In a capture it becomes memory of a graph, which each launch of the graph brings back, whatever was freed.
void kr_on_alloc_async(const struct kr_call_site *site)
{
    if (!kr_call_enters(site) && kr_call_succeeded(site) && site->cuda->captures > 0)
        add_for_good(site);
    kr_on_alloc(site);
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
    if (kr_call_succeeded(site))
        add_for_good(site);
    kr_call_let_go(site);
}

// Registered and write-combined memory can have an address of its own on the GPU, which is not looked for in captured
// memory.
void kr_on_device_pointer(const struct kr_call_site *site)
{
    const struct kr_device_pointer_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site) && *params->result != params->host) {
        kr_call_complain(
            site, "host memory that has another address on the GPU cannot be recognised there; from now on "
                  "kernels run once and are not counted");
        kr_call_end_replay(site);
    }
    kr_call_let_go(site);
}

// What arrives while a window is open would be put back.
void kr_on_export(const struct kr_call_site *site)
{
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    kr_call_complain(
        site, "memory that other processes or devices can write cannot be captured; from now on kernels "
              "run once and are not counted");
    kr_call_end_replay(site);
}

// This one is set, as NVIDIA's manual of GPUDirect RDMA asks, for memory that other devices are let into.
void kr_on_pointer_attribute(const struct kr_call_site *site)
{
    const struct kr_pointer_attribute_params *params = site->data->functionParams;
    if (params->attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS && params->value &&
        *(const unsigned *)params->value != 0)
        kr_on_export(site);
}
