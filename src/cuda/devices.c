// SPDX-License-Identifier: MIT
// Owns the GPUs: making them known, finding the one of a context, and entering it for kreplay's own work.
#include "cuda/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local unsigned kr_cuda_depth;

int kr_own_enter(struct kr_own *own, const struct kr_cuda *cuda, const struct kr_device *device)
{
    *own = (struct kr_own){.cuda = cuda, .mode = CU_STREAM_CAPTURE_MODE_RELAXED};
    kr_cuda_depth++;
    cuda->driver.thread_exchange_stream_capture_mode(&own->mode);
    if (!device)
        return 0;
    own->pushed = !device->lost && cuda->driver.ctx_push_current(device->context) == CUDA_SUCCESS;
    if (own->pushed)
        return 0;
    kr_own_leave(own);
    return KREPLAY_DEVICE;
}

void kr_own_leave(struct kr_own *own)
{
    CUcontext context;
    if (own->pushed)
        own->cuda->driver.ctx_pop_current(&context);
    own->cuda->driver.thread_exchange_stream_capture_mode(&own->mode);
    kr_cuda_depth--;
}

static uint32_t attribute(const struct kr_driver *driver, CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    if (driver->device_get_attribute(&value, which, device) != CUDA_SUCCESS || value < 0)
        return 0;
    return (uint32_t)value;
}

