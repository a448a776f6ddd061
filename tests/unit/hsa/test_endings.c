// SPDX-License-Identifier: MIT
// What becomes of dispatches when the program or a queue ends, over the fake runtime.
#include "window_rig.h"

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
        cmocka_unit_test(at_the_end_waiting_dispatches_still_run),
        cmocka_unit_test(a_blocked_queue_does_not_hold_up_the_end),
        cmocka_unit_test(a_detached_dispatch_is_completed_after_the_end),
        cmocka_unit_test(the_runtime_may_end_under_a_detached_dispatch),
        cmocka_unit_test(what_waits_at_the_end_still_runs),
        cmocka_unit_test(a_destroyed_queue_loses_no_record),
        cmocka_unit_test(a_destroyed_queue_stops_what_it_ran),
        cmocka_unit_test(a_fork_child_does_nothing),
    };
    return window_main(argc, argv, "endings", tests, sizeof(tests) / sizeof(tests[0]));
}
