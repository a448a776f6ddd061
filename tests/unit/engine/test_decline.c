// SPDX-License-Identifier: MIT
// Every way in which a window does not go as asked: the reason is recorded and the program sees one
// execution. rig_dispatch checks the one completion, and that the record came before it.
#include "rig.h"

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0

static struct buffer data;

static void start(void)
{
    rig_start(LIVE0);
    data = rig_buffer(0, 2 * BLOCK + 3);
    kr_fake_trace_start(rig.fake);
}

static void expect(kreplay_reason reason, uint32_t executed)
{
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(record->outcome.reason, reason);
    assert_int_equal(record->outcome.executed_passes, executed);
    assert_int_equal(record->pass_count, executed);
    assert_true(buffer_is(&data, 1));
    assert_true(record->outcome.deterministic);
    assert_true(kr_fake_longest_wait_ns(rig.fake) < INT64_MAX);
}

// The next dispatch is replayed again: nothing is left over.
static void expect_recovery(void)
{
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.executed_passes, 3);
    assert_true(buffer_is(&data, 2));
    rig_stop();
}

static void untracked_memory(void **state)
{
    (void)state;
    char mapping[8];
    start();
    assert_int_equal(kr_fake_adopt(rig.fake, 0, mapping, 0, KR_MEMORY_UNTRACKED), 0); // zero bytes count too
    expect(KREPLAY_REASON_UNTRACKED_MEMORY, 0);
    assert_int_equal(rig_last()->outcome.untracked_regions, 1);
    rig_expect_trace("config drain_queue begin submit end record /config complete");
    kr_fake_drop(rig.fake, 0, mapping);
    expect_recovery();
}

static void foreign_memory_counts_for_every_agent(void **state)
{
    (void)state;
    static char theirs[8];
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 2});
    data = rig_buffer(0, 2 * BLOCK + 3);
    assert_int_equal(kr_inventory_add(rig.engine, KR_ANY_AGENT, theirs, 8, KR_MEMORY_DEVICE),
                     KREPLAY_INVALID);
    assert_int_equal(kr_inventory_add(rig.engine, KR_ANY_AGENT, theirs, 8, KR_MEMORY_UNTRACKED), 0);
    for (uint32_t agent = 0; agent < 2; agent++) {
        struct rig_window w = {.window.agent = agent};
        rig_add(&w, touch_first, &data);
        w.ops[0].dispatch.agent_id = agent;
        rig_run(&w);
        assert_int_equal(rig_last()->outcome.reason, KREPLAY_REASON_UNTRACKED_MEMORY);
    }
    kr_inventory_remove(rig.engine, theirs);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    rig_stop();
}

static void a_blind_agent_is_not_replayed(void **state)
{
    (void)state;
    setenv("KREPLAY_DECLINE_UNTRACKED", "0", 1); // does not help: nothing is known of what is missed
    start();
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    kr_engine_blind(rig.engine, 0, KREPLAY_REASON_UNKNOWN_PACKET);
    kr_engine_blind(rig.engine, 0, KREPLAY_REASON_UNTRACKED_MEMORY); // the first one stands
    kr_engine_blind(rig.engine, 77, KREPLAY_REASON_UNTRACKED_MEMORY);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(rig_dispatch(add_one, &data)->outcome.reason, KREPLAY_REASON_UNKNOWN_PACKET);
    assert_true(buffer_is(&data, 3));
    rig_stop();
    unsetenv("KREPLAY_DECLINE_UNTRACKED");
}

static void untracked_memory_by_policy(void **state)
{
    (void)state;
    char mapping[8];
    setenv("KREPLAY_DECLINE_UNTRACKED", "0", 1);
    start();
    assert_int_equal(kr_fake_adopt(rig.fake, 0, mapping, 8, KR_MEMORY_UNTRACKED), 0);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(rig_last()->outcome.untracked_bytes, 8);
    rig_stop();
    unsetenv("KREPLAY_DECLINE_UNTRACKED");
}

