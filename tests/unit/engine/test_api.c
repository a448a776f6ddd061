// SPDX-License-Identifier: MIT
// What the public API promises tool authors beyond a single tool's counters: how far passes go, two tools side
// by side, steps, and what can be enumerated.
#include "rig.h"

#include "engine/builtin.h"

#include <stdio.h>

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0

static struct buffer data;

static void start(void)
{
    rig_start(LIVE0);
    data = rig_buffer(0, 2 * BLOCK + 3);
}

// ---- How many passes
static unsigned asked, asked_first; // questions; the pass of the first one

static int answer(uint32_t pass, int go_on)
{
    if (asked++ == 0)
        asked_first = pass;
    return go_on;
}

static int no(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total, union kreplay_user_data mine)
{
    (void)dispatch, (void)total, (void)mine;
    return answer(pass, 0);
}

static int yes(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total, union kreplay_user_data mine)
{
    (void)dispatch, (void)total, (void)mine;
    return answer(pass, 1);
}

static uint32_t least;
static void set_least(kreplay_phase phase, kreplay_config *config)
{
    if (phase == KREPLAY_ENTER)
        config->min_passes = least;
}

static void minimum(void **state)
{
    (void)state;
    static const struct {
        uint32_t count, least;
        uint32_t executed;
        unsigned asked, first;
    } cases[] = {
        {5, 0, 1, 1, 0}, {5, 1, 1, 1, 0}, {5, 2, 2, 1, 1},
        {5, 4, 4, 1, 3}, {5, 5, 5, 0, 0}, {5, 9, 5, 0, 0}, // never beyond the maximum
        {0, 0, 1, 1, 0}, {0, 4, 4, 1, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start();
        asked = asked_first = 0;
        least = cases[i].least;
        rig.pass_count = cases[i].count;
        rig.go_on = no;
        rig.on_config = set_least;
        assert_int_equal(rig_dispatch(add_one, &data)->outcome.executed_passes, cases[i].executed);
        assert_int_equal(asked, cases[i].asked);
        assert_int_equal(asked_first, cases[i].first);
        assert_true(buffer_is(&data, 1));
        rig_stop();
    }
}

static kreplay_continue_fn instead; // of CONFIG's, at EXIT of pass `instead_at`
static kreplay_phase instead_in;
static uint32_t instead_at;
static void replace(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase == KREPLAY_ENTER) // each pass starts again from CONFIG's
        assert_true(pass->continue_fn == rig.go_on);
    assert_int_equal(pass->record != NULL, phase == KREPLAY_EXIT);
    if (pass->record) {
        assert_int_equal(pass->record->pass, pass->current_pass);
        assert_int_equal(pass->record->value_count, pass->current_pass % 2 ? 3 : 2); // the group's
    }
    if (phase == instead_in && pass->current_pass == instead_at)
        pass->continue_fn = instead;
}

static void override_for_one_pass(void **state)
{
    (void)state;
    static const struct {
        uint32_t count;
        kreplay_continue_fn config, instead;
        uint32_t at, executed;
    } cases[] = {
        {6, no, yes, 0, 2},   // pass 0 goes on, pass 1 asks CONFIG's again
        {6, yes, no, 2, 3},   // ends early
        {6, NULL, no, 3, 4},  // a question where there was none
        {6, no, NULL, 0, 2},  // no question: goes on
        {6, yes, no, 5, 6},   // after the last pass nobody is asked
        {0, yes, no, 4, 5},   // open end
        {0, yes, NULL, 3, 4}, // nobody to ask: ends
    };
    for (int phase = KREPLAY_ENTER; phase <= KREPLAY_EXIT; phase++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            start();
            instead = cases[i].instead;
            instead_at = cases[i].at;
            instead_in = (kreplay_phase)phase;
            rig.pass_count = cases[i].count;
            rig.go_on = cases[i].config;
            rig.on_pass = replace;
            assert_int_equal(rig_dispatch(add_one, &data)->outcome.executed_passes, cases[i].executed);
            assert_true(buffer_is(&data, 1));
            rig_stop();
        }
}