static int describe(const struct kr_cuda *cuda, struct kr_device *device)
{
    const struct kr_driver *driver = &cuda->driver;
    char product[256] = "", name[32];
    size_t memory_bytes = 0;

    driver->device_get_name(product, sizeof product, device->handle);
    driver->device_total_mem(&memory_bytes, device->handle);
    snprintf(name, sizeof name, "sm_%u%u",
             attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
             attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    uint32_t warp = attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    kreplay_agent info = {
        .size = sizeof info,
        .agent_id = device->agent,
        .node_id = device->agent,
        .name = name,
        .product = product,
        .vendor = "NVIDIA",
        .compute_units = attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .simds_per_cu = 4, // sub-partitions of a multiprocessor, since Maxwell
        .wave_size = warp,
        .max_waves_per_cu =
            warp
                ? attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / warp
                : 0,
        .lds_bytes = attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        .max_clock_mhz = attribute(driver, device->handle, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000,
        .memory_bytes = memory_bytes,
    };
    return kr_engine_add_agent(cuda->engine, &info);
}

static int add_device(struct kr_cuda *cuda, uint32_t index)
{
    struct kr_device *device = &cuda->devices[index];
    char chip[64];

    device->agent = index;
    // One that cannot be described is listed all the same: agents are numbered as the driver's devices.
    CUresult got = cuda->driver.device_get(&device->handle, (int)index);
    if (got != CUDA_SUCCESS) {
        device->handle = CU_DEVICE_INVALID;
        kr_engine_message(cuda->engine, "GPU %u cannot be used: cuDeviceGet: %s", index,
                          kr_driver_text(&cuda->driver, got));
    }
    device->pageable_access =
        attribute(&cuda->driver, device->handle, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
    CUptiResult result = kr_metrics_chip(&cuda->cupti, index, chip, sizeof chip);
    if (result != CUPTI_SUCCESS)
        kr_engine_message(cuda->engine, "GPU %u has no counters: CUPTI: %s", index,
                          kr_cupti_text(&cuda->cupti, result));
    kr_metrics_init(&device->metrics, chip);
    cuda->device_count = index + 1; // the tool asks for counters while the agent is added
    return describe(cuda, device);
}

static int prepare_locked(struct kr_cuda *cuda)
{
    int count = 0, status = 0;
    if (cuda->driver.device_get_count(&count) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    if (count > KR_CUDA_MAX_DEVICES)
        count = KR_CUDA_MAX_DEVICES;
    for (uint32_t i = 0; i < (uint32_t)count && status == 0; i++)
        status = add_device(cuda, i);
    return status;
}

int kr_cuda_prepare(struct kr_cuda *cuda)
{
    struct kr_own own;
    int status = 0;
    if (cuda->prepared)
        return 0;
    kr_own_enter(&own, cuda, NULL);
    pthread_mutex_lock(&cuda->lock);
    if (!cuda->prepared) {
        status = prepare_locked(cuda);
        if (status != 0) {
            kr_engine_message(cuda->engine, "the GPUs cannot be listed (%s); nothing is collected",
                              kreplay_status_text(status));
            cuda->active = false;
        }
        cuda->prepared = true;
    }
    pthread_mutex_unlock(&cuda->lock);
    kr_own_leave(&own);
    return status;
}

struct kr_device *kr_cuda_device(struct kr_cuda *cuda, CUcontext context)
{
    CUdevice handle;
    struct kr_own own;

    if (!context)
        return NULL;
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (cuda->devices[i].context == context)
            return &cuda->devices[i];
    kr_own_enter(&own, cuda, NULL);
    bool known = cuda->driver.ctx_get_device(&handle) == CUDA_SUCCESS;
    kr_own_leave(&own);
    for (uint32_t i = 0; known && i < cuda->device_count; i++) {
        struct kr_device *device = &cuda->devices[i];
        CUcontext none = NULL;
        if (device->handle != handle)
            continue;
        atomic_compare_exchange_strong(&device->context, &none, context);
        return device;
    }
    return NULL;
}

bool kr_cuda_is_ours(struct kr_cuda *cuda, struct kr_device *device, CUcontext context)
{
    if (device->context == context && !device->lost)
        return true;
    if (!atomic_exchange(&cuda->foreign_complained, true))
        kr_engine_message(
            cuda->engine,
            device->lost ? "GPU %u: the context that was replayed is destroyed; nothing is replayed any more"
                         : "GPU %u: only the first context that a program makes is replayed; work of another "
                           "one is not",
            device->agent);
    return false;
}

bool kr_cuda_is_alone(struct kr_cuda *cuda)
{
    unsigned used = 0;
    for (uint32_t i = 0; i < cuda->device_count; i++)
        used += cuda->devices[i].context != NULL;
    if (used <= 1)
        return true;
    if (!atomic_exchange(&cuda->several_complained, true))
        kr_engine_message(
            cuda->engine,
            "the program uses several GPUs: nothing is replayed from now on, as their copies to each "
            "other are not waited for; run it with one of them in CUDA_VISIBLE_DEVICES");
    return false;
}

static CUresult make_own(const struct kr_driver *driver, struct kr_device *device, const char **step)
{
    *step = "cuStreamCreate";
    CUresult result = driver->stream_create(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return result;
    *step = "cuEventCreate";
    result = driver->event_create(&device->idle, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = driver->event_create(&device->begin, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS)
        result = driver->event_create(&device->end, CU_EVENT_DEFAULT);
    return result == CUDA_SUCCESS ? kr_blocks_set_up(&device->blocks, driver, step) : result;
}

static bool lacks_compiler(CUresult result)
{
    return result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND || result == CUDA_ERROR_JIT_COMPILATION_DISABLED ||
           result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_NO_BINARY_FOR_GPU;
}

void kr_device_set_up(struct kr_cuda *cuda, struct kr_device *device)
{
    const char *step;
    struct kr_own own;

    if (device->set_up || kr_own_enter(&own, cuda, device) != 0)
        return;
    pthread_mutex_lock(&cuda->lock);
    if (!device->set_up) {
        CUresult result = make_own(&cuda->driver, device, &step);
        device->ready = result == CUDA_SUCCESS;
        device->set_up = true;
        if (!device->ready)
            kr_engine_message(
                cuda->engine,
                "GPU %u: nothing is replayed, as kreplay's own kernels cannot be set up: %s: %s%s",
                device->agent, step, kr_driver_text(&cuda->driver, result),
                lacks_compiler(result) ? "; it needs the driver's compiler of PTX (libnvidia-ptxjitcompiler, "
                                         "and CUDA_DISABLE_PTX_JIT not set)"
                                       : "");
    }
    pthread_mutex_unlock(&cuda->lock);
    kr_own_leave(&own);
}

// Others may be in the middle of a pass.
void kr_device_lose(struct kr_cuda *cuda, CUcontext context)
{
    for (uint32_t i = 0; i < cuda->device_count; i++) {
        struct kr_device *device = &cuda->devices[i];
        struct kr_own own;
        if (device->context != context || device->lost)
            continue;
        if (kr_own_enter(&own, cuda, device) == 0) {
            kr_profiler_close(&cuda->cupti, &device->profiler);
            kr_own_leave(&own);
        }
        device->lost = true;
    }
}
