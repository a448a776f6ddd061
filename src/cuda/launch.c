// SPDX-License-Identifier: MIT
// Owns the program's launch calls: a window opens when one starts and closes when it ends, on the program's
// thread. The program's own launch in between is the live execution.
#include "cuda/launch.h"

#include "cuda/callbacks.h"
#include "cuda/memory.h"
#include "cuda/params.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The launches of this thread whose windows are open: one, and those that a tool's callback makes inside it.
static _Thread_local struct kr_launch outermost, *innermost;

// A launch in the words that all launch calls share.
struct request {
    enum kr_launch_shape shape;
    const char *name; // what it is called when it is no kernel
    CUfunction function;
    CUstream stream;
    unsigned grid[3], block[3], shared_bytes;
    void **arguments, **extra;
    const CUlaunchAttribute *attributes;
    unsigned attribute_count;
};

CUresult kr_launch_again(const struct kr_launch *again)
{
    const struct kr_driver *driver = &again->cuda->driver;
    switch (again->shape) {
    case KR_LAUNCH_KERNEL: {
        const struct kr_launch_params *p = again->params;
        return driver->launch_kernel(p->function, p->grid[0], p->grid[1], p->grid[2], p->block[0],
                                     p->block[1], p->block[2], p->shared_bytes, again->stream, p->arguments,
                                     p->extra);
    }
    case KR_LAUNCH_EX: {
        const struct kr_launch_ex_params *p = again->params;
        CUlaunchConfig config = *p->config;
        config.hStream = again->stream;
        return driver->launch_kernel_ex(&config, p->function, p->arguments, p->extra);
    }
    case KR_LAUNCH_COOPERATIVE: {
        const struct kr_launch_params *p = again->params;
        return driver->launch_cooperative_kernel(p->function, p->grid[0], p->grid[1], p->grid[2], p->block[0],
                                                 p->block[1], p->block[2], p->shared_bytes, again->stream,
                                                 p->arguments);
    }
    case KR_LAUNCH_OTHER:
        break;
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

// A launch that signals events of the program's by itself would signal them again.
static kreplay_reason judge_attributes(const struct request *request)
{
    for (unsigned i = 0; i < request->attribute_count; i++)
        switch (request->attributes[i].id) {
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            return KREPLAY_REASON_UNSAFE_KERNEL;
        default:
            break;
        }
    return KREPLAY_REASON_NONE;
}

// Pointers are aligned inside a parameter, and parameters are inside the buffer.
static kreplay_reason judge_bytes(struct kr_cuda *cuda, const struct kr_device *device, const char *bytes,
                                  size_t count)
{
    kreplay_reason reason = KREPLAY_REASON_NONE;
    for (size_t i = 0; i + sizeof(uint64_t) <= count && reason == KREPLAY_REASON_NONE;
         i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        reason = kr_memory_judge(cuda, device, word);
    }
    return reason;
}

// The packed argument buffer of `extra`; NULL if there is none.
static const char *packed_arguments(void **extra, size_t *bytes)
{
    const char *buffer = NULL;
    *bytes = 0;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
        else
            return NULL;
    }
    return buffer;
}

// *index = the argument that is meant.
static kreplay_reason judge_arguments(struct kr_cuda *cuda, const struct kr_device *device,
                                      const struct kr_kernel *kernel, const struct request *request,
                                      size_t *index)
{
    size_t packed_bytes;
    const char *packed = request->arguments ? NULL : packed_arguments(request->extra, &packed_bytes);

    for (size_t i = 0; i < kernel->param_count; i++) {
        const struct kr_param *param = &kernel->params[i];
        kreplay_reason reason = KREPLAY_REASON_NONE;
        if (request->arguments)
            reason = judge_bytes(cuda, device, request->arguments[i], param->bytes);
        else if (packed && param->offset <= packed_bytes && param->bytes <= packed_bytes - param->offset)
            reason = judge_bytes(cuda, device, packed + param->offset, param->bytes);
        if (reason == KREPLAY_REASON_NONE)
            continue;
        *index = i;
        return reason;
    }
    return KREPLAY_REASON_NONE;
}

static bool is_ours(const struct kr_call_site *site)
{
    return kr_cuda_is_ours(site->cuda, site->device, site->data->context);
}

// *argument is set where the reason is one of them.
static kreplay_reason judge(const struct kr_call_site *site, const struct kr_kernel *kernel,
                            const struct request *request, size_t *argument)
{
    struct kr_cuda *cuda = site->cuda;

    if (cuda->ending)
        return KREPLAY_REASON_PROGRAM_ENDING;
    if (kernel->unsafe != KREPLAY_REASON_NONE)
        return kernel->unsafe;
    if (!is_ours(site) || !kr_cuda_is_alone(cuda))
        return KREPLAY_REASON_UNTRACKED_MEMORY;
    if (!site->device->ready)
        return KREPLAY_REASON_DEVICE_ERROR;
    if (cuda->captures > 0) // draining the context would break it
        return KREPLAY_REASON_STREAM_CAPTURE;
    kreplay_reason reason = judge_attributes(request);
    if (reason != KREPLAY_REASON_NONE)
        return reason;
    return judge_arguments(cuda, site->device, kernel, request, argument);
}

void kr_launch_refuse(kreplay_reason reason)
{
    if (innermost)
        innermost->op.unsafe = reason;
}

bool kr_launch_has_loaded(void)
{
    return innermost && innermost->loads != kr_cuda_loads.count;
}

static uint64_t queue_id(const struct kr_cuda *cuda, CUstream stream)
{
    unsigned long long id = 0;
    return cuda->driver.stream_get_id(stream, &id) == CUDA_SUCCESS ? id + 1 : 1;
}

static void describe(const struct kr_call_site *site, struct kr_launch *launch, const struct request *request)
{
    const struct kr_kernel *kernel = launch->kernel;
    kreplay_dispatch *dispatch = &launch->op.dispatch;
    *dispatch = (kreplay_dispatch){
        .size = sizeof *dispatch,
        .dispatch_id = kr_engine_new_id(site->cuda->engine, KR_ID_DISPATCH),
        .agent_id = site->device->agent,
        .queue_id = queue_id(site->cuda, launch->stream),
        .kernel_id = kernel->id,
        .kernel_name = kernel->name,
        .thread_id = (uint64_t)syscall(SYS_gettid),
        .private_segment_bytes = kernel->local_bytes,
        .group_segment_bytes = kernel->static_shared_bytes + request->shared_bytes,
    };
    for (int i = 0; i < 3; i++) {
        uint64_t threads = (uint64_t)request->grid[i] * request->block[i];
        dispatch->workgroup[i] = request->block[i];
        dispatch->grid[i] = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
    }
}

// False: the launch is not followed.
static bool look_at(const struct kr_call_site *site, struct kr_launch *launch, const struct request *request)
{
    struct kr_cuda *cuda = site->cuda;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    struct kr_kernel *kernel = NULL;

    if (cuda->driver.stream_is_capturing(launch->stream, &capture) != CUDA_SUCCESS)
        return false;
    if (request->shape != KR_LAUNCH_OTHER)
        kernel = kr_kernels_get(cuda, site->device, is_ours(site), request->function);
    // Into a graph: not executed now. Known it has to be, for what it leaves in memory when the graph is launched.
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        if (kernel)
            kr_kernels_put(&cuda->kernels, kernel);
        return false;
    }
    if (!kernel)
        kernel = kr_kernels_pseudo(cuda, site->device, request->name ? request->name : "an unknown kernel",
                                   KREPLAY_REASON_UNKNOWN_PACKET);
    if (!kernel)
        return false;
    launch->kernel = kernel;
    launch->argument = SIZE_MAX;
    launch->op.unsafe = judge(site, kernel, request, &launch->argument);
    describe(site, launch, request);
    return true;
}

