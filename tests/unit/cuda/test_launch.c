// SPDX-License-Identifier: MIT
// Launches of a program under replay, from CUPTI's callbacks to the records: what is replayed, what is
// declined and how it is named, and that the program's memory is always that of its own single execution.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cuda.h"
#include "make_cubin.h"

#define EXECUTIONS 4u // of the two groups: 1 and 3

static struct fake_module module;

static void increment(void **arguments)
{
    uint64_t *at = *(uint64_t **)arguments[0];
    (*at)++;
    module.memory[1]++;
}
static struct fake_kernel increments = {"increments", increment, {8, 4}, &module};
static struct fake_kernel prints = {"prints", increment, {8, 4}, &module};

static void load_module(void)
{
    size_t bytes;
    unsigned char *cubin = make_cubin(&(struct make_cubin){.kernels = {"increments", "prints"},
                                                           .calls = {NULL, "vprintf"},
                                                           .variables = {"a", "b"},
                                                           .variable_count = 2},
                                      &bytes);
    module = (struct fake_module){.variables = {"a", "b"}};
    fake_load(cubin, bytes, 7);
    free(cubin);
}

static int set_up(void **state)
{
    (void)state;
    fake_start();
    load_module();
    return 0;
}

static CUresult launch(struct fake_kernel *kernel, void *memory)
{
    int count = 3;
    void *arguments[] = {&memory, &count};
    return fake_launch(kernel, NULL, arguments);
}

static void assert_replayed(size_t record)
{
    assert_true(record < fake.record_count);
    assert_int_equal(fake.outcome[record].kind, KREPLAY_REPLAYED);
    assert_int_equal(fake.outcome[record].reason, KREPLAY_REASON_NONE);
    assert_int_equal(fake.pass_count[record], 2);
}

static void assert_declined(size_t record, kreplay_reason reason)
{
    assert_true(record < fake.record_count);
    assert_int_equal(fake.outcome[record].kind, KREPLAY_DECLINED);
    assert_int_equal(fake.outcome[record].reason, reason);
    assert_int_equal(fake.pass_count[record], 0);
}

static void test_memory_and_variables_change_once(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 100000);
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(launch(&increments, memory), CUDA_SUCCESS);
        assert_int_equal(*memory, i);
        assert_int_equal(module.memory[1], i);
        assert_int_equal(fake.launches, i * (1 + EXECUTIONS));
        assert_replayed(i - 1);
    }
    assert_true(fake.outcome[0].deterministic);
    assert_int_equal(fake.outcome[0].captured_regions, 3);
    assert_string_equal(fake.kernel[0], "increments");
    fake_free("cuMemFree_v2", memory);
}

static void test_values(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&increments, memory);
    assert_int_equal(fake.pass[0][0].value_count, 1);
    assert_int_equal(fake.value[0][0][0].kind, KREPLAY_VALUE_COUNT);
    assert_int_equal(fake.value[0][0][0].value, 1);
    // Three executions: the fake's counter has seen each.
    assert_int_equal(fake.pass[0][1].value_count, 3);
    assert_int_equal(fake.value[0][1][0].value, 3);
    assert_int_equal(fake.value[0][1][0].counter_id, fake.value[0][0][0].counter_id);
    assert_int_equal(fake.value[0][1][1].kind, KREPLAY_VALUE_DOUBLE);
    assert_true(fake.value[0][1][1].real == 0.25);
    assert_int_equal(fake.starts, EXECUTIONS);
}

// Any number of regions is compared and copied at once; each keeps what belongs to it.
static void test_many_regions(void **state)
{
    (void)state;
    enum { REGIONS = 300 };
    static uint64_t *memory[REGIONS];
    for (unsigned i = 0; i < REGIONS; i++) {
        memory[i] = fake_alloc("cuMemAlloc_v2", i % 3 == 0 ? 8 : 5000 + i);
        *memory[i] = i;
    }
    fake_alloc("cuMemAlloc_v2", (size_t)3 << 20); // too large for the common kernel
    for (unsigned i = 0; i < REGIONS; i += 100) {
        fake.compares = fake.scatters = 0;
        launch(&increments, memory[i]);
        assert_replayed(i / 100);
        assert_true(fake.outcome[i / 100].deterministic);
        assert_int_equal(fake.compares, 2); // for the write set, and at the end
        assert_true(fake.scatters > 0);
        assert_int_equal(fake.outcome[i / 100].write_set_bytes, (i % 3 == 0 ? 8 : 4096) + 8);
    }
    for (unsigned i = 0; i < REGIONS; i++)
        assert_int_equal(*memory[i], i + (i % 100 == 0));
}