static void budget(void **state)
{
    (void)state;
    setenv("KREPLAY_BUDGET_BYTES", "8194", 1);
    start(); // 8195 bytes
    expect(KREPLAY_REASON_FOOTPRINT_BUDGET, 0);
    rig_stop();
    setenv("KREPLAY_BUDGET_BYTES", "8195", 1); // exactly is not over
    start();
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    rig_stop();
    unsetenv("KREPLAY_BUDGET_BYTES");
}

static void host_part_over_budget(void **state)
{
    (void)state;
    // The device is full with the program's own 60 KiB, the host may take 70 KiB: S0 fits, S1 does not.
    setenv("KREPLAY_BUDGET_BYTES", "70000", 1);
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .device_bytes = 15 * BLOCK + 1});
    data = rig_buffer(0, 15 * BLOCK);
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 1);
    assert_int_equal(kr_fake_used_bytes(rig.fake, KR_PLACE_HOST), 15 * BLOCK);
    rig_stop();
    unsetenv("KREPLAY_BUDGET_BYTES");
}

static void unsafe_kernel(void **state)
{
    (void)state;
    static const kreplay_reason reasons[] = {KREPLAY_REASON_UNSAFE_KERNEL, KREPLAY_REASON_HOST_MEMORY};
    for (size_t i = 0; i < 2; i++) {
        struct rig_window w = {0};
        start();
        rig_add(&w, add_one, &data);
        rig_add(&w, touch_first, &data);
        w.ops[1].unsafe = reasons[i]; // one such operation declines the whole window
        rig_run(&w);
        rig_expect_done_once(&w);
        assert_int_equal(rig.record_count, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(rig.records[k].outcome.kind, KREPLAY_DECLINED);
            assert_int_equal(rig.records[k].outcome.reason, reasons[i]);
        }
        assert_int_equal(data.at[0], 2);
        assert_int_equal(w.mine[0].executions, 1);
        rig_stop();
    }
}

static void name(struct rig_window *w, const char *kernel)
{
    rig_add(w, add_one, &data);
    w->ops[0].dispatch.kernel_name = kernel;
    rig_run(w);
}

static void kernels_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *list, *kernel;
        bool declined;
    } cases[] = {
        {NULL, "_Z4add1Pi", false},
        {NULL, "_Z46ncclKernel_AllReduce_RING_LL_Sum_int8_t19ncclDevCommAndParam", true},
        {NULL, "_Z21ncclDevKernel_Generic24ncclDevKernelArgsStorageILm4096EE", true},
        {"add1", "_Z4add1Pi", true},
        {"add1", "ncclDevKernel_Generic", false}, // in place of the default
        {"+add1,add2", "ncclDevKernel_Generic", true},
        {"+add1,add2", "_Z4add2Pi", true},
        {"", "ncclDevKernel_Generic", false}, // none
        {"add1", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_window w = {0};
        if (cases[i].list)
            setenv("KREPLAY_DECLINE_KERNELS", cases[i].list, 1);
        start();
        name(&w, cases[i].kernel);
        assert_int_equal(rig_last()->outcome.reason,
                         cases[i].declined ? KREPLAY_REASON_UNSAFE_KERNEL : KREPLAY_REASON_NONE);
        assert_int_equal(rig_last()->outcome.executed_passes, cases[i].declined ? 0 : 3);
        assert_true(buffer_is(&data, 1));
        rig_stop();
        unsetenv("KREPLAY_DECLINE_KERNELS");
    }
}

static void queue_drain(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_DRAIN_QUEUE, 1, 1, KREPLAY_TIMEOUT);
    expect(KREPLAY_REASON_QUEUE_DRAIN_STUCK, 0);
    // It must not overtake what is stuck before it: the back end gets it whole.
    rig_expect_trace("config drain_queue record /config detach");
    expect_recovery();
}

static void agent_drain(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_DRAIN_AGENT, 1, 1, KREPLAY_TIMEOUT);
    expect(KREPLAY_REASON_AGENT_DRAIN_STUCK, 0);
    rig_expect_trace("config drain_queue drain_agent begin submit end record /config complete");
    expect_recovery();
}

static void snapshot_copy(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 1, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_DEVICE);
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 0);
    expect_recovery();
}

static void snapshot_copy_once(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 1, 1, KREPLAY_DEVICE);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    assert_true(buffer_is(&data, 1));
    expect_recovery();
}

