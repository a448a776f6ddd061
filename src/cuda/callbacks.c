// SPDX-License-Identifier: MIT
// Owns the table of driver calls, and the way from CUPTI's callback to a handler. Calls are found by name, so
// that a new variant of a copy or an allocator is met by its family's rule and not overlooked.
#include "cuda/callbacks.h"

#include <stdio.h>
#include <string.h>

// The first line that fits counts. Per-thread-stream variants have a name of their own (_ptsz, _ptds).
static const struct kr_call calls[] = {
    {"cuLaunchKernel", kr_on_launch_kernel, 0},
    {"cuLaunchKernel_ptsz", kr_on_launch_kernel, 0},
    {"cuLaunchKernelEx", kr_on_launch_kernel_ex, 0},
    {"cuLaunchKernelEx_ptsz", kr_on_launch_kernel_ex, 0},
    {"cuLaunchCooperativeKernel", kr_on_launch_cooperative, 0},
    {"cuLaunchCooperativeKernel_ptsz", kr_on_launch_cooperative, 0},
    {"cuLaunchHostFunc*", kr_on_submission, 0},
    {"cuLaunch*", kr_on_launch_other, 0},
    {"cuGraphLaunch_ptsz", kr_on_launch_graph, 0},
    {"cuGraphLaunch*", kr_on_launch_graph, 0},
    {"cuStreamBeginCapture*", kr_on_capture_begin, 0},
    {"cuStreamEndCapture*", kr_on_capture_end, 0},
    // Captured memory.
    {"cuMemAlloc_v2", kr_on_alloc, KR_MEMORY_DEVICE},
    {"cuMemAllocPitch_v2", kr_on_alloc_pitch, KR_MEMORY_DEVICE},
    {"cuMemFree_v2", kr_on_free, 0},
    {"cuModuleGetGlobal_v2", kr_on_global, KR_MEMORY_MODULE},
    {"cuLibraryGetGlobal", kr_on_library_global, KR_MEMORY_MODULE},
    {"cuLibraryLoad*", kr_on_load_or_end, 0},
    {"cuModuleLoad*", kr_on_module_load, 0},
    {"cuModuleUnload", kr_on_module_unload, 0},
    {"cuLibraryUnload", kr_on_library_unload, 0},
    // Memory that is not captured: while it lives, nothing is replayed.
    {"cuMemAllocManaged", kr_on_alloc, KR_MEMORY_UNTRACKED},
    {"cuMemAllocAsync*", kr_on_alloc_async, KR_MEMORY_UNTRACKED},
    {"cuMemAllocFromPoolAsync*", kr_on_alloc_async, KR_MEMORY_UNTRACKED},
    {"cuMemFreeAsync*", kr_on_free, 0},
    {"cuMemCreate", kr_on_reservation, 0},
    {"cuMemMap", kr_on_mapping, KR_MEMORY_UNTRACKED},
    {"cuMemUnmap", kr_on_unmap, 0},
    {"cuArrayCreate_v2", kr_on_handle, KR_MEMORY_UNTRACKED},
    {"cuArray3DCreate_v2", kr_on_handle, KR_MEMORY_UNTRACKED},
    {"cuMipmappedArrayCreate", kr_on_handle, KR_MEMORY_UNTRACKED},
    {"cuArrayDestroy", kr_on_free, 0},
    {"cuMipmappedArrayDestroy", kr_on_free, 0},
    {"cuIpcOpenMemHandle*", kr_on_other_memory, 0}, // opened twice it is closed twice
    {"cuLibraryGetManaged", kr_on_other_memory, 0},
    {"cuMemMapArrayAsync*", kr_on_other_memory, 0},
    {"cuMemPoolImportPointer", kr_on_other_memory, 0},
    {"cuExternalMemoryGetMapped*", kr_on_other_memory, 0},
    {"cuGraphicsResourceGetMapped*", kr_on_other_memory, 0},
    {"cuGraphicsSubResourceGetMappedArray", kr_on_other_memory, 0},
    {"cuGraphAddMemAllocNode", kr_on_other_memory, 0},
    {"cuMulticastBind*", kr_on_other_memory, 0},
    {"cuGLMapBufferObject*", kr_on_other_memory, 0},
    // Host memory that kernels can reach: a pointer to it among a kernel's arguments declines that kernel.
    {"cuMemAllocHost_v2", kr_on_alloc, KR_MEMORY_HOST},
    {"cuMemHostAlloc*", kr_on_alloc, KR_MEMORY_HOST},
    {"cuMemFreeHost", kr_on_free, 0},
    {"cuMemHostRegister*", kr_on_map, KR_MEMORY_HOST},
    {"cuMemHostUnregister", kr_on_free, 0},
    {"cuMemHostGetDevicePointer_v2", kr_on_device_pointer, 0},
    // Captured memory that others write from now on: other processes, network cards.
    {"cuIpcGetMemHandle", kr_on_export, 0},
    {"cuMemGetHandleForAddressRange", kr_on_export, 0},
    {"cuPointerSetAttribute", kr_on_pointer_attribute, 0},
    // Allocators of a kind not known here.
    {"cuMemAlloc*", kr_on_other_memory, 0},
    {"cuArrayCreate*", kr_on_other_memory, 0},
    {"cuArray3DCreate*", kr_on_other_memory, 0},
    // Kernels of graphs.
    {"cuGraphAddNode", kr_on_graph_node, 0},
    {"cuGraphAddNode_v2", kr_on_graph_node_v2, 0},
    {"cuGraphNodeSetParams", kr_on_graph_set, 0},
    {"cuGraphExecNodeSetParams", kr_on_graph_exec_set, 0},
    {"cuGraphAddKernelNode", kr_on_graph_kernel, 0},
    {"cuGraphAddKernelNode_v2", kr_on_graph_kernel, 0},
    {"cuGraphKernelNodeSetParams", kr_on_graph_kernel_set, 0},
    {"cuGraphKernelNodeSetParams_v2", kr_on_graph_kernel_set, 0},
    {"cuGraphExecKernelNodeSetParams", kr_on_graph_exec_kernel_set, 0},
    {"cuGraphExecKernelNodeSetParams_v2", kr_on_graph_exec_kernel_set, 0},
    // Other work.
    {"cuMemcpy*", kr_on_submission, 0},
    {"cuMemset*", kr_on_submission, 0},
    {"cuMemPrefetch*", kr_on_submission, 0},
    {"cuMemDiscard*", kr_on_submission, 0},
    {"cuMemBatch*", kr_on_submission, 0},
    {"cuStreamWriteValue*", kr_on_submission, 0},
    {"cuStreamBatchMemOp*", kr_on_submission, 0},
    {"cuStreamAddCallback*", kr_on_submission, 0},
    // In it work can be waiting for another context's memory: whose it is has to be known.
    {"cuStreamCreate*", kr_on_submission, 0},
    {"cuCtxEnablePeerAccess", kr_on_peer_access, 0},
    // The end of a context takes its modules along: not in the middle of a window.
    {"cuCtxDestroy*", kr_on_load_or_end, 0},
    {"cuCtxDetach", kr_on_load_or_end, 0},
    {"cuDevicePrimaryCtxReset*", kr_on_load_or_end, 0},
    {"cuDevicePrimaryCtxRelease*", kr_on_load_or_end, 0},
    {"cuGreenCtxCreate", kr_on_green_context, 0},
    {"cuGreenCtxDestroy", kr_on_load_or_end, 0},
};

