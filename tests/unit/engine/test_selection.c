// SPDX-License-Identifier: MIT
// The reference's test tables with their values: which passes collect (its per-pass selection), what is admitted,
// and what a restore brings back.
#include "rig.h"

#include <stdio.h>

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0
#define MIB   (UINT64_C(1) << 20)

static struct buffer data;

// ---- Which passes collect
static int stop_pass, start_pass; // -1 = never
static bool collecting;

static void choose(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != KREPLAY_ENTER)
        return;
    if ((int)pass->current_pass == stop_pass)
        collecting = false;
    if ((int)pass->current_pass == start_pass)
        collecting = true;
    pass->group = collecting ? rig.groups[0] : NULL;
}

static void selection_matrix(void **state)
{
    (void)state;
    static const struct {
        int stop, start;
        unsigned collected; // bits of passes
    } cases[] = {
        {-1, -1, 0xf}, // all passes
        {0, -1, 0x0},  // stopped from the start
        {1, -1, 0x1},  // stopped after pass 0
        {1, 2, 0xd},   // stopped, then started again: passes 0, 2, 3
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_start(LIVE0);
        data = rig_buffer(0, 67); // the reference's work-group has 67 items
        rig.pass_count = 4;
        rig.on_pass = choose;
        collecting = true;
        stop_pass = cases[i].stop;
        start_pass = cases[i].start;
        struct rig_record *record = rig_dispatch(add_one, &data);
        assert_int_equal(record->outcome.executed_passes, 4);
        assert_int_equal(record->pass_count, 4);
        for (unsigned pass = 0; pass < 4; pass++)
            assert_int_equal(record->passes[pass].value_count > 0, cases[i].collected >> pass & 1);
        assert_true(buffer_is(&data, 1)); // whatever is collected
        rig_stop();
    }
}

// ---- What is admitted
static kreplay_reason reason_for(uint32_t passes)
{
    rig.pass_count = passes;
    return rig_dispatch(touch_first, &data)->outcome.reason;
}

// `count` regions of `bytes` in all, at addresses where nothing is: they are only counted.
static void untracked(unsigned count, uint64_t bytes, bool vmem)
{
    for (unsigned i = 0; i < count; i++) {
        char *at = (char *)(uintptr_t)0x600000000000 + i * UINT64_C(0x100000000);
        uint64_t each = bytes / count + (i == 0 ? bytes % count : 0);
        assert_int_equal(vmem ? kr_inventory_add_vmem(rig.engine, 0, at, each)
                              : kr_inventory_add(rig.engine, 0, at, each, KR_MEMORY_UNTRACKED),
                         0);
    }
}

static void untracked_memory(void **state)
{
    (void)state;
    static const struct {
        unsigned regions;
        uint64_t bytes;
        bool vmem, leave;
        kreplay_reason reason;
    } cases[] = {
        {0, 0, false, false, KREPLAY_REASON_NONE},
        {1, 64 * MIB, true, false, KREPLAY_REASON_UNTRACKED_MEMORY},
        {1, 64 * MIB, true, true, KREPLAY_REASON_NONE},
        {3, 8 * MIB, false, false, KREPLAY_REASON_UNTRACKED_MEMORY}, // the reference admits it by default
        {3, 8 * MIB, false, true, KREPLAY_REASON_NONE},
        {1, 0, true, false, KREPLAY_REASON_UNTRACKED_MEMORY}, // regions are the evidence
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv("KREPLAY_DECLINE_UNTRACKED", cases[i].leave ? "0" : "1", 1);
        rig_start(LIVE0);
        data = rig_buffer(0, 100);
        untracked(cases[i].regions, cases[i].bytes, cases[i].vmem);
        assert_int_equal(reason_for(3), cases[i].reason);
        const kreplay_outcome *outcome = &rig_last()->outcome;
        assert_int_equal(outcome->untracked_regions, cases[i].regions);
        assert_int_equal(outcome->untracked_bytes, cases[i].bytes);
        assert_int_equal(outcome->untracked_vmem_regions, cases[i].vmem ? cases[i].regions : 0);
        rig_stop();
    }
    unsetenv("KREPLAY_DECLINE_UNTRACKED");
}

