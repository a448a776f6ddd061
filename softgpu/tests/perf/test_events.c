// SPDX-License-Identifier: MIT
// The list of events: what is shipped names the same, exact events count what was executed, and those that need the model
// count only what was watched.
#include "cmocka_all.h"

#include "softgpu/perf/events.h"
#include "softgpu/perf/perf.h"

#include <stdio.h>
#include <string.h>

// Each field another number, so that no event can pass with its neighbour's.
static const struct sg_counts sample = {
    .waves = 3,
    .workgroups = 2,
    .valu = 100,
    .salu = 50,
    .smem = 6,
    .lds = 10,
    .gds = 1,
    .vmem_rd = 8,
    .vmem_wr = 5,
    .flat = 9,
    .branch = 7,
    .sendmsg = 4,
    .other_sopp = 11,
    .lanes_valu = 6000,
    .flat_lds = 13,
};

static const struct sg_detail detail = {
    .cu[4] = {.items = 150,
              .wave_cycles = 4000,
              .wait_data = 1200,
              .busy = 603,
              .valu = {[SG_VALU_FMA_F32] = 21, [SG_VALU_MFMA_F16] = 2, [SG_VALU_MFMA_I8] = 3},
              .mfma_ops = {[SG_VALU_MFMA_F16] = 32768},
              .issue = {[SG_PORT_VALU] = 400, [SG_PORT_SALU] = 200, [SG_PORT_SMEM] = 24, [SG_PORT_NONE] = 44},
              .dcache_req = 20,
              .dcache_hits = 15,
              .td = {1, 2, 3, 4},
              .tcp_accesses = {5, 6, 7, 8}},
    .channel[5] = {.requests = 31, .writebacks = 2, .writebacks_at_end = 9},
    .active = 1603,
    .cp_busy = 1010,
};

// rocprofiler-sdk counter_defs.yaml, architecture gfx90a: names, blocks and numbers copied from there.
static const struct expected {
    const char *name, *block;
    unsigned event, number; // of the instance
    uint64_t value;
} expected[] = {
    {"SQ_WAVES", "SQ", 4, 4, 3},
    {"SQ_INSTS", "SQ", 25, 4, 202},
    {"SQ_INSTS_VALU", "SQ", 26, 4, 100},
    {"SQ_INSTS_VMEM_WR", "SQ", 53, 4, 5},
    {"SQ_INSTS_VMEM_RD", "SQ", 54, 4, 8},
    {"SQ_INSTS_VMEM", "SQ", 55, 4, 13},
    {"SQ_INSTS_SALU", "SQ", 56, 4, 50},
    {"SQ_INSTS_SMEM", "SQ", 57, 4, 6},
    {"SQ_INSTS_FLAT", "SQ", 58, 4, 9},
    {"SQ_INSTS_FLAT_LDS_ONLY", "SQ", 59, 4, 13},
    {"SQ_INSTS_LDS", "SQ", 60, 4, 23},
    {"SQ_INSTS_GDS", "SQ", 61, 4, 1},
    {"SQ_INSTS_BRANCH", "SQ", 64, 4, 7},
    {"SQ_INSTS_SENDMSG", "SQ", 65, 4, 4},
    {"SPI_CSN_NUM_THREADGROUPS", "SPI", 49, 4, 2},
    {"SQ_ITEMS", "SQ", 14, 4, 150},
    {"SQ_BUSY_CYCLES", "SQ", 3, 4, 603},
    {"SQ_WAVE_CYCLES", "SQ", 74, 4, 1000},
    {"SQ_WAIT_ANY", "SQ", 85, 4, 300},
    {"SQ_INSTS_VALU_FMA_F32", "SQ", 33, 4, 21},
    {"SQ_INSTS_MFMA", "SQ", 52, 4, 5},
    {"SQ_INSTS_VALU_MFMA_MOPS_F16", "SQ", 48, 4, 64},
    {"SQ_ACTIVE_INST_ANY", "SQ", 96, 4, 167},
    {"SQ_ACTIVE_INST_SCA", "SQ", 100, 4, 56},
    {"SQC_DCACHE_MISSES", "SQ", 292, 4, 5},
    {"SQ_CYCLES", "SQ", 2, 4, 1803},
    {"TA_TOTAL_WAVEFRONTS", "TA", 32, 4, 10},
    {"TCP_TOTAL_ACCESSES", "TCP", 29, 4, 26},
    {"TCP_TOTAL_ATOMIC_WITH_RET", "TCP", 38, 4, 8},
    {"TCC_REQ", "TCC", 3, 5, 31},
    {"TCC_WRITEBACK", "TCC", 22, 5, 11},
    {"TCA_BUSY", "TCA", 2, 5, 31},
    {"GRBM_COUNT", "GRBM", 0, 0, 1803},
    {"GRBM_GUI_ACTIVE", "GRBM", 2, 0, 1603},
    {"CPC_CPC_STAT_BUSY", "CPC", 25, 0, 1210},
    {"CPF_CPF_STAT_IDLE", "CPF", 24, 0, 593},
};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static void test_catalogue_equals_the_table(void **state)
{
    FILE *file = fopen(COUNTERS_TSV, "r");
    char line[256], name[64], block[16];
    unsigned event;
    size_t rows = 0;

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%63[^\t]\t%15[^\t]\t%u\n", name, block, &event), 3);
        assert_true(rows < sg_perf_event_count);
        assert_string_equal(name, sg_perf_events[rows].name);
        assert_string_equal(block, sg_perf_blocks[sg_perf_events[rows].block].name);
        assert_int_equal(event, sg_perf_events[rows].event);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, sg_perf_event_count);
}

