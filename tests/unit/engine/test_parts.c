// SPDX-License-Identifier: MIT
// The engine's parts on their own: inventory, block runs, tables of bounds, switches and words, registration.
#include "rig.h"

#include "engine/internal.h"
#include "engine/writeset.h"

#include <pthread.h>
#include <unistd.h>

static void inventory(void **state)
{
    (void)state;
    static char memory[1000];
    enum kr_memory_kind kind;
    void *base;
    size_t bytes;
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    assert_int_equal(kr_inventory_add(rig.engine, 0, NULL, 10, KR_MEMORY_DEVICE), KREPLAY_INVALID);
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 500, 100, KR_MEMORY_HOST), 0);
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 100, 100, KR_MEMORY_DEVICE), 0);
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 300, 0, KR_MEMORY_UNTRACKED), 0);
    assert_false(kr_inventory_find(rig.engine, memory + 99, &kind, &base, &bytes));
    assert_true(kr_inventory_find(rig.engine, memory + 100, &kind, &base, &bytes));
    assert_true(kind == KR_MEMORY_DEVICE && base == memory + 100 && bytes == 100);
    assert_true(kr_inventory_find(rig.engine, memory + 199, &kind, NULL, NULL));
    assert_false(kr_inventory_find(rig.engine, memory + 200, &kind, NULL, NULL));
    assert_false(kr_inventory_find(rig.engine, memory + 300, &kind, NULL, NULL)); // nothing is in zero bytes
    assert_true(kr_inventory_find(rig.engine, memory + 550, &kind, NULL, NULL) && kind == KR_MEMORY_HOST);

    struct kr_inventory *list = &rig.engine->inventory;
    struct kr_footprint footprint = kr_inventory_footprint(list, 1);
    assert_int_equal(footprint.bytes, 100);
    assert_int_equal(footprint.regions, 1);
    assert_int_equal(footprint.untracked_regions, 1);
    assert_int_equal(kr_inventory_footprint(list, 2).regions, 0);

    // A variable inside a listed allocation is part of it; one beside it is a region of its own.
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 120, 8, KR_MEMORY_MODULE), 0);
    assert_int_equal(kr_inventory_footprint(list, 1).regions, 1);
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 700, 8, KR_MEMORY_MODULE), 0);
    assert_int_equal(kr_inventory_footprint(list, 1).bytes, 108);

    // A new allocation over old ones: those were freed unseen.
    uint64_t generation = list->entries[0].generation;
    assert_true(kr_inventory_lives(list, memory + 100, 100, generation));
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 50, 600, KR_MEMORY_DEVICE), 0);
    assert_false(kr_inventory_lives(list, memory + 100, 100, generation));
    assert_int_equal(list->count, 2);
    assert_int_equal(kr_inventory_footprint(list, 1).bytes, 608);
    generation = list->entries[0].generation;
    assert_int_equal(kr_inventory_add(rig.engine, 0, memory + 50, 600, KR_MEMORY_DEVICE), 0);
    assert_false(kr_inventory_lives(list, memory + 50, 600, generation)); // the same again is another one

    kr_inventory_remove(rig.engine, memory + 51); // unknown
    assert_int_equal(list->count, 2);
    kr_inventory_remove(rig.engine, memory + 50);
    kr_inventory_remove(rig.engine, memory + 700);
    assert_int_equal(list->count, 0);
    rig_stop();
}

static void inventory_in_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static char memory[COUNT * 4];
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    for (size_t i = 0; i < COUNT; i++) // 211 and 500 have no common divisor
        assert_int_equal(kr_inventory_add(rig.engine, 0, memory + i * 211 % COUNT * 4, 3, KR_MEMORY_DEVICE),
                         0);
    const struct kr_inventory *list = &rig.engine->inventory;
    assert_int_equal(list->count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(list->entries[i].base, memory + i * 4);
    for (size_t i = 0; i < COUNT; i += 2)
        kr_inventory_remove(rig.engine, memory + i * 4);
    for (size_t i = 0; i < COUNT; i++) {
        enum kr_memory_kind kind;
        assert_int_equal(kr_inventory_find(rig.engine, memory + i * 4 + 2, &kind, NULL, NULL), i % 2);
    }
    rig_stop();
}

static void block_runs(void **state)
{
    (void)state;
    struct kr_region regions[2] = {{.bytes = 35}, {.bytes = 20}};
    struct kr_shadow shadow = {.regions = regions, .region_count = 2};
    uint8_t map[6] = {1, 1, 0, 1, 1, 1}; // of 10 bytes: 4 blocks, the last short; 2 blocks
    static const struct {
        size_t region, offset, bytes, saved;
    } expected[] = {{0, 0, 20, 0}, {0, 30, 5, 64}, {1, 0, 20, 128}};
    struct kr_walk walk = {0};
    struct kr_span span;
    regions[1].first_block = 4;
    for (size_t i = 0; i < 3; i++) {
        assert_true(kr_span_next(&shadow, map, 10, &walk, &span));
        assert_ptr_equal(span.region, &regions[expected[i].region]);
        assert_int_equal(span.offset, expected[i].offset);
        assert_int_equal(span.bytes, expected[i].bytes);
        assert_int_equal(span.saved, expected[i].saved);
    }
    assert_false(kr_span_next(&shadow, map, 10, &walk, &span));
    assert_int_equal(walk.saved, 192);
    assert_int_equal(kr_blocks(0, 10), 0);
    assert_int_equal(kr_blocks(10, 10), 1);
    assert_int_equal(kr_blocks(11, 10), 2);
}

