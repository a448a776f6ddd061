// SPDX-License-Identifier: MIT
// The driver of the tests, and the program's side of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cuda.h"

#include <unistd.h>

struct fake_cuda fake;

// Contexts: the first of each GPU, and a second one of GPU 0.
static char contexts[FAKE_GPUS + 1], the_events[FAKE_GPUS * 3], the_streams[FAKE_GPUS];
static unsigned event_count;
static CUcontext pushed[8]; // by kreplay
static unsigned pushed_count;

CUcontext fake_context(unsigned which)
{
    return (CUcontext)&contexts[which];
}

static CUcontext current(void)
{
    return pushed_count > 0 ? pushed[pushed_count - 1] : fake.context;
}

static unsigned gpu_of(CUcontext context)
{
    return (unsigned)((char *)context - contexts) % FAKE_GPUS;
}

// Memory that the fake driver gave out, so that it can tell what an address is.
struct piece {
    struct piece *next;
    char *base;
    size_t bytes;
    unsigned type;
    bool managed;
};
static struct piece *pieces;

static void *give(size_t bytes, unsigned type)
{
    struct piece *piece = malloc(sizeof *piece);
    *piece = (struct piece){pieces, calloc(1, bytes ? bytes : 1), bytes, type, false};
    pieces = piece;
    return piece->base;
}

static void take(void *base)
{
    for (struct piece **link = &pieces; *link; link = &(*link)->next)
        if ((*link)->base == base) {
            struct piece *piece = *link;
            *link = piece->next;
            free(piece->base);
            free(piece);
            return;
        }
}

static CUresult device_get_count(int *count)
{
    *count = fake.gpus;
    return CUDA_SUCCESS;
}

static CUresult device_get(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult device_get_name(char *name, int bytes, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "fake");
    return CUDA_SUCCESS;
}

static CUresult device_get_attribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS ? 0 : 32;
    return CUDA_SUCCESS;
}

static CUresult device_total_mem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return CUDA_SUCCESS;
}

static CUresult ctx_get_device(CUdevice *device)
{
    if (!current())
        return CUDA_ERROR_INVALID_CONTEXT;
    *device = (CUdevice)gpu_of(current());
    return CUDA_SUCCESS;
}

static CUresult ctx_push_current(CUcontext context)
{
    if ((char *)context < contexts || (char *)context >= contexts + sizeof contexts)
        return CUDA_ERROR_INVALID_CONTEXT;
    assert_true(pushed_count < sizeof pushed / sizeof *pushed);
    pushed[pushed_count++] = context;
    return CUDA_SUCCESS;
}

static CUresult ctx_pop_current(CUcontext *context)
{
    assert_true(pushed_count > 0);
    *context = pushed[--pushed_count];
    return CUDA_SUCCESS;
}

static CUresult ctx_record_event(CUcontext context, CUevent event)
{
    fake.context_events++;
    if (fake.broken)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    (void)context, (void)event;
    return fake.capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

static CUresult exchange_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUresult mem_alloc(CUdeviceptr *out, size_t bytes)
{
    *out = (CUdeviceptr)(uintptr_t)give(bytes, CU_MEMORYTYPE_DEVICE);
    return CUDA_SUCCESS;
}

static CUresult mem_free(CUdeviceptr memory)
{
    fake.freed++;
    fake.blocked += fake.stuck;
    take((void *)(uintptr_t)memory);
    return CUDA_SUCCESS;
}

static CUresult mem_host_alloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    *out = give(bytes, CU_MEMORYTYPE_HOST);
    return CUDA_SUCCESS;
}

static CUresult mem_free_host(void *memory)
{
    take(memory);
    return CUDA_SUCCESS;
}

static CUresult mem_get_info(size_t *free_bytes, size_t *total)
{
    *total = (size_t)1 << 30;
    *free_bytes = fake.free_bytes ? fake.free_bytes : *total;
    return CUDA_SUCCESS;
}

static CUresult memcpy_any(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static CUresult memcpy_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    return fake.no_async ? CUDA_ERROR_UNKNOWN : memcpy_any(to, from, bytes);
}

