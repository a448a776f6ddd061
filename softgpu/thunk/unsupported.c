// SPDX-License-Identifier: MIT
// Calls of the driver interface that a software GPU does not support. They exist so that any runtime finds
// every symbol it was linked against: debugging, sharing between processes, graphics interop, the driver's
// own counter traces, SVM (the node does not announce it).
#include "softgpu/thunk/hsakmt_api.h"

// The signatures are the interface's; no body looks at its arguments.
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define UNSUPPORTED(name, ...)                                                                               \
    HSAKMT_STATUS name(__VA_ARGS__)                                                                          \
    {                                                                                                        \
        return HSAKMT_STATUS_NOT_SUPPORTED;                                                                  \
    }

UNSUPPORTED(hsaKmtReportQueue, HSA_QUEUEID queue, HsaQueueReport *report)
UNSUPPORTED(hsaKmtGetQueueInfo, HSA_QUEUEID queue, HsaQueueInfo *info)
UNSUPPORTED(hsaKmtSetMemoryPolicy, HSAuint32 node, HSAuint32 policy, HSAuint32 alternate, void *address,
            HSAuint64 bytes)

UNSUPPORTED(hsaKmtRegisterGraphicsHandleToNodes, HSAuint64 handle, HsaGraphicsResourceInfo *info, HSAuint64 n,
            HSAuint32 *nodes)
UNSUPPORTED(hsaKmtMapGraphicHandle, HSAuint32 node, HSAuint64 device, HSAuint64 resource, HSAuint64 offset,
            HSAuint64 bytes, HSAuint64 *address)
UNSUPPORTED(hsaKmtUnmapGraphicHandle, HSAuint32 node, HSAuint64 address, HSAuint64 bytes)
UNSUPPORTED(hsaKmtShareMemory, void *address, HSAuint64 bytes, HsaSharedMemoryHandle *handle)
UNSUPPORTED(hsaKmtRegisterSharedHandle, const HsaSharedMemoryHandle *handle, void **address, HSAuint64 *bytes)
UNSUPPORTED(hsaKmtRegisterSharedHandleToNodes, const HsaSharedMemoryHandle *handle, void **address,
            HSAuint64 *bytes, HSAuint64 n, HSAuint32 *nodes)
UNSUPPORTED(hsaKmtProcessVMRead, HSAuint32 pid, HsaMemoryRange *local, HSAuint64 n_local,
            HsaMemoryRange *remote, HSAuint64 n_remote, HSAuint64 *copied)
UNSUPPORTED(hsaKmtProcessVMWrite, HSAuint32 pid, HsaMemoryRange *local, HSAuint64 n_local,
            HsaMemoryRange *remote, HSAuint64 n_remote, HSAuint64 *copied)
UNSUPPORTED(hsaKmtSVMSetAttr, void *address, HSAuint64 bytes, unsigned int n, HSA_SVM_ATTRIBUTE *attributes)
UNSUPPORTED(hsaKmtSVMGetAttr, void *address, HSAuint64 bytes, unsigned int n, HSA_SVM_ATTRIBUTE *attributes)

UNSUPPORTED(hsaKmtDbgRegister, HSAuint32 node)
UNSUPPORTED(hsaKmtDbgUnregister, HSAuint32 node)
UNSUPPORTED(hsaKmtDbgWavefrontControl, HSAuint32 node, HSA_DBG_WAVEOP op, HSA_DBG_WAVEMODE mode,
            HSAuint32 trap, HsaDbgWaveMessage *messages)
UNSUPPORTED(hsaKmtDbgAddressWatch, HSAuint32 node, HSAuint32 n, HSA_DBG_WATCH_MODE mode[], void *address[],
            HSAuint64 mask[], HsaEvent *event[])
UNSUPPORTED(hsaKmtGetKernelDebugTrapVersionInfo, HSAuint32 *major, HSAuint32 *minor)

UNSUPPORTED(hsaKmtPmcGetCounterProperties, HSAuint32 node, HsaCounterProperties **properties)
UNSUPPORTED(hsaKmtPmcRegisterTrace, HSAuint32 node, HSAuint32 n, HsaCounter *counters, HsaPmcTraceRoot *root)
UNSUPPORTED(hsaKmtPmcUnregisterTrace, HSAuint32 node, HSATraceId trace)
UNSUPPORTED(hsaKmtPmcAcquireTraceAccess, HSAuint32 node, HSATraceId trace)
UNSUPPORTED(hsaKmtPmcReleaseTraceAccess, HSAuint32 node, HSATraceId trace)
UNSUPPORTED(hsaKmtPmcStartTrace, HSATraceId trace, void *buffer, HSAuint64 bytes)
UNSUPPORTED(hsaKmtPmcQueryTrace, HSATraceId trace)
UNSUPPORTED(hsaKmtPmcStopTrace, HSATraceId trace)
UNSUPPORTED(hsaKmtSPMAcquire, HSAuint32 node)
UNSUPPORTED(hsaKmtSPMRelease, HSAuint32 node)
UNSUPPORTED(hsaKmtSPMSetDestBuffer, HSAuint32 node, HSAuint32 bytes, HSAuint32 *timeout, HSAuint32 *copied,
            void *destination, bool *loss)