// One session for all groups and dispatches; each execution is a pass of its group's own.
static void test_groups_share_a_session(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    for (unsigned i = 1; i <= 3; i++) {
        launch(&increments, memory);
        assert_replayed(i - 1);
        for (unsigned pass = 0; pass < EXECUTIONS; pass++)
            assert_int_equal(fake.runs[pass], i);
    }
    assert_int_equal(fake.sessions, 1);
    assert_int_equal(fake.passes, EXECUTIONS);
}

static void assert_a_session_each(void)
{
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    for (unsigned i = 1; i <= 2; i++) {
        launch(&increments, memory);
        assert_replayed(i - 1);
        assert_int_equal(fake.sessions, i * 2);
        assert_int_equal(fake.value[i - 1][0][0].value, 1);
        assert_int_equal(fake.value[i - 1][1][0].value, 3);
    }
}

static void test_groups_that_cannot_share_a_session(void **state)
{
    (void)state;
    fake.no_joint = true;
    assert_a_session_each();
}

static void test_groups_that_would_be_mixed_up(void **state)
{
    (void)state;
    static const char *const large[] = {"sm__runs.sum", "sm__share.ratio", "sm__runs.max"},
                             *const small[] = {"sm__runs.sum"};
    fake.merges = true;
    fake.names[0] = large;
    fake.name_count[0] = 3;
    fake.names[1] = small;
    fake.name_count[1] = 1;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&increments, memory);
    assert_replayed(0);
    assert_int_equal(fake.sessions, 2);
    assert_int_equal(fake.value[0][0][0].value, 3);
    assert_int_equal(fake.value[0][1][0].value, 1);
}

// A group that is made later is not in the configuration of the session that is open.
static void test_group_that_comes_later(void **state)
{
    (void)state;
    static const char *const names_later[] = {"sm__runs_more.max", "sm__runs.avg"};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    char error[128];
    launch(&increments, memory);
    assert_int_equal(fake.sessions, 1);
    kreplay_group_destroy(fake.groups[0][1]);
    assert_int_equal(kreplay_group_create(0, names_later, 2, &fake.groups[0][1], error, sizeof error), 0);
    launch(&increments, memory);
    assert_replayed(1);
    assert_int_equal(fake.sessions, 2);
    assert_int_equal(fake.passes, 3);
    assert_int_equal(fake.pass[1][1].value_count, 2);
    assert_int_equal(fake.value[1][1][0].value, 2);
}

static void test_other_launch_calls(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    int count = 1;
    void *arguments[] = {&memory, &count};
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
                      event = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    struct {
        void *memory;
        int count;
    } packed = {memory, 1};

    fake_launch_ex(&increments, arguments, &cluster, 1);
    assert_replayed(0);
    fake_launch_packed(&increments, &packed, sizeof packed);
    assert_replayed(1);
    fake_launch_ex(&increments, arguments, &event, 1);
    assert_declined(2, KREPLAY_REASON_UNSAFE_KERNEL);
    fake_launch_graph();
    assert_declined(3, KREPLAY_REASON_UNKNOWN_PACKET);
    assert_string_equal(fake.kernel[3], "cuGraphLaunch");
    assert_int_equal(*memory, 3);
}

static void test_printing_kernel(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&prints, memory);
    assert_declined(0, KREPLAY_REASON_UNSAFE_KERNEL);
    assert_int_equal(fake.launches, 1);
    assert_non_null(strstr(fake.said, "prints is not replayed: it calls vprintf"));
}

