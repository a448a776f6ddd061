// SPDX-License-Identifier: MIT
// The ordinary path of a window: order of steps, pass counts, user data, values, shapes of memory.
#include "rig.h"

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0

static void order_of_steps(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 100);
    kr_fake_trace_start(rig.fake);
    struct rig_record *record = rig_dispatch(add_one, &data);
    rig_expect_trace("config drain_queue drain_agent alloc copy "
                     "pass begin submit end /pass compare alloc copy "
                     "pass copy begin submit end /pass "
                     "pass copy begin submit end /pass "
                     "copy compare record /config complete");
    assert_true(buffer_is(&data, 1));
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.reason, KREPLAY_REASON_NONE);
    assert_int_equal(record->outcome.requested_passes, 3);
    assert_int_equal(record->outcome.executed_passes, 3);
    assert_int_equal(record->outcome.restores, 2);
    assert_int_equal(record->outcome.captured_bytes, 100);
    assert_int_equal(record->outcome.captured_regions, 1);
    assert_int_equal(record->outcome.write_set_bytes, 100);
    assert_int_equal(record->outcome.restored_bytes, 200);
    assert_true(record->outcome.deterministic);
    assert_false(record->outcome.reentrant);
    assert_true(record->end_ns >= record->start_ns && record->start_ns > 0);
    rig_stop();
}

static void second_window_allocates_nothing(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 3 * BLOCK);
    rig_dispatch(add_one, &data);
    unsigned before = kr_fake_calls(rig.fake, KR_FAKE_ALLOC);
    for (int i = 0; i < 10; i++)
        rig_dispatch(add_one, &data);
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_ALLOC), before);
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_RELEASE), 0);
    assert_true(buffer_is(&data, 11));
    rig_stop();
}

static void program_launches_live(void **state)
{
    (void)state;
    rig_start(0);
    struct buffer data = rig_buffer(0, 100);
    kr_fake_trace_start(rig.fake);
    struct rig_record *record = rig_dispatch(add_one, &data);
    rig_expect_trace("config drain_queue drain_agent alloc copy "
                     "live_wait compare alloc copy "
                     "pass copy begin submit end /pass "
                     "pass copy begin submit end /pass "
                     "pass copy begin submit end /pass "
                     "copy compare record /config complete");
    assert_true(buffer_is(&data, 1));
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.executed_passes, 3);
    assert_int_equal(record->outcome.restores, 3);
    // One group by request: the live run is unarmed here, so it takes a run of its own, without PASS
    // callbacks.
    rig.pass_count = 1;
    rig.single = rig.groups[0];
    kr_fake_trace_start(rig.fake);
    record = rig_dispatch(add_one, &data);
    rig_expect_trace(
        "config drain_queue drain_agent copy live_wait compare copy copy begin submit end copy compare "
        "record /config complete");
    assert_true(buffer_is(&data, 2));
    assert_int_equal(record->outcome.kind, KREPLAY_SINGLE);
    assert_int_equal(record->pass_count, 1);
    assert_int_equal(record->passes[0].value_count, 2);
    // Not wanted: nothing is called at all.
    rig.want = false;
    kr_fake_trace_start(rig.fake);
    record = rig_dispatch(add_one, &data);
    rig_expect_trace("config record /config complete");
    assert_int_equal(record->outcome.kind, KREPLAY_FILTERED);
    assert_true(buffer_is(&data, 3));
    rig_stop();
}