static bool fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

// These work on the GPU of the current context, and the driver refuses them without one. Others find theirs through a
// stream or a handle, or need none.
static bool needs_context(const struct kr_call *call)
{
    static void (*const handlers[])(const struct kr_call_site *site) = {
        kr_on_alloc,  kr_on_alloc_async,    kr_on_alloc_pitch, kr_on_map,         kr_on_handle,
        kr_on_global, kr_on_library_global, kr_on_module_load, kr_on_peer_access,
    };
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (call->on == handlers[i])
            return true;
    return false;
}

static const struct kr_call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (fits(calls[i].name, name))
            return &calls[i];
    return NULL;
}

void kr_call_hold_gate(const struct kr_call_site *site)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < site->cuda->device_count; i++) {
        struct kr_device *device = &site->cuda->devices[i];
        if (site->device && device != site->device && !device->context)
            continue;
        kr_gate_enter(site->cuda->engine, i);
        held |= UINT64_C(1) << i;
    }
    *site->data->correlationData = held;
}

void kr_call_let_go(const struct kr_call_site *site)
{
    uint64_t held = *site->data->correlationData;
    for (uint32_t i = 0; i < site->cuda->device_count; i++)
        if (held >> i & 1)
            kr_gate_leave(site->cuda->engine, i);
}

void kr_call_complain(const struct kr_call_site *site, const char *consequence)
{
    if (!atomic_exchange(&site->cuda->complained[site->cbid], true))
        kr_engine_message(site->cuda->engine, "%s: %s", site->data->functionName, consequence);
}