static unsigned complaints;
static void complain(void *arg, const char *variable, const char *value)
{
    (void)arg;
    (void)variable;
    (void)value;
    complaints++;
}

static void bounds(void **state)
{
    (void)state;
    struct kr_bounds now;
    complaints = 0;
    kr_bounds_read(&now, complain, NULL);
    assert_int_equal(now.queue_drain_ns, UINT64_C(60000000000));
    assert_int_equal(now.agent_drain_ns, UINT64_C(60000000000));
    assert_int_equal(now.block_bytes, 4096);
    assert_int_equal(now.budget_bytes, 0);
    static const char *const wrong[] = {
        "x", "-1", " 5", "5s", "99999999999999999999", "18446744073709551615"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("KREPLAY_LIVE_MS", wrong[i], 1); // the last overflows as nanoseconds
        kr_bounds_read(&now, complain, NULL);
        assert_int_equal(now.live_ns, UINT64_C(300000000000));
        assert_int_equal(complaints, i + 1);
    }
    setenv("KREPLAY_LIVE_MS", "7", 1);
    setenv("KREPLAY_BLOCK_BYTES", "0", 1); // no such grain
    kr_bounds_read(&now, complain, NULL);
    assert_int_equal(now.live_ns, 7000000);
    assert_int_equal(now.block_bytes, 4096);
    unsetenv("KREPLAY_LIVE_MS");
    unsetenv("KREPLAY_BLOCK_BYTES");
    for (size_t i = 0; i < kr_bound_count; i++) {
        assert_memory_equal(kr_bound_table[i].variable, "KREPLAY_", 8);
        assert_true(strlen(kr_bound_table[i].text) > 0);
    }
    assert_true(kr_bounds_host_half() > 0);
}

static void no_such_fault(void *arg, const char *name)
{
    assert_string_equal(name, "nonsense");
    ++*(unsigned *)arg;
}