static void several_executions_a_pass(void **state)
{
    (void)state;
    rig_start(0);
    struct buffer data = rig_buffer(0, 100);
    rig.pass_count = 2;
    rig.groups[0]->executions = 3; // pass 0; pass 1 takes one
    kr_fake_trace_start(rig.fake);
    struct rig_record *record = rig_dispatch(add_one, &data);
    rig_expect_trace("config drain_queue drain_agent alloc copy live_wait compare alloc copy "
                     "pass copy begin submit end copy begin submit end copy begin submit end /pass "
                     "pass copy begin submit end /pass "
                     "copy compare record /config complete");
    assert_int_equal(record->outcome.executed_passes, 2);
    assert_int_equal(record->outcome.restores, 4);
    assert_int_equal(record->passes[0].value_count, 2);
    assert_int_equal(record->passes[0].values[0].value, 1); // the last execution's, not a sum
    assert_true(buffer_is(&data, 1));
    // The second of them gets stuck: the pass is void.
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 2, 1, KREPLAY_TIMEOUT);
    record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.reason, KREPLAY_REASON_PASS_STUCK);
    assert_int_equal(record->outcome.executed_passes, 0);
    assert_int_equal(record->pass_count, 0);
    assert_true(buffer_is(&data, 2));
    rig_stop();
}

// ---- Pass counts
static unsigned asked;
static uint32_t stop_after;
static int go_on(const kreplay_dispatch *dispatch, uint32_t current, uint32_t total,
                 union kreplay_user_data data)
{
    (void)dispatch;
    (void)total;
    (void)data;
    asked++;
    return current < stop_after;
}

static void pass_counts(void **state)
{
    (void)state;
    enum { NEVER = 1000 };
    static const struct {
        uint32_t count;
        bool ask;
        uint32_t stop_after; // continue_fn says no after this pass
        uint32_t executed;
        unsigned asked, restores;
        kreplay_outcome_kind kind;
        kreplay_reason reason;
    } cases[] = {
        {1, false, 0, 1, 0, 0, KREPLAY_SINGLE, KREPLAY_REASON_NONE},
        {1, true, NEVER, 1, 0, 0, KREPLAY_SINGLE, KREPLAY_REASON_NONE},
        {0, false, 0, 0, 0, 0, KREPLAY_DECLINED, KREPLAY_REASON_OPEN_ENDED},
        {0, true, 0, 1, 1, 0, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {0, true, 6, 7, 7, 6, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {2, false, 0, 2, 0, 1, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {5, false, 0, 5, 0, 4, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {2, true, 0, 1, 1, 0, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {5, true, 2, 3, 3, 2, KREPLAY_REPLAYED, KREPLAY_REASON_NONE},
        {5, true, NEVER, 5, 4, 4, KREPLAY_REPLAYED, KREPLAY_REASON_NONE}, // never extended, last not asked
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_start(LIVE0);
        struct buffer data = rig_buffer(0, 10);
        asked = 0;
        stop_after = cases[i].stop_after;
        rig.pass_count = cases[i].count;
        rig.go_on = cases[i].ask ? go_on : NULL;
        struct rig_record *record = rig_dispatch(add_one, &data);
        bool replayed = cases[i].kind == KREPLAY_REPLAYED;
        assert_int_equal(record->outcome.kind, cases[i].kind);
        assert_int_equal(record->outcome.reason, cases[i].reason);
        assert_int_equal(record->outcome.requested_passes, cases[i].count);
        assert_int_equal(record->outcome.executed_passes, cases[i].executed);
        assert_int_equal(record->outcome.restores, cases[i].restores);
        assert_int_equal(asked, cases[i].asked);
        assert_int_equal(record->pass_count, replayed ? cases[i].executed : 0);
        assert_int_equal(rig.pass_enters, replayed ? cases[i].executed : 0);
        assert_int_equal(rig.enters, 1);
        assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_DRAIN_AGENT), replayed ? 1 : 0);
        assert_true(buffer_is(&data, 1));
        rig_stop();
    }
}

static int always(const kreplay_dispatch *dispatch, uint32_t current, uint32_t total,
                  union kreplay_user_data data)
{
    (void)dispatch;
    (void)current;
    (void)data;
    assert_int_equal(total, 0);
    return 1;
}

static void open_end_has_a_limit(void **state)
{
    (void)state;
    setenv("KREPLAY_OPEN_PASSES", "20", 1);
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    rig.pass_count = 0;
    rig.go_on = always;
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.executed_passes, 20);
    assert_true(buffer_is(&data, 1));
    rig_stop();
    unsetenv("KREPLAY_OPEN_PASSES");
}

// ---- User data
static uint64_t seen_enter[4], seen_exit[4], seen_continue[4], seen_config_exit;

static void data_config(kreplay_phase phase, kreplay_config *config)
{
    if (phase == KREPLAY_ENTER)
        config->user_data.value = 100;
    else
        seen_config_exit = config->user_data.value;
}

static void data_pass(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase == KREPLAY_EXIT) {
        seen_exit[pass->current_pass] = pass->user_data.value;
        return;
    }
    seen_enter[pass->current_pass] = pass->user_data.value;
    if (pass->current_pass == 1)
        pass->user_data.value = 777;
}

static int data_continue(const kreplay_dispatch *dispatch, uint32_t current, uint32_t total,
                         union kreplay_user_data data)
{
    assert_int_equal(dispatch->dispatch_id, 1);
    assert_int_equal(total, 3);
    seen_continue[current] = data.value;
    return 1;
}

static void user_data(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    rig.on_config = data_config;
    rig.on_pass = data_pass;
    rig.go_on = data_continue;
    memset(seen_continue, 0, sizeof seen_continue);
    rig_dispatch(add_one, &data);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen_enter[i], 100); // each pass starts over
    assert_int_equal(seen_exit[0], 100);
    assert_int_equal(seen_exit[1], 777);
    assert_int_equal(seen_exit[2], 100);
    assert_int_equal(seen_continue[0], 100);
    assert_int_equal(seen_continue[1], 777); // the pass's copy
    assert_int_equal(seen_continue[2], 0);   // not asked after the last
    assert_int_equal(seen_config_exit, 100);
    rig_stop();
}