void kr_call_end_replay(const struct kr_call_site *site)
{
    struct kr_cuda *cuda = site->cuda;
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (!site->device || &cuda->devices[i] == site->device || cuda->devices[i].context)
            kr_engine_blind(cuda->engine, i, KREPLAY_REASON_UNTRACKED_MEMORY);
}

void kr_call_blind(const struct kr_call_site *site, int status)
{
    struct kr_cuda *cuda = site->cuda;
    kr_call_end_replay(site);
    kr_engine_message(cuda->engine,
                      "%s cannot be followed (%s); from now on kernels run once and are not counted",
                      site->data->functionName, kreplay_status_text(status));
}

static const CUpti_CallbackId resources[] = {
    CUPTI_CBID_RESOURCE_MODULE_LOADED,
    CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
};

int kr_callbacks_enable(struct kr_cuda *cuda, char *error, size_t error_bytes)
{
    const struct kr_cupti *cupti = &cuda->cupti;
    CUptiResult result = cupti->subscribe(&cuda->subscriber, kr_cuda_callback, cuda);

    if (result != CUPTI_SUCCESS) {
        // CUPTI has room for one subscriber a process.
        snprintf(error, error_bytes, "cuptiSubscribe: %s (another profiler in this process?)",
                 kr_cupti_text(cupti, result));
        return KREPLAY_UNAVAILABLE;
    }
    for (CUpti_CallbackId i = 1; i < KR_CUDA_MAX_CALLBACKS && result == CUPTI_SUCCESS; i++) {
        const char *name = NULL;
        if (cupti->get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, i, &name) != CUPTI_SUCCESS || !name)
            continue;
        cuda->calls[i] = find_call(name);
        if (cuda->calls[i])
            result = cupti->enable_callback(1, cuda->subscriber, CUPTI_CB_DOMAIN_DRIVER_API, i);
    }
    for (size_t i = 0; i < sizeof resources / sizeof *resources && result == CUPTI_SUCCESS; i++)
        result = cupti->enable_callback(1, cuda->subscriber, CUPTI_CB_DOMAIN_RESOURCE, resources[i]);
    if (result == CUPTI_SUCCESS)
        return 0;
    snprintf(error, error_bytes, "cuptiEnableCallback: %s", kr_cupti_text(cupti, result));
    cupti->unsubscribe(cuda->subscriber);
    return KREPLAY_UNAVAILABLE;
}

static void on_resource(struct kr_cuda *cuda, CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
    const CUpti_ModuleResourceData *module = data->resourceDescriptor;
    switch (cbid) {
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
        kr_modules_loaded(cuda, module->moduleId, module->pCubin, module->cubinSize);
        break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        kr_modules_unloading(cuda, module->moduleId);
        break;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        kr_device_lose(cuda, data->context);
        break;
    default:
        break;
    }
}

static void on_driver_call(struct kr_cuda *cuda, CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
    if (cbid >= KR_CUDA_MAX_CALLBACKS || !cuda->calls[cbid])
        return;
    const struct kr_call *call = cuda->calls[cbid];
    bool enters = data->callbackSite == CUPTI_API_ENTER;
    if (!enters && *data->correlationData == 0)
        return; // nothing was done when it began
    if (!data->context && (needs_context(call) || (!cuda->prepared && call->on == kr_on_load_or_end)))
        return; // the latter: no GPU was used yet, and it need not come to that
    if (!cuda->prepared && kr_cuda_prepare(cuda) != 0)
        return;
    struct kr_call_site site = {
        .cuda = cuda,
        .call = call,
        .cbid = cbid,
        .data = data,
        .device = kr_cuda_device(cuda, data->context),
    };
    if (enters && site.device && site.device->context == data->context)
        kr_device_set_up(cuda, site.device);
    if (site.device || !needs_context(call))
        call->on(&site);
}

void CUPTIAPI kr_cuda_callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                               const void *data)
{
    struct kr_cuda *cuda = userdata;
    bool leaving = domain == CUPTI_CB_DOMAIN_DRIVER_API &&
                   ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_EXIT;

    // Handlers say there what they did when the call began.
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && !leaving)
        *((const CUpti_CallbackData *)data)->correlationData = 0;
    // What was entered is left, also when the end of the program came between.
    if (!cuda->active && !leaving)
        return;
    // A module of the program's is often loaded by kreplay's own call, just before a launch of its first
    // kernel.
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        on_resource(cuda, cbid, data);
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && kr_cuda_depth == 0)
        on_driver_call(cuda, cbid, data);
}