// ---- Two tools
static uint64_t
    own_data[4]; // what the first tool sees: PASS ENTER of pass 1, its EXIT, CONFIG EXIT, continue
static unsigned own_records;
static kreplay_outcome_kind own_kind;

static int own_continue(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total,
                        union kreplay_user_data mine)
{
    (void)dispatch, (void)total;
    own_data[3] = mine.value;
    return answer(pass, 1);
}

static void own_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    kr_fake_trace(rig.fake, phase == KREPLAY_ENTER ? "own" : "/own");
    if (phase == KREPLAY_EXIT) {
        own_data[2] = config->user_data.value;
        return;
    }
    config->want = true;
    config->pass_count = 3;
    config->user_data.value = 5;
    config->continue_fn = own_continue;
}

static void own_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    kr_fake_trace(rig.fake, phase == KREPLAY_ENTER ? "own_pass" : "/own_pass");
    if (pass->current_pass != 1)
        return;
    own_data[phase] = pass->user_data.value;
    if (phase == KREPLAY_ENTER)
        pass->user_data.value = 6;
    pass->group = rig.groups[0];
}

static void own_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    (void)tool;
    own_records++;
    own_kind = record->outcome->kind;
    kr_fake_trace(rig.fake, "own_record");
}

static void users_config(kreplay_phase phase, kreplay_config *config)
{
    assert_int_equal(config->user_data.value, phase == KREPLAY_ENTER ? 0 : 100);
    config->user_data.value = 100;
}

static uint32_t planned; // what the user's tool saw of the other's plan
static void look_and_opt_out(kreplay_phase phase, kreplay_config *config)
{
    if (phase == KREPLAY_ENTER)
        config->want = false;
}

static void look_and_leave_it(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    kr_fake_trace(rig.fake, phase == KREPLAY_ENTER ? "config" : "/config");
    if (phase == KREPLAY_ENTER)
        planned = config->pass_count;
    users_config(phase, config);
}

static void two_tools(void **state)
{
    (void)state;
    const kreplay_tool own = {
        .size = sizeof own, .name = "own", .config = own_config, .pass = own_pass, .dispatch = own_dispatch};
    kreplay_tool user = {.size = sizeof user, .name = "user", .config = look_and_leave_it};
    const struct kr_fake_options options = {.flags = LIVE0};

    rig = (struct rig){.fake = kr_fake_create(&options)};
    rig.engine = kr_fake_engine(rig.fake);
    assert_int_equal(kreplay_register(&user), 0);
    assert_int_equal(kr_engine_register_builtin(&own), 0);
    assert_int_equal(kr_engine_register_builtin(&own), KREPLAY_ALREADY_REGISTERED);
    assert_int_equal(kreplay_register(&user), KREPLAY_ALREADY_REGISTERED);
    data = rig_buffer(0, 10);
    asked = own_records = 0;

    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    kr_fake_trace_start(rig.fake);
    rig_run(&w);
    assert_int_equal(planned, 3);
    assert_int_equal(own_records, 1);
    assert_int_equal(own_kind, KREPLAY_REPLAYED);
    assert_int_equal(asked, 2);
    assert_int_equal(own_data[KREPLAY_ENTER], 5); // not the other's 100
    assert_int_equal(own_data[KREPLAY_EXIT], 6);
    assert_int_equal(own_data[2], 5);
    assert_int_equal(own_data[3], 6); // of the tool that set the callback
    char *text = kr_fake_trace_text(rig.fake);
    assert_int_equal(strncmp(text, "own config ", 11), 0);
    const char *tail = "own_record /config /own complete";
    assert_string_equal(text + strlen(text) - strlen(tail), tail);
    free(text);
    kr_fake_destroy(rig.fake);

    // The user's tool has the last word, and the other one is told what came of it.
    rig = (struct rig){0};
    rig_start(LIVE0);
    assert_int_equal(kr_engine_register_builtin(&own), 0);
    data = rig_buffer(0, 10);
    rig.on_config = look_and_opt_out;
    own_records = 0;
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_FILTERED);
    assert_int_equal(own_records, 1);
    assert_int_equal(own_kind, KREPLAY_FILTERED);
    rig_end();
}