// What a kernel has put on the device's heap is out of sight of later kernels' windows.
static void test_device_heap(void **state)
{
    (void)state;
    static struct fake_module other;
    static struct fake_kernel allocates = {"allocates", increment, {8, 4}, &other};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    size_t bytes;
    unsigned char *cubin =
        make_cubin(&(struct make_cubin){.kernels = {"allocates"}, .calls = {"malloc"}}, &bytes);
    fake_load_module(&other, cubin, bytes, 8);
    free(cubin);
    launch(&increments, memory);
    assert_replayed(0);
    launch(&allocates, memory);
    assert_declined(1, KREPLAY_REASON_UNTRACKED_MEMORY);
    launch(&increments, memory);
    assert_declined(2, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(*memory, 3);
    assert_non_null(strstr(fake.said, "kernel allocates uses malloc or free on GPU 0"));
}

static void test_module_that_was_not_seen(void **state)
{
    (void)state;
    static struct fake_module other;
    static struct fake_kernel stranger = {"stranger", increment, {8, 4}, &other};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&stranger, memory);
    assert_declined(0, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(fake.launches, 1);
}

static void test_module_with_a_variable_of_its_own(void **state)
{
    (void)state;
    static struct fake_module other = {.variables = {"found"}};
    static struct fake_kernel hides = {"hides", increment, {8, 4}, &other},
                              speaks = {"speaks", increment, {8, 4}, &other};
    size_t bytes;
    unsigned char *cubin = make_cubin(
        &(struct make_cubin){.kernels = {"speaks"}, .variables = {"found", "$str"}, .variable_count = 2},
        &bytes);
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);

    // A string that the driver does not know by name is no variable.
    fake_load(cubin, bytes, 8);
    free(cubin);
    launch(&speaks, memory);
    assert_replayed(0);
    fake_unload(8);
    cubin = make_cubin(
        &(struct make_cubin){.kernels = {"hides"}, .variables = {"found", "private"}, .variable_count = 2},
        &bytes);
    fake_load(cubin, bytes, 9);
    free(cubin);
    launch(&hides, memory);
    assert_declined(1, KREPLAY_REASON_UNTRACKED_MEMORY);
}

// Of two modules with a kernel of one name, each has the code that was loaded with it.
static void test_module_has_the_code_loaded_with_it(void **state)
{
    (void)state;
    static struct fake_module printing = {.variables = {"v", "w"}}, silent = {.variables = {"v", "w"}};
    static struct fake_kernel twins[] = {{"twin", increment, {8, 4}, &printing},
                                         {"twin", increment, {8, 4}, &silent}};
    struct make_cubin code = {
        .kernels = {"twin"}, .calls = {"vprintf"}, .variables = {"v", "w"}, .variable_count = 2};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    size_t bytes;

    unsigned char *cubin = make_cubin(&code, &bytes);
    fake_load_module(&printing, cubin, bytes, 20);
    free(cubin);
    code.calls[0] = NULL;
    cubin = make_cubin(&code, &bytes);
    fake_load_module(&silent, cubin, bytes, 21);
    free(cubin);
    launch(&twins[0], memory);
    assert_declined(0, KREPLAY_REASON_UNSAFE_KERNEL);
    launch(&twins[1], memory);
    assert_replayed(1);
}

// Two copies of one cubin, and nobody told which is whose. When one module goes, the other keeps its variables.
static void test_copies_of_a_module(void **state)
{
    (void)state;
    static struct fake_module copies[] = {{.variables = {"v"}}, {.variables = {"v"}}};
    static struct fake_kernel twins[] = {{"twin", increment, {8, 4}, &copies[0]},
                                         {"twin", increment, {8, 4}, &copies[1]}};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    enum kr_memory_kind kind;
    size_t bytes;
    unsigned char *cubin = make_cubin(
        &(struct make_cubin){.kernels = {"twin"}, .variables = {"v"}, .variable_count = 1}, &bytes);

    for (unsigned gone = 0; gone < 2; gone++) {
        unsigned stays = 1 - gone, id = 30 + gone * 2;
        struct kr_free_params unload = {&copies[gone]}, unload_other = {&copies[stays]};
        fake_load(cubin, bytes, id);
        fake_load(cubin, bytes, id + 1);
        launch(&twins[0], memory);
        launch(&twins[1], memory);
        fake_call("cuModuleUnload", &unload, CUDA_SUCCESS);
        fake_unload(id);
        assert_false(kr_inventory_find(fake.cuda.engine, &copies[gone].memory[0], &kind, NULL, NULL));
        assert_true(kr_inventory_find(fake.cuda.engine, &copies[stays].memory[0], &kind, NULL, NULL));
        launch(&twins[stays], memory);
        assert_replayed(fake.record_count - 1);
        fake_call("cuModuleUnload", &unload_other, CUDA_SUCCESS);
        fake_unload(id + 1);
        assert_false(kr_inventory_find(fake.cuda.engine, &copies[stays].memory[0], &kind, NULL, NULL));
    }
    free(cubin);
}