// Once for each kernel, and only of what a tool wanted.
static void say_why_not(struct kr_cuda *cuda, const struct kr_launch *launch)
{
    struct kr_kernel *kernel = launch->kernel;
    bool argument = launch->argument != SIZE_MAX;

    if (!launch->window.wanted || (!argument && !kernel->why) || atomic_exchange(&kernel->why_said, true))
        return;
    if (argument)
        kr_engine_message(cuda->engine, "kernel %s is not replayed: its argument %zu points into %s",
                          kernel->name, launch->argument,
                          launch->op.unsafe == KREPLAY_REASON_HOST_MEMORY
                              ? "host memory"
                              : "device memory that is not captured");
    else
        kr_engine_message(cuda->engine, "kernel %s is not replayed: %s", kernel->name, kernel->why);
}

static bool record(const struct kr_launch *launch, CUevent event)
{
    struct kr_own own;
    if (kr_own_enter(&own, launch->cuda, launch->device) != 0)
        return false;
    bool recorded = launch->cuda->driver.event_record(event, launch->stream) == CUDA_SUCCESS;
    kr_own_leave(&own);
    return recorded;
}

static bool is_per_thread_variant(const char *call)
{
    size_t length = strlen(call);
    return length > 5 && strcmp(call + length - 5, "_ptsz") == 0;
}

// The end either counts this launch or is seen by it.
static void count(struct kr_launch *launch)
{
    launch->cuda->windows++;
    launch->counted = !launch->cuda->ending;
    if (!launch->counted)
        launch->cuda->windows--;
}

static void put(struct kr_launch *launch)
{
    if (launch->counted)
        launch->cuda->windows--;
    if (launch != &outermost)
        free(launch);
}

// Looking at a kernel for the first time loads its module: not in the middle of another thread's window.
static bool look_within_gate(const struct kr_call_site *site, struct kr_launch *launch,
                             const struct request *request)
{
    struct kr_own own;
    kr_gate_enter(site->cuda->engine, site->device->agent);
    kr_own_enter(&own, site->cuda, NULL);
    bool followed = look_at(site, launch, request);
    kr_own_leave(&own);
    kr_gate_leave(site->cuda->engine, site->device->agent);
    return followed;
}