// ---- Filters
static bool own_wants, user_wants;

static bool own_filter(void *tool, const kreplay_dispatch *dispatch, bool wanted,
                       union kreplay_user_data *mine)
{
    (void)tool, (void)dispatch;
    kr_fake_trace(rig.fake, "own_filter");
    assert_false(wanted); // first of all
    assert_int_equal(mine->value, 0);
    mine->value = 7;
    return own_wants;
}

static bool users_filter(void *tool, const kreplay_dispatch *dispatch, bool wanted,
                         union kreplay_user_data *mine)
{
    (void)tool, (void)dispatch;
    kr_fake_trace(rig.fake, "filter");
    assert_int_equal(wanted, own_wants);
    assert_int_equal(mine->value, 0); // each has its own
    mine->value = 8;
    return user_wants;
}

static void want_filtered(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)phase;
    kr_fake_trace(rig.fake, "config");
    assert_int_equal(config->user_data.value, *(uint64_t *)tool);
    config->want = true;
}

static void leave_filtered(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)phase;
    kr_fake_trace(rig.fake, "own");
    assert_int_equal(config->user_data.value, *(uint64_t *)tool);
}

static void filters_come_first(void **state)
{
    (void)state;
    static uint64_t seven = 7, eight = 8;
    static const struct {
        bool own, user;
        const char *trace;
        kreplay_outcome_kind kind;
    } cases[] = {
        {true, true, "own_filter filter own config", KREPLAY_SINGLE},
        {false, true, "own_filter filter own config", KREPLAY_SINGLE},
        {true, false, "own_filter filter", KREPLAY_FILTERED},
        {false, false, "own_filter filter", KREPLAY_FILTERED},
    };
    const kreplay_tool own = {.size = sizeof own,
                              .name = "own",
                              .tool = &seven,
                              .config = leave_filtered,
                              .filter = own_filter,
                              .dispatch = own_dispatch};
    const kreplay_tool user = {
        .size = sizeof user, .name = "user", .tool = &eight, .config = want_filtered, .filter = users_filter};
    const struct kr_fake_options options = {.flags = LIVE0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig = (struct rig){.fake = kr_fake_create(&options)};
        rig.engine = kr_fake_engine(rig.fake);
        assert_int_equal(kreplay_register(&user), 0);
        assert_int_equal(kr_engine_register_builtin(&own), 0);
        data = rig_buffer(0, 10);
        own_wants = cases[i].own;
        user_wants = cases[i].user;
        own_records = 0;
        struct rig_window w = {0};
        rig_add(&w, add_one, &data);
        kr_fake_trace_start(rig.fake);
        rig_run(&w);
        char *text = kr_fake_trace_text(rig.fake);
        assert_int_equal(strncmp(text, cases[i].trace, strlen(cases[i].trace)), 0);
        assert_int_equal(strstr(text, "config") != NULL, cases[i].user); // else nobody is asked
        free(text);
        assert_int_equal(own_records, 1);
        assert_int_equal(own_kind, cases[i].kind);
        kr_fake_destroy(rig.fake);
    }
    rig = (struct rig){0};
}

// ---- Steps
enum { MOST_STEPS = 16 };
static kreplay_step steps[MOST_STEPS];
static unsigned step_count;
static kreplay_step_kind open_step;