static void test_find_knows_block_and_number(void **state)
{
    (void)state;
    assert_string_equal(sg_perf_event_find(SG_BLOCK_SQ, 4)->name, "SQ_WAVES");
    assert_null(sg_perf_event_find(SG_BLOCK_GRBM, 4));
    assert_null(sg_perf_event_find(SG_BLOCK_SQ, 0));
}

static const struct sg_perf_event *find_by_name(const char *name)
{
    for (size_t i = 0; i < sg_perf_event_count; i++) {
        if (strcmp(sg_perf_events[i].name, name) == 0)
            return &sg_perf_events[i];
    }
    fail_msg("%s is not modelled", name);
    return NULL;
}

// Counts one dispatch with work on engine 4 only and reads one instance.
static uint64_t count(const struct sg_perf_event *event, uint32_t number, const struct sg_detail *watched)
{
    const struct sg_counts counts[SG_SHADER_ENGINES] = {[4] = sample};
    const struct sg_perf_block *block = &sg_perf_blocks[event->block];
    struct sg_perf *perf = sg_perf_create();
    uint64_t value;

    assert_non_null(perf);
    sg_perf_write(perf, SG_REG_SQ_PERFCOUNTER_CTRL, SG_SQ_CTRL_ALL);
    sg_perf_write(perf, block->select[1], block->select_bits | event->event);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    sg_perf_dispatch(perf, counts, watched, true);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP | SG_PERFMON_SAMPLE);
    sg_perf_write(perf, SG_REG_GRBM_GFX_INDEX,
                  SG_GFX_INDEX_SE(number / block->instances) |
                      SG_GFX_INDEX_INSTANCE(number % block->instances));
    value = sg_perf_read(perf, block->result_lo[1]);
    sg_perf_destroy(perf);
    return value;
}

static void test_each_event_counts_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct sg_perf_event *event = find_by_name(expected[i].name);
        const uint64_t value = count(event, expected[i].number, &detail);

        assert_string_equal(sg_perf_blocks[event->block].name, expected[i].block);
        assert_int_equal(event->event, expected[i].event);
        if (value != expected[i].value)
            fail_msg("%s: %u, expected %u", event->name, (unsigned)value, (unsigned)expected[i].value);
    }
}

static void test_only_basic_events_count_what_nobody_watched(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct sg_perf_event *event = find_by_name(expected[i].name);

        assert_int_equal(count(event, expected[i].number, NULL),
                         event->kind == SG_EVENT_BASIC ? expected[i].value : 0);
    }
}

// Whether dispatches of a queue have to be watched, after `event` was selected in a slot of its block.
static bool needs(struct sg_perf *perf, const char *name, bool counted)
{
    const struct sg_perf_event *event = find_by_name(name);

    sg_perf_write(perf, sg_perf_blocks[event->block].select[0], event->event);
    return sg_perf_needs_model(perf, counted);
}

