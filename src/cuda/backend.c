// SPDX-License-Identifier: MIT
// Owns the back end struct: what the engine asks of a CUDA GPU. The live execution is the program's own
// launch, unarmed; passes are launches of kreplay's with the same arguments, one operation a window.
#include "cuda/launch.h"
#include "cuda/memory.h"
#include "cuda/poll.h"

#include "engine/bounds.h"
#include "engine/clock.h"

static struct kr_device *device_of(struct kr_cuda *cuda, uint32_t agent)
{
    return &cuda->devices[agent];
}

// Nothing is replayed on a context that is broken, and waiting longer would not help.
static int refuse_broken(int status)
{
    if (status == KREPLAY_DEVICE)
        kr_launch_refuse(KREPLAY_REASON_DEVICE_ERROR);
    return status;
}

static int drain_queue(void *ctx, uint32_t agent, void *queue, uint64_t timeout_ns)
{
    struct kr_cuda *cuda = ctx;
    struct kr_launch *launch = queue;
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device_of(cuda, agent));
    if (status != 0)
        return refuse_broken(status);
    device_of(cuda, agent)->passing = false;
    status = kr_poll_stream(&cuda->driver, launch->stream, timeout_ns);
    launch->admitted = status == 0;
    kr_own_leave(&own);
    return refuse_broken(status);
}

// Is everything done that the context was given?
static int drain_context(struct kr_cuda *cuda, struct kr_device *device, uint64_t timeout_ns)
{
    if (cuda->driver.ctx_record_event(device->context, device->idle) != CUDA_SUCCESS)
        return KREPLAY_DEVICE;
    return kr_poll_event(&cuda->driver, device->idle, timeout_ns);
}

// What other threads have begun since the launch was judged; with the gates closed nothing more can begin. An event of the
// context would invalidate a capture, and work of another GPU is not waited for.
static bool has_changed(struct kr_cuda *cuda)
{
    if (cuda->captures > 0)
        kr_launch_refuse(KREPLAY_REASON_STREAM_CAPTURE);
    else if (!kr_cuda_is_alone(cuda))
        kr_launch_refuse(KREPLAY_REASON_UNTRACKED_MEMORY);
    else
        return false;
    return true;
}

static int drain_agent(void *ctx, uint32_t agent, uint64_t timeout_ns)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_own own;

    if (!device->context || device->lost)
        return 0; // a GPU that the program has not used, or no longer uses
    if (!device->passing && has_changed(cuda))
        return KREPLAY_UNSUPPORTED;
    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return refuse_broken(status);
    status = drain_context(cuda, device, timeout_ns);
    // What a cancelled pass left armed can be taken down now.
    if (status == 0)
        kr_profiler_cancel(&cuda->cupti, &device->profiler);
    kr_own_leave(&own);
    device->host_address = false;
    return status == 0 ? kr_memory_list_hosts(cuda, device) : refuse_broken(status);
}

static int alloc(void *ctx, uint32_t agent, enum kr_place place, size_t bytes, void **out)
{
    struct kr_cuda *cuda = ctx;
    CUdeviceptr at = 0;
    CUresult result;
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device_of(cuda, agent));
    if (status != 0)
        return status;
    if (place == KR_PLACE_DEVICE) {
        result = cuda->driver.mem_alloc(&at, bytes);
        *out = (void *)(uintptr_t)at;
    } else {
        result = cuda->driver.mem_host_alloc(out, bytes, CU_MEMHOSTALLOC_PORTABLE);
    }
    kr_own_leave(&own);
    return result == CUDA_SUCCESS ? 0 : KREPLAY_NO_MEMORY;
}

static void release(void *ctx, uint32_t agent, enum kr_place place, void *buffer, size_t bytes)
{
    struct kr_cuda *cuda = ctx;
    struct kr_own own;

    (void)bytes;
    if (kr_own_enter(&own, cuda, device_of(cuda, agent)) != 0)
        return; // its context took the buffer along
    if (place == KR_PLACE_DEVICE)
        cuda->driver.mem_free((CUdeviceptr)(uintptr_t)buffer);
    else
        cuda->driver.mem_free_host(buffer);
    kr_own_leave(&own);
}

static uint64_t room(void *ctx, uint32_t agent, enum kr_place place)
{
    struct kr_cuda *cuda = ctx;
    size_t free_bytes = 0, total;
    struct kr_own own;

    if (place == KR_PLACE_HOST)
        return kr_bounds_host_half();
    if (kr_own_enter(&own, cuda, device_of(cuda, agent)) != 0)
        return 0;
    if (cuda->driver.mem_get_info(&free_bytes, &total) != CUDA_SUCCESS)
        free_bytes = 0;
    kr_own_leave(&own);
    return free_bytes > KR_CUDA_ROOM_LEFT ? free_bytes - KR_CUDA_ROOM_LEFT : 0;
}

