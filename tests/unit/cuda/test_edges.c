// SPDX-License-Identifier: MIT
// Where things go wrong around a launch: set-up, drains, counters, allocations and frees that fail, calls that are met half
// way, and what a tool's callback does. The program's memory is right each time, and the reason is named.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "make_cubin.h"

static struct fake_module module;

static void increment(void **arguments)
{
    ++**(uint64_t **)arguments[0];
}
static struct fake_kernel increments = {"increments", increment, {8}, &module};
static struct fake_kernel prints = {"prints", increment, {8}, &module};

static void begin(void)
{
    size_t bytes;
    unsigned char *cubin = make_cubin(
        &(struct make_cubin){.kernels = {"increments", "prints"}, .calls = {NULL, "vprintf"}}, &bytes);
    fake_start();
    module = (struct fake_module){.variables = {"known"}};
    fake_load(cubin, bytes, 7);
    free(cubin);
}

static int set_up(void **state)
{
    (void)state;
    begin();
    return 0;
}

static uint64_t *allocate(void)
{
    return fake_alloc("cuMemAlloc_v2", 4096);
}

static CUresult launch(struct fake_kernel *kernel, void *memory)
{
    void *arguments[] = {&memory};
    return fake_launch(kernel, NULL, arguments);
}

static void assert_last(kreplay_outcome_kind kind, kreplay_reason reason)
{
    assert_true(fake.record_count > 0);
    assert_int_equal(fake.outcome[fake.record_count - 1].kind, kind);
    assert_int_equal(fake.outcome[fake.record_count - 1].reason, reason);
}

static void assert_replays(uint64_t *memory)
{
    launch(&increments, memory);
    assert_last(KREPLAY_REPLAYED, KREPLAY_REASON_NONE);
}

static void assert_declines(uint64_t *memory, kreplay_reason reason)
{
    launch(&increments, memory);
    assert_last(KREPLAY_DECLINED, reason);
}

static bool said(const char *text)
{
    return strstr(fake.said, text) != NULL;
}