static void test_unloaded_variables_are_left_alone(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    enum kr_memory_kind kind;
    launch(&increments, memory);
    assert_true(kr_inventory_find(fake.cuda.engine, &module.memory[0], &kind, NULL, NULL));
    fake_unload(7);
    assert_false(kr_inventory_find(fake.cuda.engine, &module.memory[0], &kind, NULL, NULL));
}

static void test_stream_capture(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    CUstream stream = (CUstream)memory;
    int count = 1;
    void *arguments[] = {&memory, &count};
    struct kr_free_params params = {stream};

    fake_call("cuStreamBeginCapture_v2", &params, CUDA_SUCCESS);
    fake.capturing = stream;
    fake_launch(&increments, stream, arguments); // into the graph
    assert_int_equal(fake.record_count, 0);
    launch(&increments, memory); // on another stream
    assert_declined(0, KREPLAY_REASON_STREAM_CAPTURE);
    fake_call("cuStreamEndCapture", &params, CUDA_SUCCESS);
    fake.capturing = NULL;
    launch(&increments, memory);
    assert_replayed(1);
    assert_int_equal(*memory, 2);
}

static void begin_capture(void)
{
    fake.cuda.captures++; // as another thread's call does, between this launch's judgement and its window
}

static void test_capture_that_begins_meanwhile(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    fake.wanted = begin_capture;
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_STREAM_CAPTURE);
    assert_int_equal(fake.context_events, 0);
    assert_int_equal(*memory, 1);
    fake.wanted = NULL;
    fake.cuda.captures = 0;
    launch(&increments, memory);
    assert_replayed(1);
    assert_true(fake.context_events > 0);
}

static void test_launch_that_fails(void **state)
{
    (void)state;
    static struct fake_kernel broken = {"increments", NULL, {8, 4}, &module};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    assert_int_equal(launch(&broken, memory), CUDA_ERROR_LAUNCH_FAILED);
    assert_declined(0, KREPLAY_REASON_DEVICE_ERROR);
    assert_int_equal(fake.launches, 0);
}

static void test_counters_that_cannot_be_armed(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    fake.start_result = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
    assert_int_equal(*memory, 1);
    assert_non_null(strstr(fake.said, "cuptiRangeProfilerStart: a failure on purpose; run as root"));
    fake.start_result = CUPTI_SUCCESS;
    launch(&increments, memory);
    assert_replayed(1);
    assert_int_equal(*memory, 2);
}

// Without an event nobody would know when the program's own execution has ended.
static void test_end_that_cannot_be_marked(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    fake.no_events = true;
    launch(&increments, memory);
    assert_declined(0, KREPLAY_REASON_DEVICE_ERROR);
    assert_int_equal(fake.launches, 1);
    fake.no_events = false;
    launch(&increments, memory);
    assert_replayed(1);
}

static void test_copies_over_the_other_path(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 10000);
    fake.no_async = true;
    launch(&increments, memory);
    assert_replayed(0);
    assert_int_equal(*memory, 1);
    assert_true(fake.outcome[0].restore_retries > 0);
}

static unsigned next_id;
static unsigned char *some_cubin;
static size_t some_cubin_bytes;

static void load_and_unload(void)
{
    fake_load(some_cubin, some_cubin_bytes, next_id);
    if (next_id > 1000)
        fake_unload(next_id - 1);
    next_id++;
}

// Another thread can hold the driver's locks while CUPTI tells of a module it loads. Here it is this thread, in the
// midst of a question: no lock of kreplay's may be held then.
static void test_modules_come_and_go_meanwhile(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    next_id = 1000;
    some_cubin = make_cubin(
        &(struct make_cubin){.kernels = {"increments"}, .variables = {"a", "other"}, .variable_count = 2},
        &some_cubin_bytes);
    load_and_unload();
    fake.asked = load_and_unload;
    launch(&increments, memory);
    fake.asked = NULL;
    assert_true(next_id > 1003);
    assert_replayed(0);
    assert_int_equal(module.memory[1], 1);
    free(some_cubin);
}