static CUresult pointer_get_attributes(unsigned count, CUpointer_attribute *which, void **answers,
                                       CUdeviceptr address)
{
    (void)count, (void)which;
    *(unsigned *)answers[0] = *(unsigned *)answers[1] = 0;
    for (struct piece *piece = pieces; piece; piece = piece->next)
        if ((char *)(uintptr_t)address >= piece->base &&
            (char *)(uintptr_t)address < piece->base + piece->bytes) {
            *(unsigned *)answers[0] = piece->type;
            *(unsigned *)answers[1] = piece->managed;
        }
    return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *stream, unsigned flags)
{
    (void)flags;
    *stream = (CUstream)&the_streams[gpu_of(current())];
    return CUDA_SUCCESS;
}

static CUresult stream_query(CUstream stream)
{
    if (fake.broken)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    return fake.slow && stream == fake.cuda.devices[0].stream ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status =
        stream && stream == fake.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult stream_get_id(CUstream stream, unsigned long long *id)
{
    *id = (uintptr_t)stream;
    return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *event, unsigned flags)
{
    (void)flags;
    assert_true(event_count < sizeof the_events);
    *event = (CUevent)&the_events[event_count++];
    return CUDA_SUCCESS;
}

static CUresult event_record(CUevent event, CUstream stream)
{
    (void)stream;
    bool refused = fake.no_events || (fake.no_begin && event == fake.cuda.devices[0].begin);
    return refused ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult event_query(CUevent event)
{
    if (fake.broken)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (!fake.stuck)
        return CUDA_SUCCESS;
    if (fake.waiting)
        fake.waiting(event);
    return CUDA_ERROR_NOT_READY;
}

static CUresult event_elapsed_time(float *ms, CUevent begin, CUevent end)
{
    (void)begin, (void)end;
    *ms = 0.5f;
    return CUDA_SUCCESS;
}

// kreplay's two kernels.
struct range {
    uint64_t base, bytes;
};

static bool has_address(const char *at, size_t bytes, const struct range *ranges, uint32_t count)
{
    bool has = false;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        for (uint32_t k = 0; k < count; k++)
            has = has || word - ranges[k].base < ranges[k].bytes;
    }
    return has;
}

static void run_compare(void **arguments)
{
    const uint64_t *list = *(const uint64_t **)arguments[0]; // a, b, bytes, first block
    uint32_t count = *(uint32_t *)arguments[1], range_count = *(uint32_t *)arguments[5];
    size_t block = *(size_t *)arguments[2];
    unsigned char *changed = *(unsigned char **)arguments[3];
    const struct range *ranges = *(const struct range **)arguments[4];
    uint64_t lowest = *(uint64_t *)arguments[6], reach = *(uint64_t *)arguments[7];
    fake.compares++;
    for (uint32_t k = 0; k < range_count; k++)
        assert_true(ranges[k].base - lowest + ranges[k].bytes <= reach);
    for (; count > 0; count--, list += 4) {
        const char *a = (const char *)(uintptr_t)list[0], *b = (const char *)(uintptr_t)list[1];
        for (size_t i = 0; i * block < list[2]; i++) {
            size_t left = list[2] - i * block, bytes = left < block ? left : block;
            bool seen = has_address(a + i * block, bytes, ranges, range_count) ||
                        has_address(b + i * block, bytes, ranges, range_count);
            changed[list[3] + i] =
                (unsigned char)((memcmp(a + i * block, b + i * block, bytes) != 0) | (seen << 1));
        }
    }
}

static void run_scatter(void **arguments)
{
    const struct kr_copy *list = *(const struct kr_copy **)arguments[0];
    fake.scatters++;
    for (unsigned i = 0; i < fake.rows; i++)
        memcpy(list[i].to, list[i].from, list[i].bytes);
}

static struct fake_module own_module;
static struct fake_kernel own_kernels[] = {
    {"kr_compare", run_compare, {8, 4, 8, 8, 8, 4, 8, 8}, &own_module},
    {"kr_scatter", run_scatter, {8}, &own_module},
};

static CUresult module_load_data(CUmodule *module, const void *image)
{
    (void)image;
    fake.blocked += fake.stuck;
    if (fake.no_compiler)
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    *module = (CUmodule)&own_module;
    return CUDA_SUCCESS;
}

static CUresult module_get_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    for (size_t i = 0; i < 2; i++)
        if (strcmp(own_kernels[i].name, name) == 0)
            *function = (CUfunction)&own_kernels[i];
    return CUDA_SUCCESS;
}

