// SPDX-License-Identifier: MIT
// Memory of each kind: what is captured, what keeps launches from being replayed, and for how long.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cuda.h"
#include "increments.h"

static void launch(struct fake_kernel *kernel, void *memory)
{
    void *arguments[] = {&memory};
    fake_launch(kernel, NULL, arguments);
}

static void assert_replayed(size_t record)
{
    assert_true(record < fake.record_count);
    assert_int_equal(fake.outcome[record].kind, KREPLAY_REPLAYED);
    assert_int_equal(fake.outcome[record].reason, KREPLAY_REASON_NONE);
}

static void assert_declined(size_t record, kreplay_reason reason)
{
    assert_true(record < fake.record_count);
    assert_int_equal(fake.outcome[record].kind, KREPLAY_DECLINED);
    assert_int_equal(fake.outcome[record].reason, reason);
}

static void assert_replays_next(void *memory)
{
    launch(&increments, memory);
    assert_replayed(fake.record_count - 1);
}

static void assert_declines_next(void *memory)
{
    launch(&increments, memory);
    assert_declined(fake.record_count - 1, KREPLAY_REASON_UNTRACKED_MEMORY);
}

static void test_managed_memory(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    void *managed = fake_alloc("cuMemAllocManaged", 64);
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_non_null(strstr(fake.said, "cuMemAllocManaged: "));
    fake_free("cuMemFree_v2", managed);
    launch(&increments, memory);
    assert_replayed(1);
    assert_int_equal(*memory, 2);
}

static void test_variable_in_managed_memory(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    void *managed = fake_alloc("cuMemAllocManaged", 64);
    size_t bytes = 64;
    struct kr_global_params params = {&managed, &bytes, &increments_module, "managed"};
    enum kr_memory_kind kind;
    fake_call("cuModuleGetGlobal_v2", &params, CUDA_SUCCESS);
    assert_true(kr_inventory_find(fake.cuda.engine, managed, &kind, NULL, NULL));
    assert_int_equal(kind, KR_MEMORY_UNTRACKED);
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_UNTRACKED_MEMORY);
}

static void test_mappings(void **state)
{
    (void)state;
    static char space[4096];
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    struct kr_range_params first = {space, 1024}, second = {space + 1024, 1024}, both = {space, 2048};
    fake_call("cuMemMap", &first, CUDA_SUCCESS);
    fake_call("cuMemMap", &second, CUDA_SUCCESS);
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(fake.outcome[0].untracked_vmem_regions, 2);
    assert_int_equal(fake.outcome[0].untracked_vmem_bytes, 2048);
    assert_non_null(strstr(fake.said, "cuMemMap: "));
    fake_call("cuMemUnmap", &both, CUDA_SUCCESS);
    launch(&increments, memory);
    assert_replayed(1);
}

static void test_allocator_of_the_future(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    struct kr_alloc_params params = {NULL, 64};
    fake_call("cuMemAllocFuture", &params, CUDA_ERROR_OUT_OF_MEMORY);
    launch(&increments, memory);
    assert_replayed(0);
    fake_call("cuMemAllocFuture", &params, CUDA_SUCCESS);
    launch(&increments, memory);
    assert_declined(1, KREPLAY_REASON_UNTRACKED_MEMORY);
}

static void test_arguments_into_other_memory(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64), *host = fake_alloc("cuMemHostAlloc", 64);
    CUdeviceptr unseen = 0;

    launch(&increments, host);
    assert_declined(0, KREPLAY_REASON_HOST_MEMORY);
    assert_non_null(strstr(fake.said, "increments is not replayed: its argument 0 points into host memory"));
    assert_int_equal(*host, 1);
    launch(&increments, memory);
    assert_replayed(1);
    fake_free("cuMemFreeHost", host);
    // Device memory that no hook has seen.
    assert_int_equal(fake.cuda.driver.mem_alloc(&unseen, 64), CUDA_SUCCESS);
    launch(&increments, (void *)(uintptr_t)unseen);
    assert_declined(2, KREPLAY_REASON_UNTRACKED_MEMORY);
}

// The kernel could follow it.
static void test_address_of_host_memory_in_memory(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 9000), *host = fake_alloc("cuMemHostAlloc", 64),
             *other = fake_alloc("cuMemHostAlloc", 64);
    launch(&increments, memory);
    assert_replayed(0);
    memory[1000] = (uintptr_t)host + 63;
    launch(&increments, memory);
    assert_declined(1, KREPLAY_REASON_HOST_MEMORY);
    assert_non_null(strstr(fake.said, "its memory holds an address of host memory"));
    assert_int_equal(*memory, 2);
    memory[1000] = (uintptr_t)host + 64;
    launch(&increments, memory);
    assert_replayed(2);
    memory[1000] = (uintptr_t)other;
    fake_free("cuMemFreeHost", other);
    launch(&increments, memory);
    assert_replayed(3);
    assert_int_equal(*memory, 4);
}

