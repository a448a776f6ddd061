// SPDX-License-Identifier: MIT
// The CUDA driver as a table of functions. It is opened at run time, so that kreplay builds and loads without
// a GPU; tests fill the table with functions of their own.
#ifndef KR_CUDA_DRIVER_H
#define KR_CUDA_DRIVER_H

#include <cuda.h>
#include <stddef.h>

// X(field, function, version of the interface asked for): cuGetProcAddress gives the newest variant up to it.
#define KR_DRIVER_MAP(X)                                                                                     \
    X(get_error_name, cuGetErrorName, 6000)                                                                  \
    X(init, cuInit, 2000)                                                                                    \
    X(device_get_count, cuDeviceGetCount, 2000)                                                              \
    X(device_get, cuDeviceGet, 2000)                                                                         \
    X(device_get_name, cuDeviceGetName, 2000)                                                                \
    X(device_get_attribute, cuDeviceGetAttribute, 2000)                                                      \
    X(device_total_mem, cuDeviceTotalMem, 3020)                                                              \
    X(ctx_get_device, cuCtxGetDevice, 2000)                                                                  \
    X(ctx_push_current, cuCtxPushCurrent, 4000)                                                              \
    X(ctx_pop_current, cuCtxPopCurrent, 4000)                                                                \
    X(ctx_record_event, cuCtxRecordEvent, 12050)                                                             \
    X(thread_exchange_stream_capture_mode, cuThreadExchangeStreamCaptureMode, 10010)                         \
    X(mem_alloc, cuMemAlloc, 3020)                                                                           \
    X(mem_free, cuMemFree, 3020)                                                                             \
    X(mem_host_alloc, cuMemHostAlloc, 3020)                                                                  \
    X(mem_free_host, cuMemFreeHost, 2000)                                                                    \
    X(mem_get_info, cuMemGetInfo, 3020)                                                                      \
    X(memcpy_any, cuMemcpy, 4000)                                                                            \
    X(memcpy_async, cuMemcpyAsync, 4000)                                                                     \
    X(pointer_get_attributes, cuPointerGetAttributes, 7000)                                                  \
    X(stream_create, cuStreamCreate, 2000)                                                                   \
    X(stream_query, cuStreamQuery, 2000)                                                                     \
    X(stream_is_capturing, cuStreamIsCapturing, 10000)                                                       \
    X(stream_get_id, cuStreamGetId, 12000)                                                                   \
    X(event_create, cuEventCreate, 2000)                                                                     \
    X(event_record, cuEventRecord, 2000)                                                                     \
    X(event_query, cuEventQuery, 2000)                                                                       \
    X(event_elapsed_time, cuEventElapsedTime, 2000)                                                          \
    X(module_load_data, cuModuleLoadData, 2000)                                                              \
    X(module_get_function, cuModuleGetFunction, 2000)                                                        \
    X(module_get_global, cuModuleGetGlobal, 3020)                                                            \
    X(library_get_global, cuLibraryGetGlobal, 12000)                                                         \
    X(library_get_module, cuLibraryGetModule, 12000)                                                         \
    X(kernel_get_function, cuKernelGetFunction, 12000)                                                       \
    X(func_get_module, cuFuncGetModule, 11000)                                                               \
    X(func_get_name, cuFuncGetName, 12030)                                                                   \
    X(func_get_attribute, cuFuncGetAttribute, 2020)                                                          \
    X(func_get_param_info, cuFuncGetParamInfo, 12040)                                                        \
    X(func_load, cuFuncLoad, 12040)                                                                          \
    X(launch_kernel, cuLaunchKernel, 4000)                                                                   \
    X(launch_kernel_ex, cuLaunchKernelEx, 11060)                                                             \
    X(launch_cooperative_kernel, cuLaunchCooperativeKernel, 9000)

struct kr_driver {
#define X(field, function, version) __typeof__(function) *field;
    KR_DRIVER_MAP(X)
#undef X
};

const char *kr_driver_text(const struct kr_driver *driver, CUresult result); // name of the error; never NULL

// Fills the table from libcuda.so.1. KREPLAY_UNAVAILABLE: `error` names the library or function that is
// missing.
int kr_driver_open(struct kr_driver *driver, char *error, size_t error_bytes);

#endif