// The reference's 256, 64 and 512 MiB, at a sixteenth.
static void budget(void **state)
{
    (void)state;
    static const struct {
        uint64_t budget, footprint;
        kreplay_reason reason;
    } cases[] = {
        {16 * MIB, 4 * MIB, KREPLAY_REASON_NONE},
        {16 * MIB, 16 * MIB, KREPLAY_REASON_NONE}, // exactly is not over
        {16 * MIB, 16 * MIB + 1, KREPLAY_REASON_FOOTPRINT_BUDGET},
        {16 * MIB, 32 * MIB, KREPLAY_REASON_FOOTPRINT_BUDGET},
        {0, 32 * MIB, KREPLAY_REASON_NONE}, // no budget: as much as there is room for
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%llu", (unsigned long long)cases[i].budget);
        setenv("KREPLAY_BUDGET_BYTES", text, 1);
        rig_start(LIVE0);
        rig.go_on = NULL;
        data = rig_buffer(0, cases[i].footprint);
        static const uint32_t passes[] = {2, 3, 64}; // makes no difference
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(reason_for(passes[k]), cases[i].reason);
        rig_stop();
    }
    unsetenv("KREPLAY_BUDGET_BYTES");
}

static void nothing_is_captured(void **state)
{
    (void)state;
    static uint8_t plain[100];
    rig_start(LIVE0);
    data = (struct buffer){plain, sizeof plain}; // the program's own memory
    struct rig_record *record = rig_dispatch(touch_first, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_int_equal(record->outcome.captured_bytes, 0);
    assert_int_equal(plain[0], 3); // all passes accumulate in what nobody put back
    rig_stop();
}

// ---- What a restore brings back
enum { FLOATS = 1 << 18 };

struct saxpy {
    float *x, *y;
    uint32_t *variables[2]; // of a module: one starts at 7, one at 0
};

static void saxpy(void *arg, struct kr_fake_exec *exec)
{
    const struct saxpy *s = arg;
    for (size_t i = 0; i < FLOATS; i++)
        s->y[i] = 2.0f * s->x[i] + s->y[i];
    (*s->variables[0])++;
    (*s->variables[1])++;
    exec->work++;
}

static void in_place_over_five_passes(void **state)
{
    (void)state;
    static uint32_t seven, zero;
    rig_start(LIVE0);
    struct saxpy s = {.x = kr_fake_malloc(rig.fake, 0, FLOATS * sizeof(float)),
                      .y = kr_fake_malloc(rig.fake, 0, FLOATS * sizeof(float)),
                      .variables = {&seven, &zero}};
    struct buffer third = rig_buffer(0, 10);
    memset(third.at, 9, third.bytes);
    seven = 7;
    zero = 0;
    assert_int_equal(kr_fake_adopt(rig.fake, 0, &seven, sizeof seven, KR_MEMORY_MODULE), 0);
    assert_int_equal(kr_fake_adopt(rig.fake, 0, &zero, sizeof zero, KR_MEMORY_MODULE), 0);
    for (size_t i = 0; i < FLOATS; i++) {
        s.x[i] = (float)i;
        s.y[i] = 100.0f;
    }
    rig.pass_count = 5;
    struct rig_record *record = rig_dispatch(saxpy, &s);
    assert_int_equal(record->outcome.executed_passes, 5);
    assert_int_equal(record->outcome.restores, 4);
    assert_int_equal(record->outcome.captured_regions, 5);
    for (size_t i = 0; i < FLOATS; i++)
        assert_true(s.y[i] == 100.0f + 2.0f * (float)i);
    assert_int_equal(seven, 8);
    assert_int_equal(zero, 1);
    assert_true(buffer_is(&third, 9));
    rig_stop();
}

static void host_memory_is_not_captured(void **state)
{
    (void)state;
    static uint8_t host[100];
    rig_start(LIVE0);
    data = rig_buffer(0, 100);
    assert_int_equal(kr_fake_adopt(rig.fake, 0, host, sizeof host, KR_MEMORY_HOST), 0);
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.captured_bytes, 100);
    assert_int_equal(record->outcome.captured_regions, 1);
    assert_int_equal(record->outcome.untracked_regions, 0);
    rig_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_matrix),
        cmocka_unit_test(untracked_memory),
        cmocka_unit_test(budget),
        cmocka_unit_test(nothing_is_captured),
        cmocka_unit_test(in_place_over_five_passes),
        cmocka_unit_test(host_memory_is_not_captured),
    };
    return cmocka_run_group_tests_name("engine.selection", tests, NULL, NULL);
}
