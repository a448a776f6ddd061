// SPDX-License-Identifier: MIT
// What kernels and memory of graphs, which are not replayed, mean for launches that are.
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

static struct fake_module graph_module;

static struct fake_kernel builds = {"builds", increment, {8}, &graph_module},
                          stores = {"stores", increment, {8}, &graph_module};

static int set_up(void **state)
{
    (void)state;
    size_t bytes;
    fake_start();
    increments_load();
    graph_module = (struct fake_module){.variables = {"list"}};
    unsigned char *cubin = make_cubin(
        &(struct make_cubin){
            .kernels = {"builds", "stores"}, .calls = {"malloc"}, .variables = {"list"}, .variable_count = 1},
        &bytes);
    fake_load(cubin, bytes, 8);
    free(cubin);
    return 0;
}

static uint64_t *allocate(void)
{
    return fake_alloc("cuMemAlloc_v2", 4096);
}

static void launch(struct fake_kernel *kernel, CUstream stream, void *memory)
{
    void *arguments[] = {&memory};
    fake_launch(kernel, stream, arguments);
}

static kreplay_outcome_kind outcome_of_launch(uint64_t *memory)
{
    launch(&increments, NULL, memory);
    return fake.outcome[fake.record_count - 1].kind;
}

static void capture(struct fake_kernel *kernel, uint64_t *memory)
{
    struct kr_free_params stream = {memory};
    fake_call("cuStreamBeginCapture_v2", &stream, CUDA_SUCCESS);
    fake.capturing = (CUstream)memory;
    launch(kernel, fake.capturing, memory);
    fake.capturing = NULL;
    fake_call("cuStreamEndCapture", &stream, CUDA_SUCCESS);
}

static void assert_variable_is_captured(void)
{
    enum kr_memory_kind kind;
    assert_true(kr_inventory_find(fake.cuda.engine, &graph_module.memory[0], &kind, NULL, NULL));
    assert_int_equal(kind, KR_MEMORY_MODULE);
}

static void test_variables_of_captured_kernels(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    capture(&stores, memory);
    assert_int_equal(fake.record_count, 0);
    assert_variable_is_captured();
    assert_int_equal(outcome_of_launch(memory), KREPLAY_REPLAYED);
}

static void test_heap_of_captured_kernels(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    capture(&builds, memory);
    assert_non_null(strstr(fake.said, "kernel builds uses malloc or free"));
    assert_int_equal(outcome_of_launch(memory), KREPLAY_DECLINED);
    assert_int_equal(*memory, 1);
}

static void assert_seen(const char *function, void *params)
{
    fake_call(function, params, CUDA_SUCCESS);
    assert_variable_is_captured();
    fake_stop();
    set_up(NULL);
    allocate();
}

static void test_kernel_nodes(void **state)
{
    (void)state;
    const CUfunction function = (CUfunction)&stores;
    const CUDA_KERNEL_NODE_PARAMS by_function = {.func = function}, by_kernel = {.kern = (CUkernel)&stores};
    const CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel.func = function},
                            kernel_node = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                           .kernel.kern = (CUkernel)&stores};
    allocate();
    assert_seen("cuGraphAddKernelNode", &(struct kr_graph_kernel_params){.node = &by_function});
    assert_seen("cuGraphAddKernelNode_v2", &(struct kr_graph_kernel_params){.node = &by_kernel});
    assert_seen("cuGraphKernelNodeSetParams", &(struct kr_graph_kernel_set_params){.node = &by_function});
    assert_seen("cuGraphExecKernelNodeSetParams_v2",
                &(struct kr_graph_exec_kernel_set_params){.node = &by_kernel});
    assert_seen("cuGraphAddNode", &(struct kr_graph_node_params){.node = &node});
    assert_seen("cuGraphAddNode_v2", &(struct kr_graph_node_v2_params){.node = &kernel_node});
    assert_seen("cuGraphNodeSetParams", &(struct kr_graph_set_params){.node = &node});
    assert_seen("cuGraphExecNodeSetParams", &(struct kr_graph_exec_set_params){.node = &kernel_node});
}

// Its parameters end before `kern`.
static void test_old_kernel_node(void **state)
{
    (void)state;
    const CUDA_KERNEL_NODE_PARAMS old = {.kern = (CUkernel)&builds};
    uint64_t *memory = allocate();
    fake_call("cuGraphAddKernelNode", &(struct kr_graph_kernel_params){.node = &old},
              CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(outcome_of_launch(memory), KREPLAY_REPLAYED);
}

static void test_kernel_node_without_a_context(void **state)
{
    (void)state;
    const CUDA_KERNEL_NODE_PARAMS params = {.func = (CUfunction)&stores};
    uint64_t *memory = allocate();
    fake.context = NULL;
    fake_call("cuGraphAddKernelNode", &(struct kr_graph_kernel_params){.node = &params}, CUDA_SUCCESS);
    fake.context = fake_context(0);
    assert_int_equal(outcome_of_launch(memory), KREPLAY_DECLINED);
}

static void test_memory_node(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    struct kr_graph_node_v2_params params = {.node = &node};
    fake_call("cuGraphAddNode_v2", &params, CUDA_SUCCESS);
    assert_int_equal(outcome_of_launch(memory), KREPLAY_REPLAYED);
    node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    fake_call("cuGraphAddNode_v2", &params, CUDA_SUCCESS);
    assert_int_equal(outcome_of_launch(memory), KREPLAY_DECLINED);
}

// A launch of the graph brings it back.
static void test_memory_allocated_in_a_capture(void **state)
{
    (void)state;
    uint64_t *memory = allocate();
    struct kr_free_params stream = {memory};
    fake_free("cuMemFreeAsync", fake_alloc("cuMemAllocAsync", 64));
    assert_int_equal(outcome_of_launch(memory), KREPLAY_REPLAYED);
    fake_call("cuStreamBeginCapture_v2", &stream, CUDA_SUCCESS);
    fake_free("cuMemFreeAsync", fake_alloc("cuMemAllocAsync", 64));
    fake_call("cuStreamEndCapture", &stream, CUDA_SUCCESS);
    assert_int_equal(outcome_of_launch(memory), KREPLAY_DECLINED);
    assert_int_equal(fake.outcome[1].reason, KREPLAY_REASON_UNTRACKED_MEMORY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_variables_of_captured_kernels),
        TEST(test_heap_of_captured_kernels),
        TEST(test_kernel_nodes),
        TEST(test_old_kernel_node),
        TEST(test_kernel_node_without_a_context),
        TEST(test_memory_node),
        TEST(test_memory_allocated_in_a_capture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