static void stick(void **arguments)
{
    increment(arguments);
    fake.stuck = true;
}

static void test_live_run_that_does_not_end(void **state)
{
    (void)state;
    static struct fake_kernel sticks = {"increments", stick, {8, 4}, &module};
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&sticks, memory);
    assert_declined(0, KREPLAY_REASON_LIVE_RUN_STUCK);
    assert_int_equal(fake.launches, 1);
    // It still runs: the next kernel cannot have the GPU for itself.
    launch(&increments, memory);
    assert_declined(1, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    fake.stuck = false;
    launch(&increments, memory);
    assert_replayed(2);
    assert_int_equal(*memory, 3);
}

static void test_lost_context(void **state)
{
    (void)state;
    uint64_t *memory = fake_alloc("cuMemAlloc_v2", 64);
    launch(&increments, memory);
    kr_device_lose(&fake.cuda, fake.cuda.devices[0].context);
    launch(&increments, memory);
    assert_declined(1, KREPLAY_REASON_UNTRACKED_MEMORY);
}

static int count_names(void *arg, const kreplay_counter *counter)
{
    unsigned *count = arg;
    if (strcmp(counter->name, "sm__share.ratio") == 0) {
        assert_string_equal(counter->block, "sm");
        assert_string_equal(counter->description, "what it counts (run)");
    }
    ++*count;
    return 0;
}

static void test_metrics(void **state)
{
    (void)state;
    static const char *const wrong[] = {"sm__runs"}, *const longer[] = {"sm__runs_more.max"};
    unsigned count = 0;
    char error[128];
    kreplay_group *group;

    fake_alloc("cuMemHostAlloc", 64); // the GPUs become known with the first call
    assert_int_equal(kreplay_counters(0, count_names, &count), 0);
    assert_int_equal(count, 2 * 3 + 2);
    assert_int_equal(kreplay_group_create(0, wrong, 1, &group, error, sizeof error), KREPLAY_UNKNOWN_COUNTER);
    assert_non_null(strstr(error, "sm__runs: FK100 has no metric of this name"));
    assert_int_equal(kreplay_group_create(0, longer, 1, &group, error, sizeof error), 0);
    kreplay_group_destroy(group);
}

// As a tool does that looks for its counters by itself.
static int create_inside(void *arg, const kreplay_counter *counter)
{
    kreplay_group **group = arg;
    char error[128], name[64];
    snprintf(name, sizeof name, "%s", counter->name);
    if (strcmp(name, "sm__runs_more.max") != 0)
        return 0;
    assert_int_equal(kreplay_group_create(0, &counter->name, 1, group, error, sizeof error), 0);
    assert_string_equal(counter->name, name);
    return 1;
}

static void test_group_from_inside_the_list(void **state)
{
    (void)state;
    kreplay_group *group = NULL;
    fake_alloc("cuMemHostAlloc", 64);
    assert_int_equal(kreplay_counters(0, create_inside, &group), 1);
    assert_non_null(group);
    kreplay_group_destroy(group);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_memory_and_variables_change_once),
        TEST(test_values),
        TEST(test_many_regions),
        TEST(test_groups_share_a_session),
        TEST(test_groups_that_cannot_share_a_session),
        TEST(test_groups_that_would_be_mixed_up),
        TEST(test_group_that_comes_later),
        TEST(test_other_launch_calls),
        TEST(test_printing_kernel),
        TEST(test_device_heap),
        TEST(test_module_that_was_not_seen),
        TEST(test_module_with_a_variable_of_its_own),
        TEST(test_module_has_the_code_loaded_with_it),
        TEST(test_copies_of_a_module),
        TEST(test_unloaded_variables_are_left_alone),
        TEST(test_stream_capture),
        TEST(test_capture_that_begins_meanwhile),
        TEST(test_launch_that_fails),
        TEST(test_counters_that_cannot_be_armed),
        TEST(test_end_that_cannot_be_marked),
        TEST(test_copies_over_the_other_path),
        TEST(test_modules_come_and_go_meanwhile),
        TEST(test_live_run_that_does_not_end),
        TEST(test_lost_context),
        TEST(test_metrics),
        TEST(test_group_from_inside_the_list),
    };
    setenv("KREPLAY_LIVE_MS", "20", 1);
    setenv("KREPLAY_AGENT_DRAIN_MS", "20", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
