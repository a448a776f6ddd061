// SPDX-License-Identifier: MIT
// From the program's packet to its signal: interception, order, replay, counters, and ways to end, over the
// fake runtime. The back end is one per process, so each test is run in a process of its own: its name is the
// argument.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_runtime.h"
#include "hsa/copy.h"
#include "hsa/life.h"

enum { ADD_ONE, SPIN, PRINTS, ONCE, FAULT, FAULT_LATER };

struct arguments {
    int *data;
    uint64_t more;
};

static int *module_data; // 96 bytes, writable module memory
static _Atomic bool spin_on;

static void add_one(void *p)
{
    const struct arguments *a = p;
    a->data[0] += 1;
    module_data[0] += 1;
}

static void spin(void *p)
{
    const struct arguments *a = p;
    while (spin_on && !fake.stop_kernels)
        usleep(100);
    a->data[0] += 100;
}

// Ends the first time it is run, and never again.
static void once(void *p)
{
    const struct arguments *a = p;
    static unsigned runs;
    a->data[0] += 1000;
    if (runs++ == 0)
        return;
    while (!fake.stop_kernels)
        usleep(100);
}

static void fault(void *p)
{
    (void)p;
    fake_fault();
}

// The first run is fine.
static void fault_later(void *p)
{
    const struct arguments *a = p;
    static unsigned runs;
    a->data[0] += 1;
    if (runs++ == 1)
        fake_fault();
}

static const struct fake_kernel_info kernels[] = {
    [ADD_ONE] = {"add_one.kd", add_one, sizeof(struct arguments), false},
    [SPIN] = {"spin.kd", spin, sizeof(struct arguments), false},
    [PRINTS] = {"prints.kd", add_one, sizeof(struct arguments), true},
    [ONCE] = {"once.kd", once, sizeof(struct arguments), false},
    [FAULT] = {"fault.kd", fault, sizeof(struct arguments), false},
    [FAULT_LATER] = {"fault_later.kd", fault_later, sizeof(struct arguments), false},
};

// ---- A tool that asks for two passes of everything and remembers what it is told
static struct {
    kreplay_group *groups[2];
    char group_error[256];
    unsigned agents, kernels, finished;
    struct seen {
        uint64_t id;
        kreplay_outcome outcome;
        uint64_t start_ns, end_ns, first_value, second_value;
        size_t values;
        char kernel[32];
    } seen[6000];
    _Atomic unsigned count;
} tool;

static void on_agent(void *arg, const kreplay_agent *agent)
{
    static const char *const names[2][2] = {{"SQ_WAVES", "SQ_INSTS_VALU"}, {"SQ_WAVES", "GRBM_COUNT"}};
    (void)arg;
    tool.agents++;
    assert_string_equal(agent->name, "gfx90a");
    if (agent->agent_id > 0)
        return;
    for (int i = 0; i < 2; i++)
        kreplay_group_create(agent->agent_id, names[i], 2, &tool.groups[i], tool.group_error,
                             sizeof(tool.group_error));
}

static void on_kernel(void *arg, const kreplay_kernel *kernel)
{
    (void)arg, (void)kernel;
    tool.kernels++;
}

static void on_config(void *arg, kreplay_phase phase, kreplay_config *config)
{
    (void)arg;
    if (phase != KREPLAY_ENTER)
        return;
    config->want = true;
    config->pass_count = 2;
}

static void on_pass(void *arg, kreplay_phase phase, kreplay_pass *pass)
{
    (void)arg;
    if (phase == KREPLAY_ENTER)
        pass->group = tool.groups[pass->current_pass];
}

static void on_dispatch(void *arg, const kreplay_dispatch_record *record)
{
    (void)arg;
    struct seen *s = &tool.seen[tool.count];
    s->id = record->dispatch->dispatch_id;
    s->outcome = *record->outcome;
    s->start_ns = record->start_ns;
    s->end_ns = record->end_ns;
    snprintf(s->kernel, sizeof(s->kernel), "%s", record->dispatch->kernel_name);
    if (record->pass_count > 0 && record->passes[0].value_count > 1) {
        s->values = record->passes[0].value_count;
        s->first_value = record->passes[0].values[0].value;
        s->second_value = record->passes[0].values[1].value;
    }
    tool.count++;
}

static void on_fini(void *arg)
{
    (void)arg;
    tool.finished++;
    for (int i = 0; i < 2; i++)
        kreplay_group_destroy(tool.groups[i]);
}

static struct kr_hsa_api program; // what the program calls