// Copies within a GPU are not complete when the call returns; others have no bound.
static int copy_plainly(const struct kr_driver *driver, const struct kr_copy *list, size_t count,
                        uint64_t bound_ns)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++)
        if (driver->memcpy_any((CUdeviceptr)(uintptr_t)list[i].to, (CUdeviceptr)(uintptr_t)list[i].from,
                               list[i].bytes) != CUDA_SUCCESS)
            status = KREPLAY_DEVICE;
    int ended = kr_poll_stream(driver, CU_STREAM_LEGACY, bound_ns);
    return ended != 0 ? ended : status;
}

static int copy(void *ctx, uint32_t agent, enum kr_path path, const struct kr_copy *list, size_t count)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    if (path == KR_PATH_PRIMARY)
        status = kr_blocks_copy(&device->blocks, &cuda->driver, device->stream, cuda->copy_ns, list, count);
    else
        status = copy_plainly(&cuda->driver, list, count, cuda->copy_ns);
    kr_own_leave(&own);
    return status;
}

static int compare_all(void *ctx, uint32_t agent, const struct kr_comparison *list, size_t count,
                       size_t block_bytes)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    status = kr_blocks_compare(&device->blocks, &cuda->driver, device->stream, cuda->copy_ns, list, count,
                               block_bytes, &device->hosts, &device->host_address);
    kr_own_leave(&own);
    // What could not be looked at may hold one.
    if (status != 0 && device->hosts.count > 0)
        device->host_address = true;
    return status;
}

static bool sees_host(struct kr_cuda *cuda, struct kr_device *device)
{
    if (!device->host_address)
        return false;
    if (!device->host_address_said)
        kr_engine_message(
            cuda->engine,
            "GPU %u: its memory holds an address of host memory that kernels can write; while it "
            "does, kernels run once and are not counted",
            device->agent);
    device->host_address_said = true;
    return true;
}

static kreplay_reason object(void *ctx, uint32_t agent)
{
    struct kr_cuda *cuda = ctx;

    // A kernel may follow an address that lies in captured memory.
    if (sees_host(cuda, device_of(cuda, agent)))
        return KREPLAY_REASON_HOST_MEMORY;
    if (!kr_launch_has_loaded())
        return KREPLAY_REASON_NONE;
    kr_engine_message(cuda->engine,
                      "a kernel is not replayed this time: its launch loaded a module, whose variables "
                      "are not in the snapshot");
    return KREPLAY_REASON_UNTRACKED_MEMORY;
}

// What can be done about an error of CUPTI's.
static const struct hint {
    CUptiResult result;
    const char *text;
} hints[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
     "run as root, or let the driver admit all users (NVreg_RestrictProfilingToAdminUsers=0)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "profiling is to be enabled for the virtual GPU by its host"},
    {CUPTI_ERROR_HARDWARE_BUSY, "another profiler holds the counters"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "use a GPU that is not divided (MIG)"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "the GPU counts nothing in confidential mode"},
};

static const char *hint_for(CUptiResult result)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].result == result)
            return hints[i].text;
    return NULL;
}

// Once for each kind of failure.
static void say_why(struct kr_cuda *cuda, struct kr_device *device)
{
    struct kr_profiler *profiler = &device->profiler;
    const char *hint = hint_for(profiler->result);
    if (!profiler->failed ||
        (profiler->said == profiler->failed && profiler->said_result == profiler->result))
        return;
    profiler->said = profiler->failed;
    profiler->said_result = profiler->result;
    kr_engine_message(cuda->engine, "GPU %u: counters cannot be read: %s: %s%s%s", device->agent,
                      profiler->failed, kr_cupti_text(&cuda->cupti, profiler->result), hint ? "; " : "",
                      hint ? hint : "");
}

static void say_separate(struct kr_cuda *cuda, struct kr_device *device)
{
    const struct kr_joint *joint = &device->profiler.joint;
    if (!joint->separate || device->separate_said)
        return;
    device->separate_said = true;
    kr_engine_message(
        cuda->engine,
        "GPU %u: the counter groups cannot share a session of CUPTI's (%s: %s); each has its own, "
        "which takes some 150 ms more a group and dispatch",
        device->agent, joint->step, kr_cupti_text(&cuda->cupti, joint->result));
}

static int pass_begin(void *ctx, uint32_t agent, kreplay_group *group, size_t op_count)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    device->passing = true;
    if (group)
        status = kr_profiler_begin(&cuda->cupti, &device->profiler, device->context,
                                   (struct kr_metric_group *)group, op_count);
    if (status != 0)
        say_why(cuda, device);
    say_separate(cuda, device);
    kr_own_leave(&own);
    return status;
}

