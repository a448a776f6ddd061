// SPDX-License-Identifier: MIT
// Several GPUs, several contexts of one GPU, and threads without any: what is replayed then, whose gates a call holds, and
// what another context's end leaves alone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cuda.h"
#include "increments.h"
#include "make_cubin.h"

enum { GPU_0, GPU_1, SECOND_OF_GPU_0 }; // contexts

static int set_up(void **state)
{
    (void)state;
    fake_start();
    fake.gpus = 2;
    increments_load();
    return 0;
}

static void use(unsigned context)
{
    fake.context = fake_context(context);
}

static uint64_t *allocate(void)
{
    return fake_alloc("cuMemAlloc_v2", 4096);
}

static void launch(void *memory)
{
    void *arguments[] = {&memory};
    fake_launch(&increments, NULL, arguments);
}

static void assert_replays(uint64_t *memory)
{
    launch(memory);
    assert_int_equal(fake.outcome[fake.record_count - 1].reason, KREPLAY_REASON_NONE);
    assert_int_equal(fake.outcome[fake.record_count - 1].kind, KREPLAY_REPLAYED);
}

static void assert_declines(uint64_t *memory, kreplay_reason reason)
{
    launch(memory);
    assert_int_equal(fake.outcome[fake.record_count - 1].reason, reason);
    assert_int_equal(fake.outcome[fake.record_count - 1].kind, KREPLAY_DECLINED);
}