// The stream decides which GPU it is, and nobody knows the stream: no window is open when the launch begins, and none
// opens any more.
static void let_go_unseen(const struct kr_call_site *site)
{
    kr_call_hold_gate(site);
    kr_call_complain(site, "a launch without a current context cannot be followed; from now on kernels run "
                           "once and are not counted");
    kr_call_end_replay(site);
    kr_call_let_go(site);
    *site->data->correlationData = 0;
}

static void begin(const struct kr_call_site *site, const struct request *request)
{
    if (!site->device) {
        let_go_unseen(site);
        return;
    }
    struct kr_launch *launch = innermost ? malloc(sizeof *launch) : &outermost;
    if (!launch)
        return;
    *launch = (struct kr_launch){
        .cuda = site->cuda,
        .device = site->device,
        .shape = request->shape,
        .stream = !request->stream && is_per_thread_variant(site->call->name) ? CU_STREAM_PER_THREAD
                                                                              : request->stream,
        .params = site->data->functionParams,
        .outer = innermost,
        .op = {.kind = KR_OP_DISPATCH, .backend = launch},
    };
    count(launch);
    if (!look_within_gate(site, launch, request)) {
        put(launch);
        return;
    }
    launch->window = (struct kr_window){
        .agent = site->device->agent, .queue = launch, .ops = &launch->op, .op_count = 1, .backend = launch};
    innermost = launch;
    *site->data->correlationData = (uintptr_t)launch;
    kr_window_open(site->cuda->engine, &launch->window);
    say_why_not(site->cuda, launch);
    launch->loads = kr_cuda_loads.count;
    launch->timed = launch->admitted && record(launch, site->device->begin);
}

static void end(const struct kr_call_site *site)
{
    struct kr_launch *launch = (struct kr_launch *)(uintptr_t)*site->data->correlationData;

    launch->params = site->data->functionParams;
    launch->failed = !kr_call_succeeded(site);
    if (launch->admitted && !launch->failed)
        launch->failed = !record(launch, site->device->end);
    kr_window_close(site->cuda->engine, &launch->window);
    kr_kernels_put(&site->cuda->kernels, launch->kernel);
    innermost = launch->outer;
    put(launch);
}

void kr_on_launch_kernel(const struct kr_call_site *site)
{
    const struct kr_launch_params *p = site->data->functionParams;
    if (!kr_call_enters(site)) {
        end(site);
        return;
    }
    begin(site, &(struct request){
                    .shape = KR_LAUNCH_KERNEL,
                    .function = p->function,
                    .stream = p->stream,
                    .grid = {p->grid[0], p->grid[1], p->grid[2]},
                    .block = {p->block[0], p->block[1], p->block[2]},
                    .shared_bytes = p->shared_bytes,
                    .arguments = p->arguments,
                    .extra = p->extra,
                });
}

void kr_on_launch_kernel_ex(const struct kr_call_site *site)
{
    const struct kr_launch_ex_params *p = site->data->functionParams;
    const CUlaunchConfig *config = p->config;
    if (!kr_call_enters(site)) {
        end(site);
        return;
    }
    // The driver refuses both.
    if (!config || (!config->attrs && config->numAttrs > 0)) {
        begin(site, &(struct request){.shape = KR_LAUNCH_OTHER, .name = "cuLaunchKernelEx"});
        return;
    }
    begin(site, &(struct request){
                    .shape = KR_LAUNCH_EX,
                    .function = p->function,
                    .stream = config->hStream,
                    .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                    .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                    .shared_bytes = config->sharedMemBytes,
                    .arguments = p->arguments,
                    .extra = p->extra,
                    .attributes = config->attrs,
                    .attribute_count = config->numAttrs,
                });
}

void kr_on_launch_cooperative(const struct kr_call_site *site)
{
    const struct kr_launch_params *p = site->data->functionParams;
    if (!kr_call_enters(site)) {
        end(site);
        return;
    }
    begin(site, &(struct request){
                    .shape = KR_LAUNCH_COOPERATIVE,
                    .function = p->function,
                    .stream = p->stream,
                    .grid = {p->grid[0], p->grid[1], p->grid[2]},
                    .block = {p->block[0], p->block[1], p->block[2]},
                    .shared_bytes = p->shared_bytes,
                    .arguments = p->arguments,
                });
}

void kr_on_launch_graph(const struct kr_call_site *site)
{
    const struct kr_launch_graph_params *p = site->data->functionParams;
    if (!kr_call_enters(site)) {
        end(site);
        return;
    }
    begin(site, &(struct request){.shape = KR_LAUNCH_OTHER, .name = "cuGraphLaunch", .stream = p->stream});
}

void kr_on_launch_other(const struct kr_call_site *site)
{
    if (!kr_call_enters(site)) {
        end(site);
        return;
    }
    begin(site, &(struct request){.shape = KR_LAUNCH_OTHER, .name = site->data->functionName});
}