static void on_step(void *tool, kreplay_phase phase, const kreplay_step *step)
{
    (void)tool;
    assert_int_equal(step->size, sizeof *step);
    assert_int_equal(step->dispatch->dispatch_id, 1);
    assert_int_equal(step->window_id, 1);
    if (phase == KREPLAY_ENTER) {
        assert_int_equal(step->duration_ns, 0);
        assert_int_equal(step->compared_bytes + step->moved_bytes, 0);
        open_step = step->kind;
        return;
    }
    assert_int_equal(step->kind, open_step);
    assert_true(step_count < MOST_STEPS);
    steps[step_count++] = *step;
}

static void with_steps(void)
{
    const kreplay_tool own = {.size = sizeof own, .name = "own", .step = on_step};
    start();
    assert_int_equal(kr_engine_register_builtin(&own), 0);
    step_count = 0;
}

static void step_events(void **state)
{
    (void)state;
    const struct {
        kreplay_step_kind kind;
        uint32_t pass;
        uint64_t compared, moved;
    } expected[] = {
        {KREPLAY_STEP_SNAPSHOT, 0, 0, 2 * BLOCK + 3}, {KREPLAY_STEP_COMPARE, 0, 2 * BLOCK + 3, BLOCK},
        {KREPLAY_STEP_RESTORE, 1, 0, BLOCK},          {KREPLAY_STEP_RESTORE, 2, 0, BLOCK},
        {KREPLAY_STEP_FINISH, 0, 2 * BLOCK + 3, 0},
    };
    with_steps();
    const kreplay_outcome outcome = rig_dispatch(touch_first, &data)->outcome;
    uint64_t spent[KREPLAY_STEP_FINISH + 1] = {0}, compared = 0, restored = 0;
    assert_int_equal(step_count, sizeof expected / sizeof expected[0]);
    for (unsigned i = 0; i < step_count; i++) {
        assert_int_equal(steps[i].kind, expected[i].kind);
        assert_int_equal(steps[i].pass, expected[i].pass);
        assert_int_equal(steps[i].compared_bytes, expected[i].compared);
        assert_int_equal(steps[i].moved_bytes, expected[i].moved);
        assert_int_equal(steps[i].reason, KREPLAY_REASON_NONE);
        spent[steps[i].kind] += steps[i].duration_ns;
        compared += steps[i].compared_bytes;
        restored += steps[i].kind == KREPLAY_STEP_RESTORE ? steps[i].moved_bytes : 0;
    }
    // The same figures as in the record.
    assert_int_equal(spent[KREPLAY_STEP_SNAPSHOT], outcome.snapshot_ns);
    assert_int_equal(spent[KREPLAY_STEP_COMPARE], outcome.compare_ns);
    assert_int_equal(spent[KREPLAY_STEP_RESTORE], outcome.restore_ns);
    assert_int_equal(spent[KREPLAY_STEP_FINISH], outcome.finish_ns);
    assert_int_equal(compared, outcome.compared_bytes);
    assert_int_equal(restored, outcome.restored_bytes);
    rig_stop();
}

static void steps_that_fail(void **state)
{
    (void)state;
    with_steps();
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 1, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_DEVICE);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.reason, KREPLAY_REASON_SNAPSHOT_FAILED);
    assert_int_equal(step_count, 1);
    assert_int_equal(steps[0].reason, KREPLAY_REASON_SNAPSHOT_FAILED);
    rig_stop();

    with_steps(); // saving the live result
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 2, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_DEVICE);
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.reason, KREPLAY_REASON_SNAPSHOT_FAILED);
    assert_int_equal(step_count, 2);
    assert_int_equal(steps[1].kind, KREPLAY_STEP_COMPARE);
    assert_int_equal(steps[1].reason, KREPLAY_REASON_SNAPSHOT_FAILED);
    rig_stop();

    with_steps(); // nothing is done with memory
    rig.pass_count = 1;
    rig_dispatch(add_one, &data);
    assert_int_equal(step_count, 0);
    rig_stop();
}

// ---- What is known
static unsigned seen_agents, seen_objects, seen_kernels;

