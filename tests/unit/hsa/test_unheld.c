// SPDX-License-Identifier: MIT
// Dispatches that no tool wants: they pass on at once, and no window sees them run. A record without times is one of
// a dispatch that passed on; one that was held has them.
#include "window_rig.h"

#include "hsa/unheld.h"

static bool passed_on(const struct seen *s)
{
    return s->outcome.kind == KREPLAY_FILTERED && s->start_ns == 0;
}

static bool was_held(const struct seen *s)
{
    return s->outcome.kind == KREPLAY_FILTERED && s->start_ns > 0;
}

static const struct seen *record_of(uint64_t id)
{
    for (unsigned i = 0; i < tool.count; i++)
        if (tool.seen[i].id == id)
            return &tool.seen[i];
    fail_msg("dispatch %llu has no record", (unsigned long long)id);
    return NULL;
}

static void come_to_its_end(hsa_queue_t *q)
{
    hsa_signal_t last = fake_signal(1);
    barrier(q, none, last);
    assert_true(fake_wait_zero(last));
}

static void what_no_filter_wants_passes_on(void **state)
{
    (void)state;
    unwanted = "add_one";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(2);
    dispatch(q, ADD_ONE, &a, done);
    assert_int_equal(tool.count, 1); // before the program can see it complete
    dispatch(q, ADD_ONE, &a, none);
    dispatch(q, ADD_ONE, &a, done);
    come_to_its_end(q);
    assert_int_equal(fake_value(done), 0);
    assert_int_equal(data[0], 3);
    assert_int_equal(fake.kernel_runs, 3);
    assert_int_equal(fake.counter_starts, 0);
    assert_int_equal(tool.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(tool.seen[i].id, i + 1);
        assert_true(passed_on(&tool.seen[i]));
    }
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_true(kr_hsa_end());
}

static void order_is_kept_among_what_is_wanted_and_what_is_not(void **state)
{
    (void)state;
    unwanted = "prints";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(256);
    hsa_signal_t done = fake_signal(60);
    for (unsigned i = 0; i < 120; i++)
        dispatch(q, i % 3 == 0 ? ADD_ONE : PRINTS, &a, i % 2 ? done : none);
    come_to_its_end(q);
    assert_int_equal(fake_value(done), 0);
    assert_int_equal(data[0], 120);
    assert_int_equal(module_data[0], 120);
    assert_int_equal(fake.kernel_runs, 40 * 2 + 80);
    assert_int_equal(tool.count, 120);
    for (unsigned id = 1; id <= 120; id++)
        assert_int_equal(record_of(id)->outcome.kind, id % 3 == 1 ? KREPLAY_REPLAYED : KREPLAY_FILTERED);
    assert_int_equal(program.hsa_queue_destroy(q), HSA_STATUS_SUCCESS);
    assert_true(kr_hsa_end());
}

