// SPDX-License-Identifier: MIT
// Owns memory that is not this process's alone: let out to others, or taken from them. Others may write it in the
// middle of a window and what they wrote would be put back, so it is counted, not captured, and dispatches are
// declined while it is there.
#include "hsa/hooks_shared.h"

#include "hsa/state.h"

// ---- Taken from elsewhere. Whose it is is not asked: it counts for every GPU.
static void add_foreign(void *base, size_t bytes)
{
    if (kr_inventory_add(kr_hsa.engine, KR_ANY_AGENT, base, bytes, KR_MEMORY_UNTRACKED) != KREPLAY_OK)
        kr_hsa_blind(NULL, KREPLAY_REASON_UNTRACKED_MEMORY, "out of memory, a mapping cannot be tracked");
}

static hsa_status_t ipc_attach(const hsa_amd_ipc_memory_t *handle, size_t bytes, uint32_t agent_count,
                               const hsa_agent_t *agents, void **out)
{
    hsa_status_t status = kr_hsa.api.hsa_amd_ipc_memory_attach(handle, bytes, agent_count, agents, out);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        add_foreign(*out, bytes);
        kr_hsa_release();
    }
    return status;
}

static hsa_status_t ipc_detach(void *base)
{
    if (kr_hsa_hold()) {
        kr_inventory_remove(kr_hsa.engine, base);
        kr_hsa_release();
    }
    return kr_hsa.api.hsa_amd_ipc_memory_detach(base);
}

static hsa_status_t interop_map(uint32_t agent_count, hsa_agent_t *agents, int interop, uint32_t flags,
                                size_t *size, void **base, size_t *metadata_bytes, const void **metadata)
{
    hsa_status_t status = kr_hsa.api.hsa_amd_interop_map_buffer(agent_count, agents, interop, flags, size,
                                                                base, metadata_bytes, metadata);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        add_foreign(*base, *size);
        kr_hsa_release();
    }
    return status;
}

static hsa_status_t interop_unmap(void *base)
{
    if (kr_hsa_hold()) {
        kr_inventory_remove(kr_hsa.engine, base);
        kr_hsa_release();
    }
    return kr_hsa.api.hsa_amd_interop_unmap_buffer(base);
}

static hsa_status_t vmem_map(void *va, size_t size, size_t offset, kr_hsa_vmem_handle handle, uint64_t flags)
{
    hsa_status_t status = kr_hsa.api.hsa_amd_vmem_map(va, size, offset, handle, flags);
    if (status == HSA_STATUS_SUCCESS && kr_hsa_hold()) {
        if (kr_inventory_add_vmem(kr_hsa.engine, KR_ANY_AGENT, va, size) != KREPLAY_OK)
            kr_hsa_blind(NULL, KREPLAY_REASON_UNTRACKED_MEMORY, "out of memory, a mapping cannot be tracked");
        kr_hsa_release();
    }
    return status;
}

static hsa_status_t vmem_unmap(void *va, size_t size)
{
    if (kr_hsa_hold()) {
        kr_inventory_remove(kr_hsa.engine, va);
        kr_hsa_release();
    }
    return kr_hsa.api.hsa_amd_vmem_unmap(va, size);
}

// ---- Let out. The allocation stays untracked until it is freed: nobody tells when the others are done with it.
static void let_out(const void *address)
{
    enum kr_memory_kind kind;
    void *base;
    struct kr_taken taken;
    if (!kr_inventory_find(kr_hsa.engine, address, &kind, &base, NULL) ||
        (kind != KR_MEMORY_DEVICE && kind != KR_MEMORY_MODULE) ||
        !kr_inventory_take(kr_hsa.engine, base, &taken))
        return;
    taken.kind = KR_MEMORY_UNTRACKED;
    if (kr_inventory_put_back(kr_hsa.engine, &taken) != KREPLAY_OK)
        kr_hsa_blind(NULL, KREPLAY_REASON_UNTRACKED_MEMORY, "out of memory, shared memory cannot be tracked");
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        kr_engine_message(
            kr_hsa.engine,
            "memory was made available to other processes or devices, which may write it at any "
            "time: until it is freed, kernels run once and are not counted");
}

// The gates are held over the call: whoever gets the handle finds no window open.
static hsa_status_t ipc_create(void *base, size_t bytes, hsa_amd_ipc_memory_t *handle)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_amd_ipc_memory_create(base, bytes, handle);
    kr_hsa_gates_enter(NULL);
    hsa_status_t status = kr_hsa.api.hsa_amd_ipc_memory_create(base, bytes, handle);
    if (status == HSA_STATUS_SUCCESS)
        let_out(base);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

static hsa_status_t export_dmabuf(const void *address, size_t bytes, int *dmabuf, uint64_t *offset)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_amd_portable_export_dmabuf(address, bytes, dmabuf, offset);
    kr_hsa_gates_enter(NULL);
    hsa_status_t status = kr_hsa.api.hsa_amd_portable_export_dmabuf(address, bytes, dmabuf, offset);
    if (status == HSA_STATUS_SUCCESS)
        let_out(address);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

void kr_hsa_hooks_shared_install(const struct kr_hsa_table *table)
{
    const struct {
        enum kr_hsa_function function;
        void *hook;
    } hooks[] = {
        {KR_FN_hsa_amd_ipc_memory_create, (void *)ipc_create},
        {KR_FN_hsa_amd_ipc_memory_attach, (void *)ipc_attach},
        {KR_FN_hsa_amd_ipc_memory_detach, (void *)ipc_detach},
        {KR_FN_hsa_amd_portable_export_dmabuf, (void *)export_dmabuf},
        {KR_FN_hsa_amd_interop_map_buffer, (void *)interop_map},
        {KR_FN_hsa_amd_interop_unmap_buffer, (void *)interop_unmap},
        {KR_FN_hsa_amd_vmem_map, (void *)vmem_map},
        {KR_FN_hsa_amd_vmem_unmap, (void *)vmem_unmap},
    };
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
        kr_hsa_table_hook(table, hooks[i].function, hooks[i].hook);
}