static void snapshot_alloc(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_ALLOC, 1, 2, KREPLAY_NO_MEMORY); // device, then host
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 0);
    rig_expect_trace("config drain_queue drain_agent alloc alloc begin submit end record /config complete");
    expect_recovery();
}

static void no_room_anywhere(void **state)
{
    (void)state;
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .device_bytes = 10000, .host_bytes = 100});
    data = rig_buffer(0, 9000);
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 0);
    rig_stop();
}

static void device_full_goes_to_host(void **state)
{
    (void)state;
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .device_bytes = 10000});
    data = rig_buffer(0, 9000);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    assert_true(buffer_is(&data, 1));
    assert_true(kr_fake_used_bytes(rig.fake, KR_PLACE_HOST) >= 18000);
    rig_stop();
}

static void program_allocation_comes_first(void **state)
{
    (void)state;
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .device_bytes = 10000});
    data = rig_buffer(0, 3000);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    struct buffer more = rig_buffer(0, 6000); // fits only without the snapshot
    assert_int_equal(rig_dispatch(add_one, &more)->outcome.kind, KREPLAY_REPLAYED);
    assert_true(buffer_is(&data, 1) && buffer_is(&more, 1));
    rig_stop();
}

static void saving_the_live_result(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_ALLOC, 2, 4, KREPLAY_NO_MEMORY);
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 1); // pass 0 was the live run: its values stand
    rig_stop();
    start();
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 2, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_DEVICE);
    expect(KREPLAY_REASON_SNAPSHOT_FAILED, 1);
    expect_recovery();
}

static void compare_fails(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 2; nth++) { // for the write set; at the end
        start();
        kr_fake_fail(rig.fake, KR_FAKE_COMPARE, nth, 1, KREPLAY_DEVICE);
        struct rig_record *record = rig_dispatch(add_one, &data);
        assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
        assert_true(record->outcome.deterministic);
        assert_true(buffer_is(&data, 1));
        expect_recovery();
    }
}

static void live_stuck(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 1, 1, KREPLAY_TIMEOUT);
    expect(KREPLAY_REASON_LIVE_RUN_STUCK, 0);
    assert_int_equal(rig_last()->end_ns, 0);
    rig_expect_trace(
        "config drain_queue drain_agent alloc copy pass begin submit end /pass record /config detach");
    expect_recovery();
    start(); // not wanted, and stuck all the same
    rig.want = false;
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 1, 1, KREPLAY_TIMEOUT);
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_FILTERED);
    assert_int_equal(record->outcome.reason, KREPLAY_REASON_LIVE_RUN_STUCK);
    assert_true(buffer_is(&data, 1));
    rig_stop();
}

static void live_stuck_in_the_middle(void **state)
{
    (void)state;
    start();
    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    rig_add(&w, add_one, &data);
    rig_add(&w, add_one, &data);
    kr_fake_stick(rig.fake, 1);
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 1, 1, KREPLAY_TIMEOUT);
    rig_run(&w);
    assert_int_equal(w.mine[0].completions, 0);
    kr_fake_settle(rig.fake);
    rig_expect_done_once(&w);
    assert_true(buffer_is(&data, 3));
    rig_stop();
}

static void live_stuck_when_the_program_launches(void **state)
{
    (void)state;
    rig_start(0);
    data = rig_buffer(0, 100);
    kr_fake_fail(rig.fake, KR_FAKE_LIVE_WAIT, 1, 1, KREPLAY_TIMEOUT);
    expect(KREPLAY_REASON_LIVE_RUN_STUCK, 0);
    kr_fake_fail(rig.fake, KR_FAKE_LIVE_WAIT, 1, 1, KREPLAY_DEVICE);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.reason, KREPLAY_REASON_DEVICE_ERROR);
    assert_true(buffer_is(&data, 2));
    rig_stop();
}

static void pass_stuck(void **state)
{
    (void)state;
    for (size_t ran = 0; ran < 2; ran++) { // the stuck pass wrote nothing, or all
        start();
        kr_fake_stick(rig.fake, ran);
        kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 3, 1, KREPLAY_TIMEOUT);
        expect(KREPLAY_REASON_PASS_STUCK, 2);
        assert_int_equal(rig_last()->passes[1].value_count, 3); // finished passes are kept
        assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_CANCEL), 1);
        expect_recovery();
    }
}

