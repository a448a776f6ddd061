// SPDX-License-Identifier: MIT
// The memory calls of the driver interface over softgpu/mem. GPU and host addresses are the same, so mapping
// only notes which nodes were named. Sharing with other processes and graphics resources are not supported.
#include "softgpu/mem/mem.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <unistd.h>

static HSAKMT_STATUS status_of(int rc)
{
    switch (rc) {
    case 0:
        return HSAKMT_STATUS_SUCCESS;
    case -ENOMEM:
    case -EEXIST:
        return HSAKMT_STATUS_NO_MEMORY;
    case -ENOENT:
        return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
    default:
        return HSAKMT_STATUS_INVALID_PARAMETER;
    }
}

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 PreferredNode, HSAuint64 SizeInBytes, HsaMemFlags MemFlags,
                                void **MemoryAddress)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (PreferredNode > sg_gpu_count())
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    HSAuint64 page = (HSAuint64)sysconf(_SC_PAGESIZE);
    if (!MemoryAddress || !SizeInBytes || SizeInBytes % page)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    // Memory without addresses and addresses without memory came with newer releases, whose header names the bits.
    const HSAuint32 no_address = 1u << 18, only_address = 1u << 19;
    if (MemFlags.ui32.GDSMemory || MemFlags.Value & (no_address | only_address))
        return HSAKMT_STATUS_NOT_SUPPORTED;

    void *fixed = NULL;
    if (MemFlags.ui32.FixedAddress) {
        fixed = *MemoryAddress;
        if (!fixed || (uintptr_t)fixed % page)
            return HSAKMT_STATUS_INVALID_PARAMETER;
    }
    // Scratch is address space that a GPU's waves would use; the interpreter brings its own, so it is charged
    // to no GPU.
    uint32_t charged = MemFlags.ui32.Scratch ? SG_CPU_NODE : PreferredNode;
    return status_of(sg_mem_alloc(charged, SizeInBytes, MemFlags.Value, fixed, MemoryAddress));
}

HSAKMT_STATUS hsaKmtFreeMemory(void *MemoryAddress, HSAuint64 SizeInBytes)
{
    (void)SizeInBytes; // an allocation is freed whole, as by the kernel driver
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    return status_of(sg_mem_free(MemoryAddress));
}

HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                            HsaMemFlags MemFlags)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return status_of(sg_mem_register(MemoryAddress, MemorySizeInBytes, MemFlags.Value));
}

HSAKMT_STATUS hsaKmtRegisterMemory(void *MemoryAddress, HSAuint64 MemorySizeInBytes)
{
    return hsaKmtRegisterMemoryWithFlags(MemoryAddress, MemorySizeInBytes, (HsaMemFlags){.Value = 0});
}

HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                          HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)NumberOfNodes;
    (void)NodeArray;
    return hsaKmtRegisterMemory(MemoryAddress, MemorySizeInBytes);
}

HSAKMT_STATUS hsaKmtDeregisterMemory(void *MemoryAddress)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    return status_of(sg_mem_deregister(MemoryAddress));
}

HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                        HSAuint64 *AlternateVAGPU, HsaMemMapFlags MemMapFlags,
                                        HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)MemorySizeInBytes;
    (void)MemMapFlags;
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!NumberOfNodes || NumberOfNodes > SG_MEM_MAX_NODES || !NodeArray)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    int rc = sg_mem_map(MemoryAddress, NodeArray, (uint32_t)NumberOfNodes);
    if (!rc && AlternateVAGPU)
        *AlternateVAGPU = (HSAuint64)(uintptr_t)MemoryAddress;
    return status_of(rc);
}

HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                   HSAuint64 *AlternateVAGPU)
{
    HSAuint32 nodes[SG_MAX_GPUS];
    for (unsigned i = 0; i < sg_gpu_count(); i++)
        nodes[i] = 1 + i;
    return hsaKmtMapMemoryToGPUNodes(MemoryAddress, MemorySizeInBytes, AlternateVAGPU,
                                     (HsaMemMapFlags){.Value = 0}, sg_gpu_count(), nodes);
}

HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *MemoryAddress)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    return status_of(sg_mem_map(MemoryAddress, NULL, 0));
}

// ROCr takes an error with type UNKNOWN for "not ours", and aborts on it for memory that it allocated. The
// list of nodes is good until this thread asks again: who else maps the memory meanwhile does not change it.
HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *Pointer, HsaPointerInfo *PointerInfo)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!Pointer || !PointerInfo)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *PointerInfo = (HsaPointerInfo){.Type = HSA_POINTER_UNKNOWN};
    static _Thread_local struct sg_mem_info info;
    if (sg_mem_query(Pointer, &info))
        return HSAKMT_STATUS_ERROR;
    bool allocated = info.kind == SG_MEM_ALLOCATED;
    *PointerInfo = (HsaPointerInfo){
        .Type = allocated ? HSA_POINTER_ALLOCATED : HSA_POINTER_REGISTERED_USER,
        .Node = info.node,
        .MemFlags.Value = info.flags,
        .CPUAddress = (void *)(uintptr_t)info.base,
        .GPUAddress = info.base,
        .SizeInBytes = info.bytes,
        .NMappedNodes = info.n_mapped,
        .MappedNodes = info.n_mapped ? info.mapped_nodes : NULL,
        .UserData = info.user_data,
    };
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *Pointer, void *UserData)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return status_of(sg_mem_set_user_data(Pointer, UserData));
}