static void faults(void **state)
{
    (void)state;
    unsigned unknown = 0;
    assert_int_equal(kr_fault_parse(NULL, no_such_fault, &unknown), 0);
    assert_int_equal(kr_fault_parse("", no_such_fault, &unknown), 0);
    assert_int_equal(kr_fault_parse("restore", no_such_fault, &unknown), 1u << KR_FAULT_restore);
    assert_int_equal(kr_fault_parse("gate,nonsense,,order,", no_such_fault, &unknown),
                     1u << KR_FAULT_gate | 1u << KR_FAULT_order);
    assert_int_equal(unknown, 1);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(kreplay_status_text(KREPLAY_TIMEOUT), "a bounded wait ran out");
    assert_string_equal(kreplay_status_text(-999), "unknown status");
    assert_string_equal(kreplay_reason_key(KREPLAY_REASON_PASS_STUCK), "pass_stuck");
    assert_non_null(kreplay_reason_text((kreplay_reason)999));
    for (int a = 0; a <= KREPLAY_REASON_NOT_SELECTED; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(kreplay_reason_key((kreplay_reason)a),
                                    kreplay_reason_key((kreplay_reason)b));
}

// ---- Registration
static unsigned agents_seen, finis, messages;
static void on_agent(void *tool, const kreplay_agent *agent)
{
    assert_ptr_equal(tool, &agents_seen);
    assert_int_equal(agent->agent_id, agents_seen++);
    assert_string_equal(agent->name, "fake");
    assert_string_equal(agent->product, "fake GPU");
}
static void on_fini(void *tool)
{
    assert_ptr_equal(tool, &agents_seen);
    finis++;
}
static void on_message(void *tool, const char *text)
{
    (void)tool;
    assert_string_equal(text, "hello 5");
    messages++;
}

static void registration(void **state)
{
    (void)state;
    const kreplay_tool tool = {.size = sizeof tool,
                               .name = "t",
                               .tool = &agents_seen,
                               .agent = on_agent,
                               .message = on_message,
                               .fini = on_fini};
    kreplay_tool short_one = tool;
    const struct kr_fake_options options = {.agents = 2, .flags = KR_BACKEND_LIVE_IS_PASS0};
    agents_seen = finis = messages = 0;
    assert_int_equal(kreplay_register(NULL), KREPLAY_INVALID);
    short_one.size = 1;
    assert_int_equal(kreplay_register(&short_one), KREPLAY_INVALID);

    // Before there is an engine, as a preloaded tool would.
    assert_int_equal(kreplay_register(&tool), 0);
    assert_int_equal(kreplay_register(&tool), KREPLAY_ALREADY_REGISTERED);
    struct kr_fake *fake = kr_fake_create(&options);
    assert_int_equal(agents_seen, 2);
    assert_true(kr_engine_active(kr_fake_engine(fake)));
    kr_engine_message(kr_fake_engine(fake), "hello %d", 5);
    assert_int_equal(messages, 1);
    kr_fake_destroy(fake);
    assert_int_equal(finis, 1);

    // After the agents are known; an older tool has fewer callbacks.
    fake = kr_fake_create(&options);
    agents_seen = 0;
    short_one.size = offsetof(kreplay_tool, fini);
    assert_int_equal(kreplay_register(&short_one), 0);
    assert_int_equal(agents_seen, 2);
    kr_fake_destroy(fake);
    assert_int_equal(finis, 1);

    // After the first window.
    fake = kr_fake_create(&options);
    rig = (struct rig){.fake = fake, .engine = kr_fake_engine(fake)};
    struct rig_window w = {0};
    uint8_t byte = 0;
    struct buffer buffer = {&byte, 1};
    rig_add(&w, add_one, &buffer);
    rig_run(&w);
    assert_int_equal(kreplay_register(&tool), KREPLAY_LOCKED);
    kr_fake_destroy(fake);
}

static pthread_t speaker;
static _Atomic bool speaking;
static _Atomic unsigned said_late;

static void *speak(void *engine)
{
    speaking = true;
    kr_engine_message(engine, "hello %d", 5);
    return NULL;
}

static void on_fini_speak(void *tool)
{
    assert_int_equal(pthread_create(&speaker, NULL, speak, tool), 0);
    while (!speaking)
        usleep(100);
    usleep(20000); // it is on its way
}

static void on_late_message(void *tool, const char *text)
{
    (void)tool, (void)text;
    said_late++;
}

static void nothing_comes_while_the_tool_ends(void **state)
{
    (void)state;
    struct kr_fake *fake = kr_fake_create(&(struct kr_fake_options){.agents = 1});
    const kreplay_tool tool = {.size = sizeof tool,
                               .name = "t",
                               .tool = kr_fake_engine(fake),
                               .message = on_late_message,
                               .fini = on_fini_speak};
    assert_int_equal(kreplay_register(&tool), 0);
    kr_engine_end_tool(kr_fake_engine(fake));
    assert_int_equal(pthread_join(speaker, NULL), 0);
    assert_int_equal(said_late, 0);
    kr_fake_destroy(fake);
}

static int visit(void *arg, const kreplay_counter *counter)
{
    ++*(unsigned *)arg;
    return strcmp(counter->name, "FAKE_WRITES") == 0 ? 77 : 0;
}

static void counters_and_groups(void **state)
{
    (void)state;
    static const char *const good[] = {"FAKE_RUNS", "FAKE_WRITES"}, *const bad[] = {"FAKE_RUNS", "NOPE"};
    static const char *const many[] = {"FAKE_RUNS", "FAKE_READS", "FAKE_WRITES"};
    char error[100];
    kreplay_group *group = NULL;
    unsigned visited = 0;
    assert_int_equal(kreplay_counters(0, visit, &visited), KREPLAY_INVALID); // no engine
    assert_int_equal(kreplay_group_create(0, good, 2, &group, error, sizeof error), KREPLAY_INVALID);
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    assert_int_equal(kreplay_counters(0, visit, &visited), 77);
    assert_int_equal(visited, 3);
    assert_int_equal(kreplay_counters(1, visit, &visited), KREPLAY_INVALID);
    assert_int_equal(kreplay_group_create(0, good, 2, &group, error, sizeof error), 0);
    assert_int_equal(group->value_capacity, 3);
    kreplay_group_destroy(group);
    kreplay_group_destroy(NULL);
    assert_int_equal(kreplay_group_create(0, bad, 2, &group, error, sizeof error), KREPLAY_UNKNOWN_COUNTER);
    assert_string_equal(error, "no counter \"NOPE\"");
    assert_null(group);
    assert_int_equal(kreplay_group_create(0, many, 3, &group, NULL, 0), KREPLAY_NO_SLOT);
    assert_int_equal(kreplay_group_create(0, good, 2, NULL, NULL, 0), KREPLAY_INVALID);
    rig_stop();
}

static void ids(void **state)
{
    (void)state;
    rig_start(KR_BACKEND_LIVE_IS_PASS0);
    for (int which = 0; which < KR_ID_COUNT; which++) {
        assert_int_equal(kr_engine_new_id(rig.engine, (enum kr_id)which), 1);
        assert_int_equal(kr_engine_new_id(rig.engine, (enum kr_id)which), 2);
    }
    kreplay_agent info = {.size = sizeof info, .agent_id = 5};
    assert_int_equal(kr_engine_add_agent(rig.engine, &info), KREPLAY_INVALID); // out of order
    rig_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inventory),
        cmocka_unit_test(inventory_in_order),
        cmocka_unit_test(block_runs),
        cmocka_unit_test(bounds),
        cmocka_unit_test(faults),
        cmocka_unit_test(words),
        cmocka_unit_test(nothing_comes_while_the_tool_ends),
        cmocka_unit_test(registration),
        cmocka_unit_test(counters_and_groups),
        cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests_name("engine.parts", tests, NULL, NULL);
}