static int submit(void *ctx, uint32_t agent, struct kr_op *op, size_t index)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_launch *launch = op->backend;
    struct kr_own own;

    (void)index;
    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    device->submitted = launch;
    launch->start_ns = kr_clock_ns();
    if (kr_launch_again(launch) != CUDA_SUCCESS ||
        cuda->driver.event_record(device->end, launch->stream) != CUDA_SUCCESS)
        status = KREPLAY_DEVICE;
    kr_own_leave(&own);
    return status;
}

static int end_pass(struct kr_cuda *cuda, struct kr_device *device, uint64_t timeout_ns,
                    struct kr_op_result *results)
{
    int status = kr_poll_event(&cuda->driver, device->end, timeout_ns);
    results[0].start_ns = device->submitted->start_ns;
    results[0].end_ns = kr_clock_ns();
    if (status == 0 && device->profiler.started)
        status = kr_profiler_end(&cuda->cupti, &device->profiler, results, 1);
    else if (status == KREPLAY_DEVICE)
        kr_profiler_cancel(&cuda->cupti, &device->profiler);
    if (status == KREPLAY_UNAVAILABLE)
        say_why(cuda, device);
    return status;
}

static int pass_end(void *ctx, uint32_t agent, uint64_t timeout_ns, struct kr_op_result *results)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    struct kr_own own;

    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    status = end_pass(cuda, device, timeout_ns, results);
    kr_own_leave(&own);
    return status;
}

// CUDA cannot stop a kernel: what still runs has to be waited for (drain_agent).
static int cancel(void *ctx, uint32_t agent)
{
    return drain_agent(ctx, agent, 0);
}

static int live_wait(void *ctx, uint32_t agent, struct kr_window *window, uint64_t timeout_ns,
                     struct kr_op_result *results)
{
    struct kr_cuda *cuda = ctx;
    struct kr_device *device = device_of(cuda, agent);
    const struct kr_launch *launch = window->backend;
    float elapsed_ms = 0;
    struct kr_own own;

    if (launch->failed)
        return KREPLAY_DEVICE;
    int status = kr_own_enter(&own, cuda, device);
    if (status != 0)
        return status;
    status = kr_poll_event(&cuda->driver, device->end, timeout_ns);
    results[0].end_ns = kr_clock_ns();
    if (status == 0 && launch->timed &&
        cuda->driver.event_elapsed_time(&elapsed_ms, device->begin, device->end) == CUDA_SUCCESS)
        results[0].start_ns = results[0].end_ns - (uint64_t)(elapsed_ms * 1e6f);
    else
        results[0].start_ns = results[0].end_ns;
    kr_own_leave(&own);
    return status;
}

// The program's launch stands by itself: there is nothing to complete, and nothing to run later.
static void detach(void *ctx, uint32_t agent, struct kr_window *window)
{
    (void)ctx, (void)agent, (void)window;
}

static void complete(void *ctx, uint32_t agent, struct kr_window *window, const struct kr_op_result *live)
{
    (void)ctx, (void)agent, (void)window, (void)live;
}

static int counters(void *ctx, uint32_t agent, int (*visit)(void *arg, const kreplay_counter *counter),
                    void *arg)
{
    struct kr_cuda *cuda = ctx;
    return kr_metrics_visit(&cuda->cupti, &device_of(cuda, agent)->metrics, agent, visit, arg);
}

static int group_create(void *ctx, uint32_t agent, const char *const *names, size_t count,
                        kreplay_group **group, char *error, size_t error_bytes)
{
    struct kr_cuda *cuda = ctx;
    struct kr_metric_group *made = NULL;
    int status = kr_metric_group_create(&cuda->cupti, &device_of(cuda, agent)->metrics, agent, names, count,
                                        &made, error, error_bytes);
    *group = made ? &made->base : NULL;
    return status;
}

static void group_destroy(void *ctx, kreplay_group *group)
{
    (void)ctx;
    kr_metric_group_destroy((struct kr_metric_group *)group);
}

const struct kr_backend kr_cuda_backend = {
    .name = "cuda",
    .drain_queue = drain_queue,
    .drain_agent = drain_agent,
    .alloc = alloc,
    .release = release,
    .room = room,
    .copy = copy,
    .compare_all = compare_all,
    .object = object,
    .pass_begin = pass_begin,
    .submit = submit,
    .pass_end = pass_end,
    .cancel = cancel,
    .detach = detach,
    .live_wait = live_wait,
    .complete = complete,
    .counters = counters,
    .group_create = group_create,
    .group_destroy = group_destroy,
};