static void values(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 11);
    rig.pass_count = 4;
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->pass_count, 4);
    for (uint32_t p = 0; p < 4; p++) {
        const kreplay_pass_record *pass = &record->passes[p];
        assert_int_equal(pass->pass, p);
        assert_true(pass->end_ns >= pass->start_ns && pass->start_ns > 0);
        assert_int_equal(pass->value_count, p % 2 ? 3 : 2);
        assert_int_equal(pass->values[0].value, p % 2 ? 5 : 1);
        assert_int_equal(pass->values[1].value, p % 2 ? 6 : 11);
        assert_int_equal(pass->values[1].instance, p % 2 ? 1 : 0);
    }
    rig.arm = false; // a pass with nothing armed is a pass all the same
    record = rig_dispatch(add_one, &data);
    assert_int_equal(record->pass_count, 4);
    assert_int_equal(record->passes[3].value_count, 0);
    rig_stop();
}

static void single_with_group(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    rig.pass_count = 1;
    rig.single = rig.groups[0];
    kr_fake_trace_start(rig.fake);
    struct rig_record *record = rig_dispatch(add_one, &data);
    rig_expect_trace("config drain_queue drain_agent begin submit end record /config complete");
    assert_int_equal(record->outcome.kind, KREPLAY_SINGLE);
    assert_int_equal(record->outcome.executed_passes, 1);
    assert_int_equal(record->pass_count, 1);
    assert_int_equal(record->passes[0].value_count, 2);
    assert_int_equal(record->passes[0].values[1].value, 10);
    assert_true(buffer_is(&data, 1));
    rig_stop();
}

static void filtered(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    rig.want = false;
    kr_fake_trace_start(rig.fake);
    struct rig_record *record = rig_dispatch(add_one, &data);
    rig_expect_trace("config drain_queue begin submit end record /config complete");
    assert_int_equal(record->outcome.kind, KREPLAY_FILTERED);
    assert_int_equal(record->pass_count, 0);
    assert_int_equal(record->outcome.executed_passes, 0);
    assert_true(record->start_ns > 0);
    assert_true(buffer_is(&data, 1));
    rig_stop();
}

