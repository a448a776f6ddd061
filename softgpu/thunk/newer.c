// SPDX-License-Identifier: MIT
// Calls that the driver interface got after release 5.2, so that newer runtimes find every symbol they were linked
// against. This builds against any release's header: the prototypes are here, in types that all of them have.
// Source: hsakmt.h of releases 5.3 to 6.2 (public ROCT-Thunk-Interface repository, and Debian's libhsakmt-dev).
#include "softgpu/mem/mem.h"
#include "softgpu/thunk/hsakmt_api.h"

#pragma GCC visibility push(default)
HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 Node, HSAuint64 *AvailableBytes);
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 PreferredNode, HSAuint64 SizeInBytes, HSAuint64 Alignment,
                                     HsaMemFlags MemFlags, void **MemoryAddress);
HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 NodeId, void **DeviceHandle);
HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask);
#pragma GCC visibility pop

HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 Node, HSAuint64 *AvailableBytes)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!AvailableBytes)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (!sg_gpu_of_node(Node))
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    const uint64_t all = sg_gpu_local_bytes(), used = sg_mem_used(Node);
    *AvailableBytes = used < all ? all - used : 0;
    return HSAKMT_STATUS_SUCCESS;
}

// What fills a huge page is aligned to one; nobody asks for more.
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 PreferredNode, HSAuint64 SizeInBytes, HSAuint64 Alignment,
                                     HsaMemFlags MemFlags, void **MemoryAddress)
{
    const HSAuint64 page = 4096, huge_page = 2 << 20;
    if (Alignment & (Alignment - 1))
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (Alignment > (SizeInBytes >= huge_page ? huge_page : page))
        return HSAKMT_STATUS_NOT_SUPPORTED;
    return hsaKmtAllocMemory(PreferredNode, SizeInBytes, MemFlags, MemoryAddress);
}

// A handle of libdrm, for the virtual memory calls that the interface's version below says are not there. The runtime
// refuses to start without one, and never looks into it.
HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 NodeId, void **DeviceHandle)
{
    static _Alignas(64) char nothing[4096];
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!DeviceHandle)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (!sg_gpu_of_node(NodeId))
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    *DeviceHandle = nothing;
    return HSAKMT_STATUS_SUCCESS;
}

// No core dumps of the GPU.
HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask)
{
    if (!caps_mask)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *caps_mask = 0;
    return HSAKMT_STATUS_SUCCESS;
}

// The signatures are the interface's; no body looks at its arguments.
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define UNSUPPORTED(name, ...)                                                                               \
    __attribute__((visibility("default"))) HSAKMT_STATUS name(__VA_ARGS__);                                  \
    HSAKMT_STATUS name(__VA_ARGS__)                                                                          \
    {                                                                                                        \
        return HSAKMT_STATUS_NOT_SUPPORTED;                                                                  \
    }

// Sharing, the driver's event stream, and headers that the address sanitizer puts before device memory.
UNSUPPORTED(hsaKmtExportDMABufHandle, void *address, HSAuint64 bytes, int *fd, HSAuint64 *offset)
UNSUPPORTED(hsaKmtOpenSMI, HSAuint32 node, int *fd)
UNSUPPORTED(hsaKmtReplaceAsanHeaderPage, void *address)
UNSUPPORTED(hsaKmtReturnAsanHeaderPage, void *address)

// Debuggers.
UNSUPPORTED(hsaKmtCheckRuntimeDebugSupport, void)
UNSUPPORTED(hsaKmtDbgEnable, void **runtime_info, HSAuint32 *bytes)
UNSUPPORTED(hsaKmtDbgDisable, void)
UNSUPPORTED(hsaKmtDbgGetDeviceData, void **data, HSAuint32 *n, HSAuint32 *entry_bytes)
UNSUPPORTED(hsaKmtDbgGetQueueData, void **data, HSAuint32 *n, HSAuint32 *entry_bytes, bool suspend)

// Sampling of program counters.
struct _HsaPcSamplingInfo;
UNSUPPORTED(hsaKmtPcSamplingSupport, void)
UNSUPPORTED(hsaKmtPcSamplingQueryCapabilities, HSAuint32 node, void *info, HSAuint32 n, HSAuint32 *needed)
UNSUPPORTED(hsaKmtPcSamplingCreate, HSAuint32 node, struct _HsaPcSamplingInfo *info, HSAuint32 *trace)
UNSUPPORTED(hsaKmtPcSamplingDestroy, HSAuint32 node, HSAuint32 trace)
UNSUPPORTED(hsaKmtPcSamplingStart, HSAuint32 node, HSAuint32 trace)
UNSUPPORTED(hsaKmtPcSamplingStop, HSAuint32 node, HSAuint32 trace)