static unsigned times_said(const char *text)
{
    unsigned count = 0;
    for (const char *at = fake.said; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void test_second_gpu(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    assert_replays(memory);
    use(GPU_1);
    uint64_t *other = allocate();
    assert_declines(other, KREPLAY_REASON_UNTRACKED_MEMORY);
    use(GPU_0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(*memory, 2);
    assert_int_equal(*other, 1);
    assert_int_equal(times_said("the program uses several GPUs"), 1);
}

static void use_second_gpu(void)
{
    struct kr_free_params params = {NULL};
    fake.wanted = NULL;
    use(GPU_1);
    fake_call("cuMemcpyHtoD_v2", &params, CUDA_SUCCESS);
    use(GPU_0);
}

// By another thread, between this launch's judgement and its window.
static void test_second_gpu_that_comes_meanwhile(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    fake.wanted = use_second_gpu;
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(fake.context_events, 0);
    assert_int_equal(*memory, 1);
}

// One that is there and not used is in nobody's way.
static void test_only_the_second_gpu(void **state)
{
    (void)state;
    use(GPU_1);
    uint64_t *memory = allocate();
    assert_replays(memory);
    assert_int_equal(*memory, 1);
    assert_int_equal(fake.value[0][1][0].counter_id >> 32, 1);
}

static void test_calls_hold_the_gates_of_gpus_in_use(void **state)
{
    (void)state;
    struct kr_free_params params = {NULL};
    allocate();
    fake_call("cuMemcpyHtoD_v2", &params, CUDA_SUCCESS);
    assert_int_equal(fake.entered, 1);
    use(GPU_1);
    fake_call("cuMemcpyHtoD_v2", &params, CUDA_SUCCESS);
    assert_int_equal(fake.entered, 3);
}

static void test_end_of_one_gpu_leaves_the_other(void **state)
{
    (void)state;
    assert_replays(allocate());
    use(GPU_1);
    allocate();
    assert_true(fake.configured);
    fake_lose_context();
    assert_true(fake.configured); // the session of GPU 0
    use(GPU_0);
    fake_lose_context();
    assert_false(fake.configured);
}

// Access is granted before the other GPU is used: its memory is captured with windows of this one from then on.
static void test_peer_access(void **state)
{
    (void)state;
    struct kr_peer_params params = {fake_context(GPU_1), 0};
    allocate();
    use(GPU_1);
    uint64_t *other = allocate();
    use(GPU_0);
    assert_false(kr_inventory_covers(fake.cuda.engine, 0, other));
    fake_call("cuCtxEnablePeerAccess", &params, CUDA_SUCCESS);
    assert_true(kr_inventory_covers(fake.cuda.engine, 0, other));
    assert_false(kr_inventory_covers(fake.cuda.engine, 2, other));
}

static void test_peer_access_before_its_use(void **state)
{
    (void)state;
    struct kr_peer_params params = {fake_context(GPU_1), 0}, unknown = {(CUcontext)&params, 0};
    allocate();
    fake_call("cuCtxEnablePeerAccess", &unknown, CUDA_ERROR_INVALID_CONTEXT);
    fake_call("cuCtxEnablePeerAccess", &params, CUDA_SUCCESS);
    use(GPU_1);
    uint64_t *other = allocate();
    assert_true(kr_inventory_covers(fake.cuda.engine, 0, other));
}

// Memory of another GPU without access that was noted: an argument into it declines by itself.
static void test_argument_into_other_gpu(void **state)
{
    (void)state;
    allocate();
    use(GPU_1);
    uint64_t *other = allocate();
    fake.cuda.devices[1].context = NULL; // as if there were one GPU in use
    use(GPU_0);
    assert_declines(other, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(times_said("its argument 0 points into device memory that is not captured"), 1);
    assert_int_equal(*other, 1);
}

// A copy in it can be for the first one's memory.
static void test_work_of_a_second_context(void **state)
{
    (void)state;
    struct kr_free_params params = {NULL};
    uint64_t *memory = allocate();
    use(SECOND_OF_GPU_0);
    fake_alloc("cuMemHostAlloc", 64);
    use(GPU_0);
    assert_replays(memory);
    use(SECOND_OF_GPU_0);
    for (int i = 0; i < 2; i++)
        fake_call("cuMemcpyHtoD_v2", &params, CUDA_SUCCESS);
    use(GPU_0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(times_said("cuMemcpyHtoD_v2 in a second context of GPU 0"), 1);
}

// Where they lie the first context's comparisons cannot read.
static void test_variables_of_a_second_context(void **state)
{
    (void)state;
    static struct fake_module other = {.variables = {"far"}};
    static struct fake_kernel stores = {"stores", increment, {8}, &other};
    size_t bytes;
    unsigned char *cubin = make_cubin(
        &(struct make_cubin){.kernels = {"stores"}, .variables = {"far"}, .variable_count = 1}, &bytes);
    uint64_t *memory = allocate(), unseen = 0;
    void *arguments[] = {&(void *){&unseen}};
    use(SECOND_OF_GPU_0);
    fake_load(cubin, bytes, 8);
    free(cubin);
    fake_launch(&stores, NULL, arguments);
    assert_int_equal(fake.outcome[0].reason, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_string_equal(fake.kernel[0], "stores");
    use(GPU_0);
    assert_replays(memory);
    assert_int_equal(fake.outcome[1].captured_regions, 1);
}

// A handle of a library's kernel is good for both contexts.
static void test_kernel_of_both_contexts(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    use(SECOND_OF_GPU_0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    use(GPU_0);
    assert_replays(memory);
}

// It takes copies whatever context is current.
static void test_stream_of_a_second_gpu(void **state)
{
    (void)state;
    struct kr_free_params params = {NULL};
    uint64_t *memory = allocate();
    use(GPU_1);
    fake_call("cuStreamCreate", &params, CUDA_SUCCESS);
    use(GPU_0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
}

static void test_mapping_without_a_context(void **state)
{
    (void)state;
    static char space[1024];
    struct kr_range_params params = {space, sizeof space};
    void *handle;
    struct kr_alloc_params physical = {&handle, sizeof space};
    fake.context = NULL;
    fake_call("cuMemCreate", &physical, CUDA_SUCCESS);
    fake_call("cuMemMap", &params, CUDA_SUCCESS);
    assert_int_equal(fake.entered, 3);
    use(GPU_0);
    uint64_t *memory = allocate();
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(fake.outcome[0].untracked_vmem_bytes, 1024);
    fake.context = NULL;
    fake_call("cuMemUnmap", &params, CUDA_SUCCESS);
    use(GPU_0);
    assert_replays(memory);
}

static void test_frees_without_a_context(void **state)
{
    (void)state;
    static uint64_t variable;
    uint64_t *memory = allocate(), *other = allocate();
    void *base = &variable;
    size_t bytes = 8;
    struct kr_global_params global = {&base, &bytes, &variable, "variable"};
    struct kr_free_params unload = {&variable};
    fake_call("cuLibraryGetGlobal", &global, CUDA_SUCCESS);
    assert_replays(memory);
    assert_int_equal(fake.outcome[0].captured_regions, 3);
    fake.context = NULL;
    fake_free("cuMemFree_v2", other);
    fake_call("cuLibraryUnload", &unload, CUDA_SUCCESS);
    use(GPU_0);
    assert_replays(memory);
    assert_int_equal(fake.outcome[1].captured_regions, 1);
}

// Libraries are loaded by programs that never use a GPU, too.
static void test_gpus_are_not_looked_at_too_early(void **state)
{
    (void)state;
    struct kr_free_params params = {NULL};
    fake.context = NULL;
    fake_call("cuCtxDestroy_v2", &params, CUDA_ERROR_INVALID_VALUE);
    assert_false(fake.cuda.prepared);
    use(GPU_0);
    allocate();
    assert_true(fake.cuda.prepared);
}

// The stream's context takes it then.
static void test_launch_without_a_context(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    fake.context = NULL;
    launch(memory);
    assert_int_equal(fake.record_count, 0);
    use(GPU_0);
    assert_declines(memory, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(times_said("cuLaunchKernel: a launch without a current context"), 1);
    assert_int_equal(*memory, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_second_gpu),
        TEST(test_second_gpu_that_comes_meanwhile),
        TEST(test_only_the_second_gpu),
        TEST(test_calls_hold_the_gates_of_gpus_in_use),
        TEST(test_end_of_one_gpu_leaves_the_other),
        TEST(test_peer_access),
        TEST(test_peer_access_before_its_use),
        TEST(test_argument_into_other_gpu),
        TEST(test_work_of_a_second_context),
        TEST(test_variables_of_a_second_context),
        TEST(test_kernel_of_both_contexts),
        TEST(test_stream_of_a_second_gpu),
        TEST(test_mapping_without_a_context),
        TEST(test_frees_without_a_context),
        TEST(test_launch_without_a_context),
        TEST(test_gpus_are_not_looked_at_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