static void cancel_fails_but_the_work_ends(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 2, 1, KREPLAY_TIMEOUT);
    kr_fake_fail(rig.fake, KR_FAKE_CANCEL, 1, 1, KREPLAY_DEVICE);
    expect(KREPLAY_REASON_PASS_STUCK, 1);
    expect_recovery();
}

static void arming(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 3; nth++) {
        start();
        kr_fake_fail(rig.fake, KR_FAKE_PASS_BEGIN, nth, 1, KREPLAY_UNAVAILABLE);
        expect(KREPLAY_REASON_COUNTERS_UNAVAILABLE, nth - 1);
        expect_recovery();
    }
}

static void arming_single(void **state)
{
    (void)state;
    start();
    rig.pass_count = 1;
    rig.single = rig.groups[0];
    kr_fake_fail(rig.fake, KR_FAKE_PASS_BEGIN, 1, 1, KREPLAY_UNAVAILABLE);
    expect(KREPLAY_REASON_COUNTERS_UNAVAILABLE, 0);
    rig_stop();
}

static void begin_never_works(void **state)
{
    (void)state;
    start();
    kr_fake_fail(rig.fake, KR_FAKE_PASS_BEGIN, 1, 2, KREPLAY_DEVICE);
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_DECLINED);
    assert_true(buffer_is(&data, 1));
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_DETACH), 1);
    expect_recovery();
}

static void reading(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 3; nth++) {
        start();
        kr_fake_fail(rig.fake, KR_FAKE_PASS_END, nth, 1, KREPLAY_UNAVAILABLE);
        expect(KREPLAY_REASON_COUNTERS_UNAVAILABLE, nth - 1);
        expect_recovery();
    }
}

static void device_error(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 3; nth++) {
        start();
        kr_fake_fail(rig.fake, KR_FAKE_PASS_END, nth, 1, KREPLAY_DEVICE);
        expect(KREPLAY_REASON_DEVICE_ERROR, nth - 1);
        expect_recovery();
    }
}

static void submission_refused(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 3; nth++) {
        start();
        kr_fake_fail(rig.fake, KR_FAKE_SUBMIT, nth, 1, KREPLAY_DEVICE);
        expect(KREPLAY_REASON_DEVICE_ERROR, nth - 1);
        expect_recovery();
    }
}

static kreplay_group *foreign;
static void use_foreign(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase == KREPLAY_ENTER)
        pass->group = foreign;
}

static void group_of_another_gpu(void **state)
{
    (void)state;
    static const char *const names[] = {"FAKE_RUNS"};
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 2});
    data = rig_buffer(0, 10);
    assert_int_equal(kreplay_group_create(1, names, 1, &foreign, NULL, 0), 0);
    rig.on_pass = use_foreign;
    expect(KREPLAY_REASON_COUNTERS_UNAVAILABLE, 0);
    kreplay_group_destroy(foreign);
    rig_stop();
}

// ---- Submitting from inside a window
static struct buffer inner_data;
static struct rig_window inner;
static uint32_t inner_pass;
static kreplay_phase inner_phase;

static void submit_inside(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != inner_phase || pass->current_pass != inner_pass)
        return;
    inner = (struct rig_window){0};
    rig_add(&inner, add_one, &inner_data);
    rig_run(&inner);
    rig_expect_done_once(&inner);
}