static int visit_agent(void *arg, const kreplay_agent *agent)
{
    assert_int_equal(agent->agent_id, seen_agents++);
    return agent->agent_id == 1 ? *(int *)arg : 0;
}

static int visit_object(void *arg, const kreplay_code_object *object)
{
    (void)arg;
    assert_int_equal(object->code_object_id, ++seen_objects);
    assert_string_equal(object->uri, "memory://1");
    return 0;
}

static int visit_kernel(void *arg, const kreplay_kernel *kernel)
{
    char name[16];
    snprintf(name, sizeof name, "kernel_%u", ++seen_kernels);
    assert_string_equal(kernel->name, name);
    assert_int_equal(kernel->size, sizeof *kernel);
    assert_int_equal(kernel->sgprs, 0); // the older caller below did not say
    return *(int *)arg == (int)seen_kernels ? 55 : 0;
}

static void on_agent(void *tool, const kreplay_agent *agent)
{
    visit_agent(tool, agent);
}
static void on_object(void *tool, const kreplay_code_object *object)
{
    visit_object(tool, object);
}
static void on_kernel(void *tool, const kreplay_kernel *kernel)
{
    visit_kernel(tool, kernel);
}

static void enumeration(void **state)
{
    (void)state;
    int arg = 0;
    assert_int_equal(kreplay_agents(visit_agent, &arg), KREPLAY_INVALID); // no engine
    assert_int_equal(kreplay_kernels(visit_kernel, &arg), KREPLAY_INVALID);
    assert_int_equal(kreplay_code_objects(visit_object, &arg), KREPLAY_INVALID);
    struct kr_fake *fake = kr_fake_create(&(struct kr_fake_options){.flags = LIVE0, .agents = 3});
    struct kr_engine *engine = kr_fake_engine(fake);
    assert_int_equal(kreplay_agents(NULL, NULL), KREPLAY_INVALID);
    assert_int_equal(kreplay_kernels(visit_kernel, &arg), 0);
    assert_int_equal(seen_kernels, 0);

    char text[16] = "memory://1";
    kr_engine_code_object(engine, &(kreplay_code_object){
                                      .size = sizeof(kreplay_code_object), .code_object_id = 1, .uri = text});
    for (unsigned i = 1; i <= 40; i++) {
        snprintf(text, sizeof text, "kernel_%u", i);
        kr_engine_kernel(
            engine, &(kreplay_kernel){
                        .size = offsetof(kreplay_kernel, sgprs), .kernel_id = i, .name = text, .sgprs = 99});
    }
    arg = 77;
    assert_int_equal(kreplay_agents(visit_agent, &arg), 77);
    assert_int_equal(seen_agents, 2);
    assert_int_equal(kreplay_code_objects(visit_object, &arg), 0);
    assert_int_equal(seen_objects, 1);
    arg = 30;
    assert_int_equal(kreplay_kernels(visit_kernel, &arg), 55);
    assert_int_equal(seen_kernels, 30);

    // Who comes late is told all of it.
    seen_agents = seen_objects = seen_kernels = 0;
    arg = 0;
    const kreplay_tool tool = {.size = sizeof tool,
                               .name = "late",
                               .tool = &arg,
                               .agent = on_agent,
                               .code_object = on_object,
                               .kernel = on_kernel};
    assert_int_equal(kreplay_register(&tool), 0);
    assert_int_equal(seen_agents, 3);
    assert_int_equal(seen_objects, 1);
    assert_int_equal(seen_kernels, 40);
    kr_fake_destroy(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum),     cmocka_unit_test(override_for_one_pass),
        cmocka_unit_test(two_tools),   cmocka_unit_test(filters_come_first),
        cmocka_unit_test(step_events), cmocka_unit_test(steps_that_fail),
        cmocka_unit_test(enumeration),
    };
    return cmocka_run_group_tests_name("engine.api", tests, NULL, NULL);
}