static void waits_for_what_passed_on(bool with_signal)
{
    setenv("KREPLAY_AGENT_DRAIN_MS", "100", 1);
    unwanted = "spin";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t done = fake_signal(1), too = fake_signal(1);
    spin_on = true;
    dispatch(first, SPIN, &a, with_signal ? fake_signal(1) : none);
    until(&fake.kernel_runs, 1);
    dispatch(second, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_true(passed_on(record_of(1)));
    assert_int_equal(record_of(2)->outcome.reason, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    spin_on = false;
    come_to_its_end(first);
    dispatch(second, ADD_ONE, &a, too);
    assert_true(fake_wait_zero(too));
    assert_int_equal(record_of(3)->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(data[0], 102);
}

static void a_window_waits_for_what_passed_on(void **state)
{
    (void)state;
    waits_for_what_passed_on(false);
}

static void a_window_waits_for_it_with_its_signal_too(void **state)
{
    (void)state;
    waits_for_what_passed_on(true);
}

static void nothing_passes_on_into_a_window(void **state)
{
    (void)state;
    unwanted = "prints";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t done = fake_signal(1);
    spin_on = true;
    dispatch(first, SPIN, &a, done);
    until(&fake.kernel_runs, 1); // inside its window
    dispatch(second, PRINTS, &a, none);
    dispatch(second, PRINTS, &a, none); // behind the other one's gate
    dispatch(first, PRINTS, &a, none);  // behind the window's own
    assert_int_equal(fake.kernel_runs, 1);
    spin_on = false;
    assert_true(fake_wait_zero(done));
    come_to_its_end(first);
    come_to_its_end(second);
    assert_int_equal(data[0], 103);
    assert_int_equal(record_of(1)->outcome.kind, KREPLAY_REPLAYED);
    assert_true(record_of(1)->outcome.deterministic);
    assert_true(was_held(record_of(2)));
    assert_true(passed_on(record_of(3)));
    assert_true(passed_on(record_of(4)));
}

static void what_may_wait_is_held(void **state)
{
    (void)state;
    setenv("KREPLAY_AGENT_DRAIN_MS", "10000", 1);
    unwanted = "prints";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t done = fake_signal(1), met = fake_signal(0), last = fake_signal(1);
    barrier(first, done, none); // for the wanted dispatch, which comes later
    dispatch(first, PRINTS, &a, none);
    dispatch(first, PRINTS, &a, none); // the gate of the one before it is behind that barrier
    dispatch(second, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(record_of(3)->outcome.kind, KREPLAY_REPLAYED); // it did not wait for what waits for it
    come_to_its_end(first);
    assert_true(was_held(record_of(1)));
    assert_true(passed_on(record_of(2)));
    barrier(first, met, none); // which holds nothing up
    dispatch(first, PRINTS, &a, last);
    assert_true(fake_wait_zero(last));
    assert_true(passed_on(record_of(4)));
    assert_int_equal(data[0], 4);
}

static void what_is_behind_a_shut_gate_holds_no_window_up(void **state)
{
    (void)state;
    setenv("KREPLAY_AGENT_DRAIN_MS", "10000", 1);
    unwanted = "prints";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t go = fake_signal(1), done = fake_signal(1);
    barrier(first, go, none);
    dispatch(first, ADD_ONE, &a, none); // not reached
    dispatch(first, PRINTS, &a, none);
    dispatch(second, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_true(passed_on(record_of(2)));
    assert_int_equal(record_of(3)->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(data[0], 1);
    program.hsa_signal_store_screlease(go, 0);
    come_to_its_end(first);
    assert_int_equal(record_of(1)->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(data[0], 3);
}

// Between the end of a window and its gate in the queue another GPU's window may have begun.
static void a_gate_with_something_behind_it_opens_inside_the_engines(void **state)
{
    (void)state;
    struct kr_hsa_queue q = {0};
    struct kr_hsa_dispatch first = {.queue = &q}, second = {.queue = &q};
    kr_hsa_unheld_shut(&q, &first);
    q.unheld_count = 3; // pass on
    kr_hsa_unheld_shut(&q, &second);
    q.head = &second;
    assert_false(kr_hsa_unheld_may_open(&first, false));
    assert_int_equal(q.unheld_released, 0);
    assert_true(kr_hsa_unheld_may_open(&first, true));
    assert_int_equal(q.unheld_released, 3);
    q.head = NULL;
    assert_true(kr_hsa_unheld_may_open(&second, false)); // nothing is behind it
    assert_int_equal(q.unheld_released, 3);
    assert_int_equal(q.gates_shut, 0);
}

static void a_destroyed_queue_is_waited_for_no_more(void **state)
{
    (void)state;
    setenv("KREPLAY_AGENT_DRAIN_MS", "10000", 1);
    unwanted = "spin";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *first = queue(64), *second = queue(64);
    hsa_signal_t done = fake_signal(1);
    spin_on = true;
    dispatch(first, SPIN, &a, none);
    until(&fake.kernel_runs, 1);
    assert_int_equal(program.hsa_queue_destroy(first), HSA_STATUS_SUCCESS); // stops it
    dispatch(second, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_true(passed_on(record_of(1)));
    assert_int_equal(record_of(2)->outcome.kind, KREPLAY_REPLAYED);
}

static void what_passes_on_fits_the_ring(void **state)
{
    (void)state;
    unwanted = "prints";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(2500);
    for (unsigned i = 0; i < 5000; i++)
        dispatch(q, i % 500 == 0 ? ADD_ONE : PRINTS, &a, i % 2 ? done : none);
    come_to_its_end(q);
    assert_int_equal(fake_value(done), 0);
    assert_int_equal(fake.ring_overflows, 0);
    assert_int_equal(data[0], 5000);
    assert_int_equal(tool.count, 5000);
}

static void on_request_nothing_passes_on(void **state)
{
    (void)state;
    setenv("KREPLAY_PASS_UNWANTED", "0", 1);
    unwanted = "add_one";
    start();
    int *data = device(64);
    struct arguments a = {data, 0};
    hsa_queue_t *q = queue(64);
    hsa_signal_t done = fake_signal(1);
    dispatch(q, ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_true(was_held(record_of(1)));
    assert_int_equal(record_of(1)->end_ns, ((const amd_signal_t *)(uintptr_t)done.handle)->end_ts);
    assert_int_equal(data[0], 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_filter_wants_passes_on),
        cmocka_unit_test(order_is_kept_among_what_is_wanted_and_what_is_not),
        cmocka_unit_test(a_window_waits_for_what_passed_on),
        cmocka_unit_test(a_window_waits_for_it_with_its_signal_too),
        cmocka_unit_test(nothing_passes_on_into_a_window),
        cmocka_unit_test(what_may_wait_is_held),
        cmocka_unit_test(what_is_behind_a_shut_gate_holds_no_window_up),
        cmocka_unit_test(a_gate_with_something_behind_it_opens_inside_the_engines),
        cmocka_unit_test(a_destroyed_queue_is_waited_for_no_more),
        cmocka_unit_test(what_passes_on_fits_the_ring),
        cmocka_unit_test(on_request_nothing_passes_on),
    };
    return window_main(argc, argv, "unheld", tests, sizeof(tests) / sizeof(tests[0]));
}