static void reentrant_dispatch(void **state)
{
    (void)state;
    for (unsigned mode = 0; mode < 2; mode++) {
        for (inner_pass = 0; inner_pass < 3; inner_pass++) {
            for (int phase = KREPLAY_ENTER; phase <= KREPLAY_EXIT; phase++) {
                rig_start(mode ? LIVE0 : 0);
                data = rig_buffer(0, BLOCK + 100);
                inner_data = rig_buffer(0, BLOCK + 100);
                inner_phase = (kreplay_phase)phase;
                rig.on_pass = submit_inside;
                struct rig_window w = {0};
                rig_add(&w, add_one, &data);
                rig_run(&w);
                rig_expect_done_once(&w);
                assert_true(buffer_is(&data, 1));
                assert_true(buffer_is(&inner_data, 1));
                assert_int_equal(rig.record_count, 2);
                assert_int_equal(rig.records[0].outcome.kind, KREPLAY_DECLINED);
                assert_int_equal(rig.records[0].outcome.reason, KREPLAY_REASON_REENTRANT_DISPATCH);
                const kreplay_outcome *outer = &rig.records[1].outcome;
                assert_true(outer->reentrant);
                // Passes that it hit are void; after the last pass nothing is lost.
                bool last = inner_pass == 2 && phase == KREPLAY_EXIT;
                assert_int_equal(outer->kind, last ? KREPLAY_REPLAYED : KREPLAY_DECLINED);
                assert_int_equal(outer->reason,
                                 last ? KREPLAY_REASON_NONE : KREPLAY_REASON_REENTRANT_DISPATCH);
                rig_stop();
            }
        }
    }
}

static void submit_inside_stuck(kreplay_phase phase, kreplay_pass *pass)
{
    (void)pass;
    if (phase != KREPLAY_EXIT)
        return;
    inner = (struct rig_window){0};
    rig_add(&inner, add_one, &inner_data);
    rig_run(&inner);
}

static void inside_a_stuck_window(void **state)
{
    (void)state;
    rig_start(LIVE0);
    data = rig_buffer(0, 100);
    inner_data = rig_buffer(0, 100);
    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    rig.on_pass = submit_inside_stuck;
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 1, 1, KREPLAY_TIMEOUT);
    rig_run(&w); // its execution never ends: what comes from inside cannot run now
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_DETACH), 2);
    kr_fake_settle(rig.fake);
    rig_expect_done_once(&w);
    rig_expect_done_once(&inner);
    assert_true(buffer_is(&data, 1) && buffer_is(&inner_data, 1));
    rig_stop();
}

static void inside_an_own_submission(void **state)
{
    (void)state;
    start();
    kr_gate_enter(rig.engine, 0); // would wait for itself
    struct rig_record *record = rig_dispatch(add_one, &data);
    kr_gate_leave(rig.engine, 0);
    assert_int_equal(record->outcome.reason, KREPLAY_REASON_REENTRANT_DISPATCH);
    assert_true(buffer_is(&data, 1));
    expect_recovery();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untracked_memory),
        cmocka_unit_test(untracked_memory_by_policy),
        cmocka_unit_test(foreign_memory_counts_for_every_agent),
        cmocka_unit_test(a_blind_agent_is_not_replayed),
        cmocka_unit_test(budget),
        cmocka_unit_test(host_part_over_budget),
        cmocka_unit_test(unsafe_kernel),
        cmocka_unit_test(kernels_by_name),
        cmocka_unit_test(queue_drain),
        cmocka_unit_test(agent_drain),
        cmocka_unit_test(snapshot_copy),
        cmocka_unit_test(snapshot_copy_once),
        cmocka_unit_test(snapshot_alloc),
        cmocka_unit_test(no_room_anywhere),
        cmocka_unit_test(device_full_goes_to_host),
        cmocka_unit_test(program_allocation_comes_first),
        cmocka_unit_test(saving_the_live_result),
        cmocka_unit_test(compare_fails),
        cmocka_unit_test(live_stuck),
        cmocka_unit_test(live_stuck_in_the_middle),
        cmocka_unit_test(live_stuck_when_the_program_launches),
        cmocka_unit_test(pass_stuck),
        cmocka_unit_test(cancel_fails_but_the_work_ends),
        cmocka_unit_test(arming),
        cmocka_unit_test(arming_single),
        cmocka_unit_test(begin_never_works),
        cmocka_unit_test(reading),
        cmocka_unit_test(device_error),
        cmocka_unit_test(submission_refused),
        cmocka_unit_test(group_of_another_gpu),
        cmocka_unit_test(reentrant_dispatch),
        cmocka_unit_test(inside_a_stuck_window),
        cmocka_unit_test(inside_an_own_submission),
    };
    return cmocka_run_group_tests_name("engine.decline", tests, NULL, NULL);
}
