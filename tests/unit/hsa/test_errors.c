// SPDX-License-Identifier: MIT
// Faults, what cannot be stopped, and what kreplay does not see, over the fake runtime.
#include "window_rig.h"

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
    fake.stop_kernels++; // it ends by itself
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

// What is let out stays untracked until it is freed: 1 lets out by IPC, 2 the middle of it as a DMA buffer.
static void shared_memory_declines_until_it_is_freed(void **state)
{
    (void)state;
    start();
    hsa_queue_t *q = queue(64);
    for (unsigned way = 1; way <= 2; way++) {
        int *data = device(64), *shared = device(256);
        struct arguments a = {data, 0};
        hsa_signal_t done = fake_signal(3);
        unsigned before = tool.count;
        dispatch(q, ADD_ONE, &a, done);
        until(&tool.count, before + 1);
        hsa_amd_ipc_memory_t handle = {{0}};
        int dmabuf;
        uint64_t offset;
        hsa_status_t status = way == 1
                                  ? program.hsa_amd_ipc_memory_create(shared, 256, &handle)
                                  : program.hsa_amd_portable_export_dmabuf(shared + 16, 64, &dmabuf, &offset);
        assert_int_equal(status, HSA_STATUS_SUCCESS);
        dispatch(q, ADD_ONE, &a, done);
        until(&tool.count, before + 2);
        program.hsa_amd_memory_pool_free(shared);
        dispatch(q, ADD_ONE, &a, done);
        assert_true(fake_wait_zero(done));
        assert_int_equal(tool.seen[before].outcome.kind, KREPLAY_REPLAYED);
        assert_int_equal(tool.seen[before + 1].outcome.kind, KREPLAY_DECLINED);
        assert_int_equal(tool.seen[before + 1].outcome.reason, KREPLAY_REASON_UNTRACKED_MEMORY);
        assert_int_equal(tool.seen[before + 2].outcome.kind, KREPLAY_REPLAYED);
        assert_int_equal(data[0], 3);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_declines_until_it_is_freed),
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
    };
    return window_main(argc, argv, "errors", tests, sizeof(tests) / sizeof(tests[0]));
}