static void test_the_model_is_needed_only_for_what_is_selected(void **state)
{
    struct sg_perf *perf = sg_perf_create();
    char why[96];

    (void)state;
    assert_non_null(perf);
    assert_false(needs(perf, "SQ_ITEMS", true)); // not counting
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    assert_false(needs(perf, "SQ_INSTS_VALU", true));
    assert_true(needs(perf, "SQ_ITEMS", true));
    assert_false(sg_perf_needs_model(perf, false));
    assert_true(needs(perf, "GRBM_COUNT", false));
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP);
    assert_false(sg_perf_needs_model(perf, true));
    // What is left selected from a session that is over neither costs nor is shown.
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_DISABLE_RESET);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    assert_false(sg_perf_needs_model(perf, true));
    assert_false(sg_perf_can_read(perf, 0xd040, why, sizeof(why)));
    assert_string_equal(why, "event 0 of block GRBM was selected before the last stop");
    assert_true(needs(perf, "GRBM_COUNT", true));
    assert_true(sg_perf_can_read(perf, 0xd040, why, sizeof(why)));
    sg_perf_destroy(perf);
}

// The register of a level shows the level; the next slot adds it up, per cycle or per four.
static void test_levels_are_accumulated_by_the_next_slot(void **state)
{
    const struct sg_counts counts[SG_SHADER_ENGINES] = {[4] = sample};
    struct sg_perf *perf = sg_perf_create();
    char why[96];

    (void)state;
    assert_non_null(perf);
    sg_perf_write(perf, 0xd9c0, 5);   // SQ_LEVEL_WAVES
    sg_perf_write(perf, 0xd9c1, 185); // SQ_ACCUM_PREV_HIRES
    sg_perf_write(perf, 0xd9c2, 5);
    sg_perf_write(perf, 0xd9c3, 1); // SQ_ACCUM_PREV
    sg_perf_write(perf, 0xd9c4, 1);
    sg_perf_write(perf, SG_REG_SQ_PERFCOUNTER_CTRL, SG_SQ_CTRL_ALL);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    sg_perf_dispatch(perf, counts, &detail, true);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START | SG_PERFMON_SAMPLE);
    sg_perf_write(perf, SG_REG_GRBM_GFX_INDEX, SG_GFX_INDEX_SE(4));
    assert_int_equal(sg_perf_read(perf, 0xd1c0), 0);
    assert_int_equal(sg_perf_read(perf, 0xd1c2), 4000);
    assert_int_equal(sg_perf_read(perf, 0xd1c6), 1000);
    assert_true(sg_perf_can_read(perf, 0xd1c6, why, sizeof(why)));
    assert_false(sg_perf_can_read(perf, 0xd1c8, why, sizeof(why)));
    assert_string_equal(why, "event 1 of block SQ has no level in the slot before");
    sg_perf_destroy(perf);
}

// GRBM_COUNT runs on through packets during which nothing is active.
static void test_packets_cost_clocks_but_no_activity(void **state)
{
    const struct sg_counts counts[SG_SHADER_ENGINES] = {[0] = sample};
    struct sg_perf *perf = sg_perf_create();

    (void)state;
    assert_non_null(perf);
    sg_perf_write(perf, 0xd840, 0);
    sg_perf_write(perf, 0xd841, 2);
    sg_perf_packet(perf); // not counting yet
    sg_perf_write(perf, 0xd808, 1);
    sg_perf_packet(perf);
    sg_perf_dispatch(perf, counts, &detail, false);
    sg_perf_packet(perf);
    sg_perf_write(perf, 0xd808, 0x401);
    assert_int_equal(sg_perf_read(perf, 0xd040), 1803 + 2 * 200);
    assert_int_equal(sg_perf_read(perf, 0xd043), 1603);
    sg_perf_destroy(perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue_equals_the_table),
        cmocka_unit_test(test_find_knows_block_and_number),
        cmocka_unit_test(test_each_event_counts_its_own),
        cmocka_unit_test(test_only_basic_events_count_what_nobody_watched),
        cmocka_unit_test(test_the_model_is_needed_only_for_what_is_selected),
        cmocka_unit_test(test_levels_are_accumulated_by_the_next_slot),
        cmocka_unit_test(test_packets_cost_clocks_but_no_activity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