static void no_tool(void **state)
{
    (void)state;
    struct kr_fake *fake = kr_fake_create(&(struct kr_fake_options){.flags = LIVE0});
    struct rig_window w = {0};
    rig = (struct rig){.fake = fake, .engine = kr_fake_engine(fake)};
    struct buffer data = rig_buffer(0, 10);
    assert_false(kr_engine_active(rig.engine));
    rig_add(&w, add_one, &data);
    rig_run(&w);
    rig_expect_done_once(&w);
    assert_true(buffer_is(&data, 1));
    kr_fake_destroy(fake);
}

// ---- Shapes of memory
static void nothing_to_capture(void **state)
{
    (void)state;
    rig_start(LIVE0);
    uint8_t host[16] = {0};
    struct buffer outside = {host, sizeof host}; // not in the inventory: every pass adds
    struct rig_record *record = rig_dispatch(add_one, &outside);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.captured_regions, 0);
    assert_int_equal(record->outcome.captured_bytes, 0);
    assert_int_equal(host[0], 3);
    rig_stop();
}

static void region_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,
                                   2,
                                   63,
                                   64,
                                   65,
                                   BLOCK - 1,
                                   BLOCK,
                                   BLOCK + 1,
                                   2 * BLOCK,
                                   2 * BLOCK - 1,
                                   2 * BLOCK + 1,
                                   5 * BLOCK + 17,
                                   300 * BLOCK};
    for (unsigned full = 0; full < 2; full++) {
        setenv("KREPLAY_RESTORE", full ? "full" : "changed", 1);
        rig_start(LIVE0);
        struct buffer data[sizeof sizes / sizeof sizes[0]];
        size_t count = sizeof sizes / sizeof sizes[0];
        for (size_t i = 0; i < count; i++)
            data[i] = rig_buffer(0, sizes[i]);
        for (size_t i = 0; i < count; i++) {
            struct rig_record *record = rig_dispatch(add_one, &data[i]);
            assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
            assert_true(record->outcome.deterministic);
            if (!full)
                assert_int_equal(record->outcome.write_set_bytes, sizes[i]);
            else
                assert_int_equal(record->outcome.write_set_bytes, record->outcome.captured_bytes);
            for (size_t k = 0; k < count; k++)
                assert_true(buffer_is(&data[k], k <= i));
        }
        rig_stop();
    }
    unsetenv("KREPLAY_RESTORE");
}

static void last_byte_of_a_short_block(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 3 * BLOCK + 5);
    struct buffer last = {data.at + 3 * BLOCK + 4, 1};
    struct rig_record *record = rig_dispatch(touch_first, &last);
    assert_int_equal(record->outcome.write_set_bytes, 5);
    assert_int_equal(last.at[0], 1);
    assert_int_equal(data.at[3 * BLOCK + 3], 0);
    rig_stop();
}

static void scatter(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *data = arg;
    for (size_t i = 0; i < data->bytes; i += 2 * BLOCK)
        data->at[i]++;
    exec->writes++;
}

static void many_scattered_blocks(void **state)
{
    (void)state;
    enum { RUNS = 700 }; // more than one batch of copies
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, RUNS * 2 * BLOCK);
    struct rig_record *record = NULL;
    for (int round = 0; round < 2; round++)
        record = rig_dispatch(scatter, &data);
    assert_int_equal(record->outcome.write_set_bytes, RUNS * BLOCK);
    for (size_t i = 0; i < RUNS * 2; i++)
        assert_int_equal(data.at[i * BLOCK], i % 2 ? 0 : 2);
    rig_stop();
}

// ---- Windows of many
static void double_it(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *data = arg;
    for (size_t i = 0; i < data->bytes; i++)
        data->at[i] = (uint8_t)(data->at[i] * 2);
    exec->work += 5;
}