static void start_with(unsigned gpus)
{
    static const kreplay_tool mine = {
        .size = sizeof(mine),
        .name = "test",
        .agent = on_agent,
        .kernel = on_kernel,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .fini = on_fini,
    };
    char error[256] = "";
    module_data = aligned_alloc(64, 128);
    memset(module_data, 0, 128);
    void *table = fake_start();
    fake.two_gpus = gpus == 2;
    assert_int_equal(kr_hsa_open(table, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kreplay_register(&mine), KREPLAY_OK);
    kr_hsa_begin();
    program = fake_program_api();
    fake_load(kernels, sizeof(kernels) / sizeof(kernels[0]), module_data);
}

static void start(void)
{
    start_with(1);
}

static hsa_queue_t *queue_of_type(uint32_t size, hsa_queue_type32_t type)
{
    hsa_queue_t *q = NULL;
    assert_int_equal(program.hsa_queue_create(fake_gpu, size, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &q),
                     HSA_STATUS_SUCCESS);
    return q;
}

static hsa_queue_t *queue(uint32_t size)
{
    return queue_of_type(size, HSA_QUEUE_TYPE_MULTI);
}

static void *device(size_t bytes)
{
    void *p = NULL;
    assert_int_equal(program.hsa_amd_memory_pool_allocate(fake_device_pool, bytes, 0, &p),
                     HSA_STATUS_SUCCESS);
    memset(p, 0, bytes);
    fake_keep((char *)p - 64); // the block that it is in
    return p;
}

static hsa_kernel_dispatch_packet_t packet_of(unsigned kernel, struct arguments *arguments,
                                              hsa_signal_t signal)
{
    return (hsa_kernel_dispatch_packet_t){
        .header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER,
        .setup = 1,
        .workgroup_size_x = 64,
        .workgroup_size_y = 1,
        .workgroup_size_z = 1,
        .grid_size_x = 64,
        .grid_size_y = 1,
        .grid_size_z = 1,
        .kernel_object = fake_kernel_object(kernel),
        .kernarg_address = arguments,
        .completion_signal = signal,
    };
}

static void dispatch(hsa_queue_t *q, unsigned kernel, struct arguments *arguments, hsa_signal_t signal)
{
    hsa_kernel_dispatch_packet_t packet = packet_of(kernel, arguments, signal);
    fake_submit(q, &packet);
}

static void barrier(hsa_queue_t *q, hsa_signal_t dependency, hsa_signal_t completion)
{
    hsa_barrier_and_packet_t packet = {
        .header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER,
        .dep_signal = {dependency},
        .completion_signal = completion,
    };
    fake_submit(q, &packet);
}

static const hsa_signal_t none = {0};

static void until(const _Atomic unsigned *count, unsigned at_least)
{
    for (unsigned i = 0; i < 200000 && *count < at_least; i++)
        usleep(100);
    assert_true(*count >= at_least);
}

// ---- Tests
static void one_dispatch_is_replayed(void **state)
{
    (void)state;
    start();
    int *data = device(4096);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(data[0], 1); // as after one run
    assert_int_equal(module_data[0], 1);
    assert_int_equal(fake.kernel_runs, 2);
    assert_int_equal(fake.counter_starts, 2);
    assert_int_equal(fake.counter_stops, 2);
    assert_int_equal(tool.agents, 1);
    assert_int_equal(tool.kernels, sizeof(kernels) / sizeof(kernels[0]));
    assert_int_equal(tool.count, 1);
    assert_string_equal(tool.group_error, "");
    const struct seen *s = &tool.seen[0];
    assert_string_equal(s->kernel, "add_one");
    assert_int_equal(s->id, 1);
    assert_int_equal(s->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(s->outcome.executed_passes, 2);
    assert_int_equal(s->values, 4); // two counters, two engines
    assert_int_equal(s->first_value, 1);
    assert_int_equal(s->second_value, 11);
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)done.handle;
    assert_true(signal->start_ts > 0 && signal->end_ts >= signal->start_ts);
    assert_int_equal(signal->start_ts, s->start_ns); // ticks are nanoseconds here
    assert_int_equal(signal->end_ts, s->end_ns);
    assert_true(kr_hsa_end());
    kr_hsa_close();
    assert_int_equal(tool.finished, 1);
}

static void order_is_kept_and_ids_count_up(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(256);
    hsa_signal_t done[50], last = fake_signal(1);
    for (unsigned i = 0; i < 50; i++) {
        done[i] = fake_signal(1);
        dispatch(q, ADD_ONE, &a, i % 2 ? done[i] : none);
    }
    barrier(q, none, last);
    assert_true(fake_wait_zero(last)); // nothing overtakes the dispatches
    for (unsigned i = 1; i < 50; i += 2)
        assert_int_equal(fake_value(done[i]), 0);
    assert_int_equal(data[0], 50);
    assert_int_equal(tool.count, 50);
    for (unsigned i = 0; i < 50; i++)
        assert_int_equal(tool.seen[i].id, i + 1);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_true(kr_hsa_end());
}

static void many_launches_fit_the_ring(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t go = fake_signal(1), last = fake_signal(1);
    barrier(q, go, none);
    for (unsigned i = 0; i < 300; i++) { // while nothing moves: less than the ring holds
        dispatch(q, ADD_ONE, &a, none);
        barrier(q, none, none);
    }
    fake_wait_zero((hsa_signal_t){(uint64_t)(uintptr_t) & (amd_signal_t){.value = 0}});
    assert_int_equal(fake.kernel_runs, 0); // the first barrier holds everything
    program.hsa_signal_store_screlease(go, 0);
    for (unsigned i = 0; i < 2700; i++)
        dispatch(q, ADD_ONE, &a, none);
    barrier(q, none, last);
    assert_true(fake_wait_zero(last));
    assert_int_equal(fake.ring_overflows, 0);
    assert_int_equal(data[0], 3000);
    assert_int_equal(tool.count, 3000);
}

static void barriers_alone_fit_the_ring(void **state)
{
    (void)state;
    start();
    hsa_queue_t *q = queue(64);
    hsa_signal_t last = fake_signal(1);
    for (unsigned i = 0; i < 20000; i++)
        barrier(q, none, none);
    barrier(q, none, last);
    assert_true(fake_wait_zero(last));
    assert_int_equal(fake.ring_overflows, 0);
}

static void a_blocked_queue_does_not_block_another(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t one = fake_signal(1), two = fake_signal(1);
    barrier(first, two, none); // waits for a dispatch of the other queue that arrives later
    dispatch(first, ADD_ONE, &a, one);
    dispatch(second, ADD_ONE, &a, two);
    assert_true(fake_wait_zero(two));
    assert_true(fake_wait_zero(one));
    assert_int_equal(data[0], 2);
    assert_int_equal(tool.seen[0].id, 2);
}

static void host_memory_and_printing_decline(void **state)
{
    (void)state;
    start();
    int *data = device(64), *host = NULL, *locked = aligned_alloc(64, 64), *seen_by_gpu = NULL;
    assert_int_equal(program.hsa_amd_memory_pool_allocate(fake_host_pool, 64, 0, (void **)&host),
                     HSA_STATUS_SUCCESS);
    assert_int_equal(program.hsa_amd_memory_lock(locked, 64, NULL, 0, (void **)&seen_by_gpu),
                     HSA_STATUS_SUCCESS);
    host[0] = locked[0] = 0;
    struct arguments a = {data, 0}, b = {host, 0}, c = {data, (uint64_t)(uintptr_t)&seen_by_gpu[3]},
                     d = {data, 12345};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(5);
    dispatch(q, PRINTS, &a, done);
    dispatch(q, ADD_ONE, &b, done);
    dispatch(q, ADD_ONE, &c, done);
    dispatch(q, ADD_ONE, &d, done);
    while (fake_value(done) > 1)
        usleep(100);
    assert_int_equal(program.hsa_amd_memory_unlock(locked), HSA_STATUS_SUCCESS);
    dispatch(q, ADD_ONE, &c, done); // only a number now
    assert_true(fake_wait_zero(done));
    static const kreplay_reason expected[] = {KREPLAY_REASON_UNSAFE_KERNEL, KREPLAY_REASON_HOST_MEMORY,
                                              KREPLAY_REASON_HOST_MEMORY, KREPLAY_REASON_NONE,
                                              KREPLAY_REASON_NONE};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(tool.seen[i].outcome.reason, expected[i]);
    assert_int_equal(data[0], 4);
    assert_int_equal(host[0], 1);
}

static void copies_wait_for_their_dependencies(void **state)
{
    (void)state;
    start();
    int *data = device(64), *other = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t kernel = fake_signal(1), copied = fake_signal(1), at_once = fake_signal(1),
                 never = fake_signal(1);
    unsigned before = fake.async_copies;
    assert_int_equal(
        program.hsa_amd_memory_async_copy(other, fake_gpu, data, fake_gpu, 4, 1, &kernel, copied),
        HSA_STATUS_SUCCESS);
    assert_int_equal(
        program.hsa_amd_memory_async_copy(&other[2], fake_gpu, data, fake_gpu, 4, 1, &never, never),
        HSA_STATUS_SUCCESS);
    assert_int_equal(fake.async_copies, before);
    assert_int_equal(
        program.hsa_amd_memory_async_copy(&other[1], fake_gpu, data, fake_gpu, 4, 0, NULL, at_once),
        HSA_STATUS_SUCCESS);
    assert_true(fake_wait_zero(at_once));
    assert_int_equal(other[1], 0);
    dispatch(q, ADD_ONE, &a, kernel);
    assert_true(fake_wait_zero(copied));
    assert_int_equal(other[0], 1); // the kernel's result, not a pass's
    assert_int_equal(fake_value(never), 1);
    assert_int_equal(tool.seen[0].outcome.kind,
                     KREPLAY_REPLAYED); // a copy that is held back does not disturb
}

static hsa_signal_t held_back_copy(hsa_agent_t gpu, void *to, const void *from, hsa_signal_t dependency)
{
    hsa_signal_t done = fake_signal(1);
    assert_int_equal(program.hsa_amd_memory_async_copy(to, gpu, from, gpu, 4, 1, &dependency, done),
                     HSA_STATUS_SUCCESS);
    return done;
}

static void a_window_holds_up_no_other_gpus_copies(void **state)
{
    (void)state;
    start_with(2);
    int *data = device(64), there[2] = {0, 7};
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t kernel = fake_signal(1), go = fake_signal(1), go_too = fake_signal(1);
    hsa_signal_t here = held_back_copy(fake_gpu, &data[2], data, go);
    hsa_signal_t other = held_back_copy(fake_second_gpu, &there[0], &there[1], go_too);
    spin_on = true;
    dispatch(q, SPIN, &a, kernel);
    until(&fake.kernel_runs, 1);
    program.hsa_signal_store_screlease(go, 0); // waits for the window
    program.hsa_signal_store_screlease(go_too, 0);
    assert_true(fake_wait_zero(other));
    assert_int_equal(there[0], 7);
    assert_int_equal(fake_value(here), 1);
    spin_on = false;
    assert_true(fake_wait_zero(here));
    assert_true(fake_wait_zero(kernel));
    assert_int_equal(data[2], 100);
}

static void a_dispatch_that_does_not_end_is_left_alone(void **state)
{
    (void)state;
    setenv("KREPLAY_LIVE_MS", "100", 1);
    setenv("KREPLAY_AGENT_DRAIN_MS", "100", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t slow = fake_signal(1), behind = fake_signal(1), other = fake_signal(1);
    spin_on = true;
    dispatch(first, SPIN, &a, slow);
    while (tool.count == 0) // until its time is up
        usleep(100);
    dispatch(first, ADD_ONE, &a, behind);
    dispatch(second, ADD_ONE, &a, other);
    assert_true(fake_wait_zero(other)); // the other queue goes on
    assert_int_equal(fake_value(slow), 1);
    assert_int_equal(fake_value(behind), 1); // its own queue keeps its order
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_LIVE_RUN_STUCK);
    assert_int_equal(tool.seen[1].outcome.reason, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    spin_on = false;
    assert_true(fake_wait_zero(slow));
    assert_true(fake_wait_zero(behind));
    assert_int_equal(data[0], 102);
    assert_int_equal(tool.seen[2].outcome.kind, KREPLAY_REPLAYED);
    assert_true(((const amd_signal_t *)(uintptr_t)slow.handle)->end_ts > 0);
}

static void a_pass_that_does_not_end_is_cancelled(void **state)
{
    (void)state;
    setenv("KREPLAY_PASS_FLOOR_MS", "50", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1), next = fake_signal(1);
    dispatch(q, ONCE, &a, done);
    dispatch(q, ADD_ONE, &a, next);
    assert_true(fake_wait_zero(done));
    assert_true(fake_wait_zero(next));
    assert_int_equal(fake.queues_stopped, 1); // the private one, with what it ran
    assert_int_equal(data[0], 1001);          // the live run's result
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_PASS_STUCK);
    assert_int_equal(tool.seen[0].outcome.executed_passes, 1);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
    assert_true(kr_hsa_end());
}

// ---- Errors of the device
static struct {
    _Atomic unsigned calls;
    unsigned records; // that the tool had when it was called
    hsa_status_t status;
    hsa_queue_t *queue;
    void *memory; // freed in the callback
    bool end;
} heard;

static void on_error(hsa_status_t status, hsa_queue_t *q, void *data)
{
    assert_ptr_equal(data, &heard);
    heard.status = status;
    heard.queue = q;
    heard.records = tool.count;
    if (heard.memory)
        program.hsa_amd_memory_pool_free(heard.memory);
    if (heard.end)
        exit(3);
    heard.calls++;
}

static hsa_queue_t *queue_with_callback(void)
{
    hsa_queue_t *q = NULL;
    assert_int_equal(program.hsa_queue_create(fake_gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, &heard,
                                              UINT32_MAX, UINT32_MAX, &q),
                     HSA_STATUS_SUCCESS);
    return q;
}

static void a_fault_stops_its_queue_and_no_other(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    heard.memory = device(64); // freeing it waits for the gate
    hsa_queue_t *q = queue_with_callback(), *other = queue(64);
    hsa_signal_t failed = fake_signal(1), behind = fake_signal(1), done = fake_signal(1);
    dispatch(q, FAULT, &a, failed);
    dispatch(q, ADD_ONE, &a, behind);
    until(&heard.calls, 1);
    assert_int_equal(heard.status, HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    assert_ptr_equal(heard.queue, q);
    assert_int_equal(heard.records, 1); // it could end the program: the record is written
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_DEVICE_ERROR);
    dispatch(other, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(fake_value(failed), 1);
    assert_int_equal(fake_value(behind), 1);
    assert_int_equal(data[0], 1);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_int_equal(tool.count, 3);
    assert_int_equal(tool.seen[2].id, 2); // it never ran, but it was asked for
    assert_int_equal(tool.seen[2].outcome.reason, KREPLAY_REASON_DEVICE_ERROR);
    assert_int_equal(heard.calls, 1);
    assert_true(kr_hsa_end());
    kr_hsa_close();
    assert_int_equal(tool.finished, 1);
}

static void end_and_look(void)
{
    if (!kr_hsa_end() || tool.count != 1)
        _exit(1);
    kr_hsa_last_call();
    if (tool.finished != 1)
        _exit(2);
}

static void an_error_callback_may_end_the_program(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        start();
        atexit(end_and_look);
        struct arguments a = {device(64), 0};
        heard.end = true;
        dispatch(queue_with_callback(), FAULT, &a, fake_signal(1));
        for (;;)
            pause();
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void a_fault_in_a_pass_is_not_the_programs(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue_with_callback();
    hsa_signal_t done = fake_signal(1), next = fake_signal(1);
    dispatch(q, FAULT_LATER, &a, done);
    dispatch(q, ADD_ONE, &a, next);
    assert_true(fake_wait_zero(done));
    assert_true(fake_wait_zero(next));
    assert_int_equal(heard.calls, 0);
    assert_int_equal(data[0], 2);
    assert_int_equal(tool.seen[0].outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_DEVICE_ERROR);
    assert_int_equal(tool.seen[0].outcome.executed_passes, 1);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
    until(&fake.handlers_run, 1);
    assert_true(kr_hsa_end());
    kr_hsa_close();
}

static _Atomic bool event_blocked;

static void free_in_handler(void *arg)
{
    event_blocked = true;
    program.hsa_amd_memory_pool_free(arg); // waits for the window
}

// The pass that is cancelled must not wait for a handler that waits for its window.
static void cancelling_does_not_wait_for_handlers(void **state)
{
    (void)state;
    setenv("KREPLAY_PASS_FLOOR_MS", "200", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    void *other = device(64);
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1);
    dispatch(q, ONCE, &a, done);
    until(&fake.kernel_runs, 2); // in the pass that does not end
    fake_event(free_in_handler, other);
    assert_true(fake_wait_zero(done));
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_PASS_STUCK);
    until(&fake.handlers_run, 1);
    until(&fake.queues_destroyed, 1);
}

static void a_pass_that_cannot_be_stopped_is_waited_for(void **state)
{
    (void)state;
    setenv("KREPLAY_PASS_FLOOR_MS", "50", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1), next = fake_signal(1);
    fake.no_stopping = true;
    dispatch(q, ONCE, &a, done);
    until(&fake.stops_refused, 1);
    assert_int_equal(fake_value(done), 1);
    fake.stop_kernels = true; // it ends by itself
    assert_true(fake_wait_zero(done));
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_PASS_STUCK);
    assert_int_equal(data[0], 1000);
    dispatch(q, ADD_ONE, &a, next);
    assert_true(fake_wait_zero(next));
    assert_int_equal(data[0], 1001);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
}

static void a_dead_queue_takes_and_records_everything(void **state)
{
    (void)state;
    enum { MORE = 2000 }; // than the ring holds
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue_with_callback();
    dispatch(q, FAULT, &a, none);
    until(&heard.calls, 1);
    for (unsigned i = 0; i < MORE; i++)
        dispatch(q, ADD_ONE, &a, none);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_int_equal(tool.count, 1 + MORE);
    for (unsigned i = 0; i < 1 + MORE; i++)
        assert_int_equal(tool.seen[i].outcome.reason, KREPLAY_REASON_DEVICE_ERROR);
    assert_int_equal(data[0], 0);
    assert_int_equal(fake.ring_overflows, 0);
}

// With no queue to be had a dispatch waits for one.
static void a_dispatch_waits_for_a_queue(void **state)
{
    (void)state;
    setenv("KREPLAY_PASS_FLOOR_MS", "50", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1), next = fake_signal(1), last = fake_signal(1);
    fake.no_queues = true;
    dispatch(q, ONCE, &a, done); // its pass takes the private queue down
    assert_true(fake_wait_zero(done));
    dispatch(q, ADD_ONE, &a, next);
    until(&tool.count, 2);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(fake_value(next), 1);
    fake.no_queues = false;
    assert_true(fake_wait_zero(next));
    dispatch(q, ADD_ONE, &a, last);
    assert_true(fake_wait_zero(last));
    assert_int_equal(data[0], 1002);
    assert_int_equal(tool.seen[2].outcome.kind, KREPLAY_REPLAYED);
}

static void a_snapshot_that_does_not_end_declines(void **state)
{
    (void)state;
    setenv("KREPLAY_COPY_MS", "50", 1);
    setenv("KREPLAY_AGENT_DRAIN_MS", "50", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(3);
    dispatch(q, ADD_ONE, &a, done);
    until(&tool.count, 1);
    fake.slow_copies = true;
    dispatch(q, ADD_ONE, &a, done);
    dispatch(q, ADD_ONE, &a, done); // the late copy could still read and write
    until(&tool.count, 3);
    assert_int_equal(tool.seen[0].outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(tool.seen[1].outcome.reason, KREPLAY_REASON_SNAPSHOT_FAILED);
    assert_int_equal(tool.seen[2].outcome.reason, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    assert_true(fake_wait_zero(done));
    assert_int_equal(data[0], 3);
    fake.slow_copies = false;
    done = fake_signal(1);
    while (kr_hsa_copies_late(&kr_hsa.agents[0]))
        usleep(100);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(tool.seen[3].outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(data[0], 4);
}

// ---- What kreplay does not see
static void an_unwatched_queue_ends_replay(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64), *none_at_all = NULL;
    hsa_signal_t done = fake_signal(3);
    dispatch(q, ADD_ONE, &a, done);
    until(&tool.count, 1);
    assert_int_equal(tool.seen[0].outcome.kind, KREPLAY_REPLAYED);
    // What the runtime refuses is no queue.
    assert_int_not_equal(program.hsa_queue_create(fake_gpu, 0, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                                                  UINT32_MAX, &none_at_all),
                         HSA_STATUS_SUCCESS);
    // Without a larger ring the program's size has to do.
    fake.largest_watched = 64;
    hsa_queue_t *small = queue(64);
    dispatch(small, ADD_ONE, &a, done);
    until(&tool.count, 2);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
    fake.largest_watched = 0;
    queue(64);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(tool.seen[2].outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(tool.seen[2].outcome.reason, KREPLAY_REASON_UNKNOWN_PACKET);
    assert_int_equal(data[0], 3);
}

static void memory_of_others_declines(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(2);
    hsa_amd_ipc_memory_t handle = {{0}};
    void *theirs = NULL;
    assert_int_equal(program.hsa_amd_ipc_memory_attach(&handle, 64, 0, NULL, &theirs), HSA_STATUS_SUCCESS);
    dispatch(q, ADD_ONE, &a, done);
    until(&tool.count, 1);
    assert_int_equal(program.hsa_amd_ipc_memory_detach(theirs), HSA_STATUS_SUCCESS);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_UNTRACKED_MEMORY);
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
}

static void a_cooperative_queue_runs_in_place(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue_of_type(64, HSA_QUEUE_TYPE_COOPERATIVE), *other = queue(64);
    hsa_signal_t done = fake_signal(20), last = fake_signal(2);
    for (unsigned i = 0; i < 20; i++) {
        dispatch(q, ADD_ONE, &a, done);
        dispatch(other, ADD_ONE, &a, none);
    }
    barrier(q, none, last);
    barrier(other, none, last);
    assert_true(fake_wait_zero(last));
    assert_int_equal(fake_value(done), 0);
    assert_int_equal(data[0], 40);
    assert_int_equal(fake.kernel_runs, 20 + 2 * 20);
    unsigned declined = 0;
    for (unsigned i = 0; i < 40; i++)
        declined += tool.seen[i].outcome.reason == KREPLAY_REASON_UNSAFE_KERNEL && tool.seen[i].start_ns > 0;
    assert_int_equal(declined, 20);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_true(kr_hsa_end());
}

static void without_counters_the_program_runs_on(void **state)
{
    (void)state;
    setenv("KREPLAY_EXIT_MS", "2000", 1);
    fake_start();
    char error[256] = "";
    assert_int_equal(kr_hsa_open(fake.root, error, sizeof(error)), KREPLAY_OK);
    fake.no_counter_library = true;
    static const kreplay_tool mine = {.size = sizeof(mine), .name = "test", .agent = on_agent};
    assert_int_equal(kreplay_register(&mine), KREPLAY_OK);
    kr_hsa_begin();
    program = fake_program_api();
    device(64);
    assert_null(tool.groups[0]);
    assert_non_null(strstr(tool.group_error, "libhsa-amd-aqlprofile64.so"));
}

static void at_the_end_waiting_dispatches_still_run(void **state)
{
    (void)state;
    setenv("KREPLAY_EXIT_MS", "20000", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t late = fake_signal(1);
    for (unsigned i = 0; i < 20; i++)
        dispatch(q, ADD_ONE, &a, none);
    assert_true(kr_hsa_end());
    assert_int_equal(data[0], 20);
    assert_int_equal(tool.count, 20);
    assert_int_equal(tool.finished, 0);
    assert_false(kr_hsa_end());
    // What comes now goes to the hardware as it is, but not unseen.
    unsigned runs = fake.kernel_runs;
    dispatch(q, ADD_ONE, &a, late);
    assert_int_equal(tool.count, 21); // not after its completion
    assert_true(fake_wait_zero(late));
    assert_int_equal(fake.kernel_runs, runs + 1);
    const struct seen *s = &tool.seen[20];
    assert_int_equal(s->outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(s->outcome.reason, KREPLAY_REASON_PROGRAM_ENDING);
    kr_hsa_last_call();
    assert_int_equal(tool.finished, 1);
    kr_hsa_last_call();
    kr_hsa_close();
    assert_int_equal(tool.finished, 1);
    late = fake_signal(1);
    dispatch(q, ADD_ONE, &a, late);
    assert_true(fake_wait_zero(late));
    assert_int_equal(tool.count, 21);
}

static void a_blocked_queue_does_not_hold_up_the_end(void **state)
{
    (void)state;
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    barrier(q, fake_signal(1), none); // for ever
    dispatch(q, ADD_ONE, &a, none);
    assert_true(kr_hsa_end());
    assert_int_equal(data[0], 0);
    assert_int_equal(tool.count, 1); // it never ran, but it was asked for
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_PROGRAM_ENDING);
    kr_hsa_close();
    assert_int_equal(tool.finished, 1);
}

// ---- What is left at the end
static void start_endless(hsa_queue_t *q, struct arguments *a, hsa_signal_t done)
{
    spin_on = true;
    dispatch(q, SPIN, a, done);
    until(&tool.count, 1);
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_LIVE_RUN_STUCK);
}

static void a_detached_dispatch_is_completed_after_the_end(void **state)
{
    (void)state;
    setenv("KREPLAY_LIVE_MS", "100", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_signal_t done = fake_signal(1);
    start_endless(queue(64), &a, done);
    assert_true(kr_hsa_end()); // it has its record
    kr_hsa_last_call();
    assert_int_equal(tool.finished, 1);
    assert_int_equal(fake_value(done), 1);
    spin_on = false; // as in an exit handler that waits for it
    assert_true(fake_wait_zero(done));
    assert_int_equal(data[0], 100);
    kr_hsa_close();
    assert_int_equal(tool.finished, 1);
}

static void the_runtime_may_end_under_a_detached_dispatch(void **state)
{
    (void)state;
    setenv("KREPLAY_LIVE_MS", "100", 1);
    start();
    struct arguments a = {device(64), 0};
    hsa_signal_t done = fake_signal(1);
    start_endless(queue(64), &a, done);
    assert_true(kr_hsa_end());
    kr_hsa_close(); // takes the counters' buffers away, too
    assert_int_equal(tool.finished, 1);
    assert_int_equal(fake_value(done), 1);
}

static void what_waits_at_the_end_still_runs(void **state)
{
    (void)state;
    setenv("KREPLAY_EXIT_STALL_MS", "100", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t go = fake_signal(1), done = fake_signal(2), last = fake_signal(1);
    barrier(q, go, none);
    dispatch(q, ADD_ONE, &a, done);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(kr_hsa_end());
    assert_int_equal(tool.count, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tool.seen[i].outcome.reason, KREPLAY_REASON_PROGRAM_ENDING);
    kr_hsa_last_call();
    dispatch(q, ADD_ONE, &a, last);
    assert_int_equal(data[0], 0);
    program.hsa_signal_store_screlease(go, 0); // as in a late exit handler
    assert_true(fake_wait_zero(done));
    assert_true(fake_wait_zero(last));
    assert_int_equal(data[0], 3);
    assert_int_equal(fake.kernel_runs, 3);
    kr_hsa_close();
}

static void a_destroyed_queue_loses_no_record(void **state)
{
    (void)state;
    setenv("KREPLAY_QUEUE_DRAIN_MS", "100", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t never = fake_signal(1), done = fake_signal(2);
    barrier(q, never, none);
    dispatch(q, ADD_ONE, &a, done);
    dispatch(q, ADD_ONE, &a, done);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_int_equal(tool.count, 2);
    assert_int_equal(tool.seen[0].outcome.reason, KREPLAY_REASON_QUEUE_DRAIN_STUCK);
    assert_int_equal(tool.seen[1].outcome.reason, KREPLAY_REASON_QUEUE_DRAIN_STUCK);
    assert_int_equal(data[0], 0);
    assert_int_equal(fake_value(done), 2);
    assert_true(kr_hsa_end());
    kr_hsa_close();
}

static void a_destroyed_queue_stops_what_it_ran(void **state)
{
    (void)state;
    setenv("KREPLAY_LIVE_MS", "100", 1);
    setenv("KREPLAY_QUEUE_DRAIN_MS", "100", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1), next = fake_signal(1);
    start_endless(q, &a, done);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    dispatch(queue(64), ADD_ONE, &a, next); // does not have to wait for it
    assert_true(fake_wait_zero(next));
    assert_int_equal(tool.seen[1].outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(fake_value(done), 1);
    assert_true(kr_hsa_end());
    kr_hsa_close();
}

static void a_fork_child_does_nothing(void **state)
{
    (void)state;
    start();
    pid_t child = fork();
    if (child == 0) {
        bool ended = kr_hsa_end();
        void *p = NULL;
        program.hsa_amd_memory_pool_allocate(fake_device_pool, 64, 0, &p);
        _exit(ended || tool.finished > 0 || !p);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_true(kr_hsa_end());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dispatch_is_replayed),
        cmocka_unit_test(order_is_kept_and_ids_count_up),
        cmocka_unit_test(many_launches_fit_the_ring),
        cmocka_unit_test(barriers_alone_fit_the_ring),
        cmocka_unit_test(a_blocked_queue_does_not_block_another),
        cmocka_unit_test(host_memory_and_printing_decline),
        cmocka_unit_test(copies_wait_for_their_dependencies),
        cmocka_unit_test(a_window_holds_up_no_other_gpus_copies),
        cmocka_unit_test(a_dispatch_that_does_not_end_is_left_alone),
        cmocka_unit_test(a_pass_that_does_not_end_is_cancelled),
        cmocka_unit_test(a_fault_stops_its_queue_and_no_other),
        cmocka_unit_test(an_error_callback_may_end_the_program),
        cmocka_unit_test(a_fault_in_a_pass_is_not_the_programs),
        cmocka_unit_test(cancelling_does_not_wait_for_handlers),
        cmocka_unit_test(a_pass_that_cannot_be_stopped_is_waited_for),
        cmocka_unit_test(a_dead_queue_takes_and_records_everything),
        cmocka_unit_test(a_dispatch_waits_for_a_queue),
        cmocka_unit_test(a_snapshot_that_does_not_end_declines),
        cmocka_unit_test(an_unwatched_queue_ends_replay),
        cmocka_unit_test(memory_of_others_declines),
        cmocka_unit_test(a_cooperative_queue_runs_in_place),
        cmocka_unit_test(without_counters_the_program_runs_on),
        cmocka_unit_test(at_the_end_waiting_dispatches_still_run),
        cmocka_unit_test(a_blocked_queue_does_not_hold_up_the_end),
        cmocka_unit_test(a_detached_dispatch_is_completed_after_the_end),
        cmocka_unit_test(the_runtime_may_end_under_a_detached_dispatch),
        cmocka_unit_test(what_waits_at_the_end_still_runs),
        cmocka_unit_test(a_destroyed_queue_loses_no_record),
        cmocka_unit_test(a_destroyed_queue_stops_what_it_ran),
        cmocka_unit_test(a_fork_child_does_nothing),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: test_hsa_windows TEST\n");
        return 2;
    }
    cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