static CUresult module_get_global(CUdeviceptr *at, size_t *bytes, CUmodule module, const char *name)
{
    struct fake_module *of = (struct fake_module *)module;
    if (fake.asked)
        fake.asked();
    for (size_t i = 0; i < FAKE_VARIABLES; i++)
        if (of->variables[i] && strcmp(of->variables[i], name) == 0) {
            *at = (CUdeviceptr)(uintptr_t)&of->memory[i];
            *bytes = 8;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static CUresult library_get_global(CUdeviceptr *at, size_t *bytes, CUlibrary library, const char *name)
{
    return module_get_global(at, bytes, (CUmodule)library, name);
}

static CUresult library_get_module(CUmodule *module, CUlibrary library)
{
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

static CUresult kernel_get_function(CUfunction *function, CUkernel kernel)
{
    (void)function, (void)kernel;
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult func_get_module(CUmodule *module, CUfunction function)
{
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    *module = (CUmodule)((struct fake_kernel *)function)->module;
    return CUDA_SUCCESS;
}

static CUresult func_get_name(const char **name, CUfunction function)
{
    *name = ((struct fake_kernel *)function)->name;
    return CUDA_SUCCESS;
}

static CUresult func_get_attribute(int *value, CUfunction_attribute which, CUfunction function)
{
    (void)which, (void)function;
    if (fake.asked)
        fake.asked();
    *value = 16;
    return CUDA_SUCCESS;
}

static CUresult func_get_param_info(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    const struct fake_kernel *kernel = (const struct fake_kernel *)function;
    *offset = 0;
    for (size_t i = 0; i < index; i++)
        *offset += kernel->param_bytes[i];
    *bytes = kernel->param_bytes[index];
    return *bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult func_load(CUfunction function)
{
    (void)function;
    return CUDA_SUCCESS;
}

static CUresult run(CUfunction function, void **arguments, void **extra)
{
    struct fake_kernel *kernel = (struct fake_kernel *)function;
    void *unpacked[8];
    if (!kernel->run)
        return CUDA_ERROR_LAUNCH_FAILED;
    if (!arguments && extra) {
        char *buffer = extra[1];
        for (size_t i = 0; kernel->param_bytes[i]; buffer += kernel->param_bytes[i++])
            unpacked[i] = buffer;
        arguments = unpacked;
    }
    kernel->run(arguments);
    if (kernel->module != &own_module) {
        fake.launches++;
        fake_cupti_launch();
    } else if (fake.started) {
        fail_msg("kreplay's own kernel was counted");
    }
    return CUDA_SUCCESS;
}

static CUresult launch_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, CUstream stream, void **arguments, void **extra)
{
    (void)gx, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream;
    fake.rows = gy;
    return run(f, arguments, extra);
}

static CUresult launch_kernel_ex(const CUlaunchConfig *config, CUfunction f, void **arguments, void **extra)
{
    (void)config;
    return run(f, arguments, extra);
}

static CUresult launch_cooperative_kernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                          unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                          void **arguments)
{
    return launch_kernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, NULL);
}

static CUresult get_error_name(CUresult result, const char **name)
{
    *name = result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND ? "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" : NULL;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void fill(struct kr_driver *driver)
{
    *driver = (struct kr_driver){
        .device_get_count = device_get_count,
        .device_get = device_get,
        .device_get_name = device_get_name,
        .device_get_attribute = device_get_attribute,
        .device_total_mem = device_total_mem,
        .ctx_get_device = ctx_get_device,
        .ctx_push_current = ctx_push_current,
        .ctx_pop_current = ctx_pop_current,
        .ctx_record_event = ctx_record_event,
        .thread_exchange_stream_capture_mode = exchange_mode,
        .mem_alloc = mem_alloc,
        .mem_free = mem_free,
        .mem_host_alloc = mem_host_alloc,
        .mem_free_host = mem_free_host,
        .mem_get_info = mem_get_info,
        .memcpy_any = memcpy_any,
        .memcpy_async = memcpy_async,
        .pointer_get_attributes = pointer_get_attributes,
        .stream_create = stream_create,
        .stream_query = stream_query,
        .stream_is_capturing = stream_is_capturing,
        .stream_get_id = stream_get_id,
        .event_create = event_create,
        .event_record = event_record,
        .event_query = event_query,
        .event_elapsed_time = event_elapsed_time,
        .module_load_data = module_load_data,
        .module_get_function = module_get_function,
        .module_get_global = module_get_global,
        .get_error_name = get_error_name,
        .library_get_global = library_get_global,
        .launch_cooperative_kernel = launch_cooperative_kernel,
        .library_get_module = library_get_module,
        .kernel_get_function = kernel_get_function,
        .func_get_module = func_get_module,
        .func_get_name = func_get_name,
        .func_get_attribute = func_get_attribute,
        .func_get_param_info = func_get_param_info,
        .func_load = func_load,
        .launch_kernel = launch_kernel,
        .launch_kernel_ex = launch_kernel_ex,
    };
}

// ---- The tool

static void on_agent(void *tool, const kreplay_agent *agent)
{
    char error[256];
    (void)tool;
    for (size_t i = 0; i < fake.group_count; i++)
        if (kreplay_group_create(agent->agent_id, fake.names[i], fake.name_count[i],
                                 &fake.groups[agent->agent_id][i], error, sizeof error) != 0)
            fail_msg("%s", error);
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase != KREPLAY_ENTER)
        return;
    config->want = !fake.unwanted;
    config->pass_count = (uint32_t)fake.group_count;
    if (fake.wanted)
        fake.wanted();
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    if (phase == KREPLAY_ENTER)
        pass->group = fake.groups[pass->dispatch->agent_id][pass->current_pass];
    if (phase == KREPLAY_ENTER && fake.passing)
        fake.passing();
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    size_t n = fake.record_count++;
    (void)tool;
    fake.outcome[n] = *record->outcome;
    snprintf(fake.kernel[n], sizeof fake.kernel[n], "%s", record->dispatch->kernel_name);
    fake.pass_count[n] = record->pass_count;
    fake.start_ns[n] = record->start_ns;
    fake.end_ns[n] = record->end_ns;
    for (size_t p = 0; p < record->pass_count; p++) {
        fake.pass[n][p] = record->passes[p];
        memcpy(fake.value[n][p], record->passes[p].values,
               record->passes[p].value_count * sizeof(kreplay_value));
    }
}

static void on_message(void *tool, const char *text)
{
    (void)tool;
    strncat(fake.said, text, sizeof fake.said - strlen(fake.said) - 2);
    strcat(fake.said, "\n");
}

static const char *const small_group[] = {"sm__runs.sum"};
static const char *const large_group[] = {"sm__runs.sum", "sm__share.ratio", "sm__runs.max"};

void fake_start(void)
{
    char error[256];
    const kreplay_tool tool = {
        .size = sizeof tool,
        .name = "test",
        .agent = on_agent,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .message = on_message,
    };
    memset(&fake, 0, sizeof fake);
    fake.names[0] = small_group;
    fake.name_count[0] = 1;
    fake.names[1] = large_group;
    fake.name_count[1] = 3;
    fake.group_count = 2;
    fake.gpus = 1;
    fake.context = fake_context(0);
    fill(&fake.cuda.driver);
    fake_cupti_fill(&fake.cuda.cupti);
    pthread_mutex_init(&fake.cuda.lock, NULL);
    pthread_mutex_init(&fake.cuda.modules.lock, NULL);
    pthread_mutex_init(&fake.cuda.modules.claiming, NULL);
    pthread_mutex_init(&fake.cuda.kernels.lock, NULL);
    assert_int_equal(kr_engine_create(&kr_cuda_backend, &fake.cuda, &fake.cuda.engine), 0);
    assert_int_equal(kreplay_register(&tool), 0);
    assert_int_equal(kr_callbacks_enable(&fake.cuda, error, sizeof error), 0);
    fake.cuda.copy_ns = UINT64_C(1000000000);
    event_count = 0;
    fake.cuda.owner = getpid();
    fake.cuda.active = true;
}

void fake_stop(void)
{
    for (unsigned gpu = 0; gpu < FAKE_GPUS; gpu++) {
        for (size_t i = 0; i < fake.group_count; i++)
            if (fake.groups[gpu][i])
                kreplay_group_destroy(fake.groups[gpu][i]);
        kr_profiler_close(&fake.cuda.cupti, &fake.cuda.devices[gpu].profiler);
    }
    assert_false(fake.started || fake.configured);
    kr_engine_destroy(fake.cuda.engine);
    for (uint32_t gpu = 0; gpu < fake.cuda.device_count; gpu++) {
        struct kr_device *device = &fake.cuda.devices[gpu];
        kr_profiler_fini(&fake.cuda.cupti, &device->profiler);
        kr_metrics_fini(&fake.cuda.cupti, &device->metrics);
        free(device->hosts.list);
    }
    kr_modules_close(&fake.cuda.modules);
    kr_kernels_close(&fake.cuda.kernels);
    while (pieces)
        take(pieces->base);
    assert_int_equal(fake.hosts, 0);
    assert_int_equal(fake.blocked, 0);
    assert_int_equal(kr_cuda_depth, 0);
    assert_int_equal(pushed_count, 0);
}

int fake_tear_down(void **state)
{
    (void)state;
    fake_stop();
    return 0;
}

// ---- The program

static void call(const char *function, CUpti_ApiCallbackSite site, const void *params, CUresult *result,
                 uint64_t *notes)
{
    CUpti_CallbackData data = {
        .callbackSite = site,
        .functionName = function,
        .functionParams = params,
        .functionReturnValue = site == CUPTI_API_EXIT ? result : NULL,
        .context = fake.context,
        .correlationData = notes,
    };
    assert_int_not_equal(fake_callback_id(function), 0);
    kr_cuda_callback(&fake.cuda, CUPTI_CB_DOMAIN_DRIVER_API, fake_callback_id(function), &data);
    if (site == CUPTI_API_ENTER)
        fake.entered = *notes;
}

static CUresult launch_by(const char *function, struct fake_kernel *kernel, CUstream stream, void **arguments)
{
    struct kr_launch_params params = {.function = (CUfunction)kernel,
                                      .grid = {2, 1, 1},
                                      .block = {32, 1, 1},
                                      .stream = stream,
                                      .arguments = arguments};
    uint64_t notes = 99;
    CUresult result = CUDA_SUCCESS;
    call(function, CUPTI_API_ENTER, &params, NULL, &notes);
    if (!stream || stream != fake.capturing)
        result = run((CUfunction)kernel, arguments, NULL);
    call(function, CUPTI_API_EXIT, &params, &result, &notes);
    return result;
}

CUresult fake_launch(struct fake_kernel *kernel, CUstream stream, void **arguments)
{
    return launch_by("cuLaunchKernel", kernel, stream, arguments);
}

CUresult fake_launch_by(const char *function, struct fake_kernel *kernel, void **arguments)
{
    return launch_by(function, kernel, NULL, arguments);
}

CUresult fake_launch_ex(struct fake_kernel *kernel, void **arguments, CUlaunchAttribute *attributes,
                        unsigned count)
{
    CUlaunchConfig config = {.gridDimX = 1, .blockDimX = 32, .attrs = attributes, .numAttrs = count};
    struct kr_launch_ex_params params = {
        .config = &config, .function = (CUfunction)kernel, .arguments = arguments};
    uint64_t notes = 99;
    call("cuLaunchKernelEx", CUPTI_API_ENTER, &params, NULL, &notes);
    CUresult result = run((CUfunction)kernel, arguments, NULL);
    call("cuLaunchKernelEx", CUPTI_API_EXIT, &params, &result, &notes);
    return result;
}

CUresult fake_launch_packed(struct fake_kernel *kernel, void *buffer, size_t bytes)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    struct kr_launch_params params = {
        .function = (CUfunction)kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .extra = extra};
    uint64_t notes = 99;
    call("cuLaunchKernel", CUPTI_API_ENTER, &params, NULL, &notes);
    CUresult result = run((CUfunction)kernel, NULL, extra);
    call("cuLaunchKernel", CUPTI_API_EXIT, &params, &result, &notes);
    return result;
}

void fake_launch_graph(void)
{
    struct kr_launch_graph_params params = {0};
    fake_call("cuGraphLaunch", &params, CUDA_SUCCESS);
}

void *fake_alloc(const char *function, size_t bytes)
{
    void *memory = NULL;
    struct kr_alloc_params params = {&memory, bytes};
    uint64_t notes = 99;
    CUresult result = CUDA_SUCCESS;
    call(function, CUPTI_API_ENTER, &params, NULL, &notes);
    memory = give(bytes, strstr(function, "Host") ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    pieces->managed = strstr(function, "Managed") != NULL;
    call(function, CUPTI_API_EXIT, &params, &result, &notes);
    return memory;
}

void *fake_alloc_pitch(size_t width_bytes, size_t height, size_t *pitch)
{
    void *memory = NULL;
    struct kr_alloc_pitch_params params = {
        .result = &memory, .pitch = pitch, .width_bytes = width_bytes, .height = height, .element_bytes = 4};
    uint64_t notes = 99;
    CUresult result = CUDA_SUCCESS;
    call("cuMemAllocPitch_v2", CUPTI_API_ENTER, &params, NULL, &notes);
    *pitch = (width_bytes + 511) & ~(size_t)511;
    memory = give(*pitch * height, CU_MEMORYTYPE_DEVICE);
    call("cuMemAllocPitch_v2", CUPTI_API_EXIT, &params, &result, &notes);
    return memory;
}

void fake_free(const char *function, void *memory)
{
    struct kr_free_params params = {memory};
    uint64_t notes = 99;
    CUresult result = CUDA_SUCCESS;
    call(function, CUPTI_API_ENTER, &params, NULL, &notes);
    take(memory);
    call(function, CUPTI_API_EXIT, &params, &result, &notes);
}

void fake_call(const char *function, void *params, CUresult result)
{
    uint64_t notes = 99;
    call(function, CUPTI_API_ENTER, params, NULL, &notes);
    call(function, CUPTI_API_EXIT, params, &result, &notes);
}

void fake_exit(const char *function, void *params, CUresult result)
{
    uint64_t notes = 0;
    call(function, CUPTI_API_EXIT, params, &result, &notes);
}

static void resource(CUpti_CallbackId id, const unsigned char *cubin, size_t bytes, uint32_t module_id)
{
    CUpti_ModuleResourceData module = {
        .moduleId = module_id, .cubinSize = bytes, .pCubin = (const char *)cubin};
    CUpti_ResourceData data = {.context = fake.context, .resourceDescriptor = &module};
    kr_cuda_callback(&fake.cuda, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void fake_load(const unsigned char *cubin, size_t bytes, uint32_t id)
{
    resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, cubin, bytes, id);
}

void fake_unload(uint32_t id)
{
    resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, NULL, 0, id);
}

void fake_lose_context(void)
{
    CUpti_ResourceData data = {.context = fake.context};
    kr_cuda_callback(&fake.cuda, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                     &data);
}

void fake_load_module(struct fake_module *module, const unsigned char *cubin, size_t bytes, uint32_t id)
{
    void *handle = NULL;
    struct kr_handle_params params = {&handle};
    uint64_t notes = 99;
    CUresult result = CUDA_SUCCESS;
    call("cuModuleLoadData", CUPTI_API_ENTER, &params, NULL, &notes);
    fake_load(cubin, bytes, id);
    handle = module;
    call("cuModuleLoadData", CUPTI_API_EXIT, &params, &result, &notes);
}