// kreplay's own kernels are loaded before the program's work can be in their way.
static void test_set_up_waits_for_nothing(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    fake.stuck = true;
    assert_declines(memory, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    assert_int_equal(fake.blocked, 0);
    fake.stuck = false;
    assert_replays(memory);
    assert_int_equal(*memory, 2);
}

static void test_set_up_that_fails(void **state)
{
    (void)state;
    fake.no_compiler = true;
    uint64_t *memory = allocate();
    assert_declines(memory, KREPLAY_REASON_DEVICE_ERROR);
    assert_true(said("cuModuleLoadData: CUDA_ERROR_JIT_COMPILER_NOT_FOUND; it needs the driver's compiler"));
}

static void test_context_that_is_broken(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    assert_replays(memory);
    fake.broken = true;
    assert_declines(memory, KREPLAY_REASON_DEVICE_ERROR);
    fake.broken = false;
}

// Copies of kreplay's own are waited for within bounds.
static void test_copies_that_do_not_end(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    fake.cuda.copy_ns = 1000000;
    fake.slow = true;
    assert_declines(memory, KREPLAY_REASON_SNAPSHOT_FAILED);
    fake.slow = false;
    assert_replays(memory);
    assert_int_equal(*memory, 2);
}

static void test_makes_way(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    void *handle = NULL;
    struct kr_alloc_params little = {&handle, (size_t)10 << 20}, much = {&handle, (size_t)100 << 20};
    assert_replays(memory);
    fake.free_bytes = (size_t)200 << 20;
    fake_call("cuMemCreate", &little, CUDA_SUCCESS);
    assert_int_equal(fake.freed, 0);
    fake_call("cuMemCreate", &much, CUDA_SUCCESS); // it fits, but for what the driver takes
    assert_true(fake.freed > 0);
    assert_replays(memory);
    unsigned before = fake.freed;
    void *pitched = fake_alloc("cuMemAlloc_v2", 4096);
    assert_int_equal(fake.freed, before);
    fake.free_bytes = (size_t)100 << 20;
    fake_free("cuMemFree_v2", pitched);
    allocate();
    assert_true(fake.freed > before);
}

static void test_unload_that_fails(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    struct kr_free_params params = {&module}, unknown = {memory};
    fake_call("cuModuleUnload", &unknown, CUDA_ERROR_INVALID_HANDLE);
    assert_replays(memory);
    fake_call("cuModuleUnload", &params, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_true(said("cuModuleUnload cannot be followed"));
}

static void test_variable_without_size(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuModuleGetGlobal_v2", "cuLibraryGetGlobal"};
    allocate();
    for (int i = 0; i < 2; i++) {
        void *base = &module.memory[0];
        size_t bytes = 0;
        struct kr_global_params params = {&base, NULL, &module, "known"};
        struct kr_free_params unload = {&module};
        enum kr_memory_kind kind;
        fake_call(calls[i], &params, CUDA_SUCCESS);
        assert_true(kr_inventory_find(fake.cuda.engine, base, &kind, NULL, &bytes));
        assert_int_equal(kind, KR_MEMORY_MODULE);
        assert_int_equal(bytes, 8);
        fake_call("cuLibraryUnload", &unload, CUDA_SUCCESS);
        assert_false(kr_inventory_find(fake.cuda.engine, base, &kind, NULL, NULL));
    }
}

static void test_green_context(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    struct kr_green_params params = {.device = 0};
    assert_replays(memory);
    fake.context = NULL;
    fake_call("cuGreenCtxCreate", &params, CUDA_SUCCESS);
    fake.context = fake_context(0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_true(said("cuGreenCtxCreate: "));
}

static void test_context_ends_in_no_window(void **state)
{
    (void)state;
    struct kr_free_params params = {NULL};
    allocate();
    fake.context = NULL;
    fake_call("cuCtxDestroy_v2", &params, CUDA_SUCCESS);
    fake.context = fake_context(0);
    assert_int_equal(fake.entered, 1); // the gate of GPU 0
}

static void test_begin_that_cannot_be_marked(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    assert_replays(memory);
    assert_int_equal(fake.end_ns[0] - fake.start_ns[0], 500000);
    fake.no_begin = true;
    assert_replays(memory);
    assert_int_equal(fake.end_ns[1], fake.start_ns[1]);
}

static void test_odd_blocks(void **state)
{
    (void)state;
    fake_stop();
    setenv("KREPLAY_BLOCK_BYTES", "100", 1);
    begin();
    unsetenv("KREPLAY_BLOCK_BYTES");
    uint64_t *memory = allocate(), *host = fake_alloc("cuMemHostAlloc", 64);
    for (unsigned i = 1; i < 100; i++) {
        memory[i] = (uintptr_t)host;
        assert_declines(memory, KREPLAY_REASON_HOST_MEMORY);
        memory[i] = 0;
        i += 10;
        fake.record_count = 0;
    }
}

static void test_calls_that_the_driver_refuses(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    CUlaunchConfig config = {.numAttrs = 3};
    struct kr_launch_ex_params nothing = {.function = (CUfunction)&increments},
                               no_attributes = {.config = &config, .function = (CUfunction)&increments};
    fake_call("cuLaunchKernelEx", &nothing, CUDA_ERROR_INVALID_VALUE);
    assert_last(KREPLAY_DECLINED, KREPLAY_REASON_UNKNOWN_PACKET);
    fake_call("cuLaunchKernelEx", &no_attributes, CUDA_ERROR_INVALID_VALUE);
    assert_last(KREPLAY_DECLINED, KREPLAY_REASON_UNKNOWN_PACKET);
    fake_exit("cuStreamBeginCapture_v2", &nothing, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(fake.cuda.captures, 0);
    assert_replays(memory);
}

static void test_other_ways_to_launch(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuLaunchKernel_ptsz", "cuLaunchCooperativeKernel",
                                        "cuLaunchCooperativeKernel_ptsz"};
    uint64_t *memory = allocate();
    void *arguments[] = {&memory};
    for (unsigned i = 0; i < 3; i++) {
        fake_launch_by(calls[i], &increments, arguments);
        assert_last(KREPLAY_REPLAYED, KREPLAY_REASON_NONE);
        assert_int_equal(*memory, i + 1);
    }
}

static uint64_t *shared;

static void launch_from_inside(void)
{
    fake.passing = NULL;
    launch(&increments, shared);
}

static void test_launch_from_a_callback(void **state)
{
    (void)state;
    shared = allocate();
    fake.passing = launch_from_inside;
    launch(&increments, shared);
    assert_int_equal(fake.record_count, 2);
    assert_int_equal(fake.outcome[0].reason, KREPLAY_REASON_REENTRANT_DISPATCH);
    assert_int_equal(fake.outcome[1].reason, KREPLAY_REASON_REENTRANT_DISPATCH);
    assert_int_equal(*shared, 2);
    assert_replays(shared);
}

static void test_nothing_is_said_of_filtered_kernels(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    fake.unwanted = true;
    launch(&prints, memory);
    assert_false(said("prints"));
    fake.unwanted = false;
    launch(&prints, memory);
    launch(&prints, memory);
    assert_true(said("kernel prints is not replayed: it calls vprintf"));
    assert_null(strstr(strstr(fake.said, "kernel prints") + 1, "kernel prints"));
}

static void test_counters_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        bool *flag;
        CUptiResult *result;
        const char *text;
    } faults[] = {
        {&fake.wrong_number, NULL, "cuptiRangeProfilerStop (number of the pass)"},
        {&fake.dropped, NULL, "cuptiRangeProfilerDecodeData (ranges were dropped)"},
        {&fake.undefined, NULL, "cuptiProfilerHostEvaluateToGpuValues (undefined)"},
        {NULL, &fake.decode_result, "cuptiRangeProfilerDecodeData: "},
        {NULL, &fake.evaluate_result, "cuptiProfilerHostEvaluateToGpuValues: "},
        {NULL, &fake.start_result, "cuptiRangeProfilerStart: a failure on purpose; another profiler"},
    };
    uint64_t *memory = allocate();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (faults[i].flag)
            *faults[i].flag = true;
        else
            *faults[i].result = CUPTI_ERROR_HARDWARE_BUSY;
        assert_declines(memory, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
        if (!said(faults[i].text))
            fail_msg("\"%s\" was not said: %s", faults[i].text, fake.said);
        if (faults[i].flag)
            *faults[i].flag = false;
        else
            *faults[i].result = CUPTI_SUCCESS;
        assert_replays(memory);
        assert_int_equal(*memory, 2 * (i + 1));
    }
}

static unsigned executions, questions;

// The second pass does not end ...
static void stick_in_a_pass(void **arguments)
{
    increment(arguments);
    fake.stuck = ++executions == 3;
}

// ... until kreplay has tried to cancel it and asks again whether all is done. Another thread has used a second GPU
// meanwhile: what is under way has to be ended all the same.
static void end_after_cancel(CUevent event)
{
    if (event != fake.cuda.devices[0].idle)
        return;
    fake.cuda.devices[1].context = fake_context(1);
    fake.stuck = ++questions < 2;
}

static void test_pass_that_does_not_end(void **state)
{
    (void)state;
    static struct fake_kernel sticks = {"increments", stick_in_a_pass, {8}, &module};
    fake.gpus = 2;
    uint64_t *memory = allocate();
    executions = questions = 0;
    fake.waiting = end_after_cancel;
    launch(&sticks, memory);
    assert_last(KREPLAY_DECLINED, KREPLAY_REASON_PASS_STUCK);
    assert_int_equal(fake.pass_count[0], 1);
    assert_int_equal(questions, 2);
    assert_int_equal(*memory, 1);
    assert_false(fake.started);
    fake.cuda.devices[1].context = NULL;
    assert_replays(memory);
}

// With one that never ends memory has no right content.
static void test_pass_that_never_ends(void **state)
{
    (void)state;
    static struct fake_kernel sticks = {"increments", stick_in_a_pass, {8}, &module};
    uint64_t *memory = allocate();
    int status = 0;
    executions = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        launch(&sticks, memory);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_variable_that_is_asked_for_again(void **state)
{
    (void)state;
    void *base = &module.memory[0];
    size_t bytes = 8;
    struct kr_global_params params = {&base, &bytes, &module, "known"};
    allocate();
    for (int i = 0; i < 3; i++)
        fake_call("cuModuleGetGlobal_v2", &params, CUDA_SUCCESS);
    assert_non_null(fake.cuda.modules.globals);
    assert_null(fake.cuda.modules.globals->next);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_set_up_waits_for_nothing),
        TEST(test_set_up_that_fails),
        TEST(test_context_that_is_broken),
        TEST(test_copies_that_do_not_end),
        TEST(test_makes_way),
        TEST(test_unload_that_fails),
        TEST(test_variable_without_size),
        TEST(test_variable_that_is_asked_for_again),
        TEST(test_green_context),
        TEST(test_context_ends_in_no_window),
        TEST(test_begin_that_cannot_be_marked),
        TEST(test_odd_blocks),
        TEST(test_calls_that_the_driver_refuses),
        TEST(test_other_ways_to_launch),
        TEST(test_launch_from_a_callback),
        TEST(test_nothing_is_said_of_filtered_kernels),
        TEST(test_counters_that_cannot_be_read),
        TEST(test_pass_that_does_not_end),
        TEST(test_pass_that_never_ends),
    };
    setenv("KREPLAY_LIVE_MS", "20", 1);
    setenv("KREPLAY_AGENT_DRAIN_MS", "20", 1);
    setenv("KREPLAY_PASS_FLOOR_MS", "20", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
