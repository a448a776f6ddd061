// SPDX-License-Identifier: MIT
// From the program's packet to its signal: interception, order, replay and counters, over the fake runtime.
#include "window_rig.h"

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
    assert_int_equal(tool.kernels, KERNELS);
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

static void a_cooperative_queue_is_an_ordinary_one_on_request(void **state)
{
    (void)state;
    setenv("KREPLAY_DECLINE_COOPERATIVE", "0", 1);
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue_of_type(64, HSA_QUEUE_TYPE_COOPERATIVE);
    hsa_signal_t done = fake_signal(5);
    for (unsigned i = 0; i < 5; i++)
        dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(data[0], 5);
    assert_int_equal(fake.kernel_runs, 5 * 2);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(tool.seen[i].outcome.kind, KREPLAY_REPLAYED);
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
    static const kreplay_tool mine = {.size = sizeof(mine), .name = "test", .agent = make_groups};
    assert_int_equal(kreplay_register(&mine), KREPLAY_OK);
    kr_hsa_begin();
    program = fake_program_api();
    device(64);
    assert_null(tool.groups[0]);
    assert_non_null(strstr(tool.group_error, "libhsa-amd-aqlprofile64.so"));
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
        cmocka_unit_test(a_cooperative_queue_runs_in_place),
        cmocka_unit_test(a_cooperative_queue_is_an_ordinary_one_on_request),
        cmocka_unit_test(without_counters_the_program_runs_on),
    };
    return window_main(argc, argv, "windows", tests, sizeof(tests) / sizeof(tests[0]));
}