static void three_operations(void **state)
{
    (void)state;
    for (unsigned mode = 0; mode < 2; mode++) {
        rig_start(mode ? LIVE0 : 0);
        struct buffer data = rig_buffer(0, 10);
        struct rig_window w = {0};
        rig.pass_count = 4;
        rig_add(&w, add_one, &data);
        rig_add(&w, double_it, &data);
        rig_add(&w, add_one, &data);
        w.ops[1].kind = KR_OP_FILL; // an operation without a dispatch in the middle
        rig_run(&w);
        rig_expect_done_once(&w);
        assert_true(buffer_is(&data, 3));
        assert_int_equal(rig.record_count, 2);
        assert_int_equal(rig.enters, 2);
        assert_int_equal(rig.pass_enters, 8);
        for (size_t i = 0; i < 2; i++) {
            struct rig_record *record = &rig.records[i];
            assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
            assert_int_equal(record->outcome.executed_passes, 4);
            assert_int_equal(record->pass_count, 4);
            assert_int_equal(record->window_id, rig.records[0].window_id);
            assert_int_equal(record->completions, 0);
            for (size_t p = 0; p < 4; p++)
                assert_int_equal(record->passes[p].values[0].value, p % 2 ? 5 : 1);
        }
        rig_stop();
    }
}

static void mixed_config(kreplay_phase phase, kreplay_config *config)
{
    if (phase == KREPLAY_EXIT)
        return;
    config->want = config->dispatch->kernel_id != 1;
    config->pass_count = config->dispatch->kernel_id == 2 ? 2 : 5;
}

static void wishes_differ_in_a_window(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    struct rig_window w = {0};
    rig.on_config = mixed_config;
    rig_add(&w, add_one, &data);
    rig_add(&w, double_it, &data);
    rig_add(&w, add_one, &data);
    rig_run(&w);
    rig_expect_done_once(&w);
    assert_true(buffer_is(&data, 3));
    assert_int_equal(rig.records[0].outcome.kind, KREPLAY_FILTERED);
    assert_int_equal(rig.records[0].pass_count, 0);
    assert_int_equal(rig.records[1].outcome.executed_passes, 2);
    assert_int_equal(rig.records[2].outcome.executed_passes, 5);
    assert_int_equal(rig.records[2].pass_count, 5);
    rig_stop();
}

// ---- Several GPUs
static void peers_are_captured(void **state)
{
    (void)state;
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 3});
    struct buffer own = rig_buffer(0, 50), theirs = rig_buffer(1, 5000), others = rig_buffer(2, 70);
    kr_engine_allow_access(rig.engine, 1, 0); // GPU 0 may write GPU 1's memory
    struct rig_record *record = rig_dispatch(add_one, &theirs);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.captured_regions, 2);
    assert_int_equal(record->outcome.captured_bytes, 5050);
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_DRAIN_AGENT), 2);
    assert_true(buffer_is(&theirs, 1));
    assert_true(buffer_is(&own, 0) && buffer_is(&others, 0));
    rig_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(second_window_allocates_nothing),
        cmocka_unit_test(program_launches_live),
        cmocka_unit_test(several_executions_a_pass),
        cmocka_unit_test(pass_counts),
        cmocka_unit_test(open_end_has_a_limit),
        cmocka_unit_test(user_data),
        cmocka_unit_test(values),
        cmocka_unit_test(single_with_group),
        cmocka_unit_test(filtered),
        cmocka_unit_test(no_tool),
        cmocka_unit_test(nothing_to_capture),
        cmocka_unit_test(region_sizes),
        cmocka_unit_test(last_byte_of_a_short_block),
        cmocka_unit_test(many_scattered_blocks),
        cmocka_unit_test(three_operations),
        cmocka_unit_test(wishes_differ_in_a_window),
        cmocka_unit_test(peers_are_captured),
    };
    return cmocka_run_group_tests_name("engine.window", tests, NULL, NULL);
}