static void test_frees_that_fail(void **state)
{
    (void)state;
    static char space[2048];
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    struct kr_free_params params = {memory};
    struct kr_range_params first = {space, 1024}, second = {space + 1024, 1024}, both = {space, 2048};
    enum kr_memory_kind kind;

    fake_call("cuMemFree_v2", &params, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_true(kr_inventory_find(fake.cuda.engine, memory, &kind, NULL, NULL));
    assert_int_equal(kind, KR_MEMORY_DEVICE);
    assert_replays_next(memory);
    assert_int_equal(fake.outcome[0].captured_bytes, 64);

    fake_call("cuMemMap", &first, CUDA_SUCCESS);
    fake_call("cuMemMap", &second, CUDA_SUCCESS);
    fake_call("cuMemUnmap", &both, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_declines_next(memory);
    assert_int_equal(fake.outcome[1].untracked_vmem_bytes, 2048);
    fake_call("cuMemUnmap", &both, CUDA_SUCCESS);
    assert_replays_next(memory);
}

// What lies between the mappings does not hide the second.
static void test_unmap_over_a_gap(void **state)
{
    (void)state;
    static char space[3072];
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    struct kr_range_params first = {space, 1024}, second = {space + 2048, 1024}, all = {space, 3072};
    fake_call("cuMemMap", &first, CUDA_SUCCESS);
    fake_call("cuMemMap", &second, CUDA_SUCCESS);
    fake_call("cuMemUnmap", &all, CUDA_SUCCESS);
    assert_replays_next(memory);
}

// All of it, what lies between the rows included.
static void test_rows_with_a_pitch(void **state)
{
    (void)state;
    size_t pitch = 0;
    char *rows = fake_alloc_pitch(600, 3, &pitch);
    assert_int_equal(pitch, 1024);
    assert_replays_next(rows + 2 * pitch + 592);
    assert_int_equal(fake.outcome[0].captured_bytes, 3 * 1024);
    assert_int_equal(rows[2 * pitch + 592], 1);
    assert_replays_next(rows + 3 * pitch - 8);
    fake_free("cuMemFree_v2", rows);
    assert_replays_next(fake_alloc("cuMemAlloc_v2", 64));
    assert_int_equal(fake.outcome[2].captured_bytes, 64);
}

// Opened twice: one of them stays when the other is closed.
static void test_memory_of_other_processes(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    void *other = NULL;
    struct kr_handle_params open = {&other};
    struct kr_free_params close = {&increments_module};
    fake_call("cuIpcOpenMemHandle_v2", &open, CUDA_ERROR_INVALID_VALUE);
    assert_replays_next(memory);
    other = &increments_module;
    fake_call("cuIpcOpenMemHandle_v2", &open, CUDA_SUCCESS);
    fake_call("cuIpcOpenMemHandle_v2", &open, CUDA_SUCCESS);
    fake_call("cuIpcCloseMemHandle", &close, CUDA_SUCCESS);
    assert_declines_next(memory);
}

static void test_memory_that_others_can_write(void **state)
{
    (void)state;
    unsigned on = 1, off = 0;
    struct kr_pointer_attribute_params none = {&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0},
                                       rdma = {&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0};
    struct kr_handle_params handle = {NULL};
    struct {
        const char *function;
        void *params;
    } calls[] = {{"cuIpcGetMemHandle", &handle},
                 {"cuMemGetHandleForAddressRange", &handle},
                 {"cuPointerSetAttribute", &rdma}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
        fake_call("cuPointerSetAttribute", &none, CUDA_SUCCESS);
        assert_replays_next(memory);
        fake_call(calls[i].function, calls[i].params, CUDA_SUCCESS);
        assert_declines_next(memory);
        assert_non_null(strstr(fake.said, calls[i].function));
        fake_stop();
        increments_set_up(state);
    }
}

static void test_host_memory_with_two_addresses(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    void *host = fake_alloc("cuMemHostAlloc", 64), *same = host, *another = memory;
    struct kr_device_pointer_params usual = {&same, host, 0}, disjoint = {&another, host, 0};
    fake_call("cuMemHostGetDevicePointer_v2", &usual, CUDA_SUCCESS);
    fake_call("cuMemHostGetDevicePointer_v2", &disjoint, CUDA_ERROR_INVALID_VALUE);
    assert_replays_next(memory);
    fake_call("cuMemHostGetDevicePointer_v2", &disjoint, CUDA_SUCCESS);
    assert_declines_next(memory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, increments_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_managed_memory),
        TEST(test_variable_in_managed_memory),
        TEST(test_mappings),
        TEST(test_allocator_of_the_future),
        TEST(test_arguments_into_other_memory),
        TEST(test_address_of_host_memory_in_memory),
        TEST(test_frees_that_fail),
        TEST(test_unmap_over_a_gap),
        TEST(test_rows_with_a_pitch),
        TEST(test_memory_of_other_processes),
        TEST(test_memory_that_others_can_write),
        TEST(test_host_memory_with_two_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
