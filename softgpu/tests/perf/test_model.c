// SPDX-License-Identifier: MIT
// The counting model on made-up counts, with every value worked out by hand, and the three places that name
// the modelled events: the table, the shipped catalogue and the list below, copied from ROCm's definitions.
#include "cmocka_all.h"

#include "softgpu/perf/model.h"
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
    .sendmsg = 2,
    .other_sopp = 11,
    .lanes_valu = 6000,
};

// rocprofiler-sdk counter_defs.yaml, architecture gfx90a. `value` is what `sample` on one engine gives:
// wave cycles 100*4 + 50*4 + 6*32 + 10*16 + 1*32 + 8*64 + 5*32 + 7*16 + 2*4 + 11*4 + 3*64 = 2012, in
// quad-cycles 503; busy 100 + 2012/4 = 603; active 1000 + 603 = 1603; all clocks 1603 + 200 = 1803.
static const struct expected {
    const char *name, *block;
    unsigned event;
    uint64_t value;
} expected[] = {
    {"GRBM_COUNT", "GRBM", 0, 1803},   {"GRBM_GUI_ACTIVE", "GRBM", 2, 1603},
    {"SQ_BUSY_CYCLES", "SQ", 3, 603},  {"SQ_WAVES", "SQ", 4, 3},
    {"SQ_INSTS_VALU", "SQ", 26, 100},  {"SQ_INSTS_VMEM_WR", "SQ", 53, 5},
    {"SQ_INSTS_VMEM_RD", "SQ", 54, 8}, {"SQ_INSTS_VMEM", "SQ", 55, 13},
    {"SQ_INSTS_SALU", "SQ", 56, 50},   {"SQ_INSTS_SMEM", "SQ", 57, 6},
    {"SQ_INSTS_FLAT", "SQ", 58, 9},    {"SQ_INSTS_LDS", "SQ", 60, 10},
    {"SQ_INSTS_GDS", "SQ", 61, 1},     {"SQ_INSTS_BRANCH", "SQ", 64, 7},
    {"SQ_INSTS_SENDMSG", "SQ", 65, 2}, {"SQ_WAVE_CYCLES", "SQ", 74, 503},
};
#define EXPECTED (sizeof(expected) / sizeof(expected[0]))

static void test_table_names_what_rocm_names(void **state)
{
    (void)state;
    assert_int_equal(sg_perf_event_count, EXPECTED);
    for (size_t i = 0; i < EXPECTED; i++) {
        assert_string_equal(sg_perf_events[i].name, expected[i].name);
        assert_string_equal(sg_perf_blocks[sg_perf_events[i].block].name, expected[i].block);
        assert_int_equal(sg_perf_events[i].event, expected[i].event);
    }
}

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
        assert_true(rows < EXPECTED);
        assert_string_equal(name, expected[rows].name);
        assert_string_equal(block, expected[rows].block);
        assert_int_equal(event, expected[rows].event);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, EXPECTED);
}

static void test_find_knows_block_and_number(void **state)
{
    (void)state;
    assert_string_equal(sg_perf_event_find(SG_BLOCK_SQ, 4)->name, "SQ_WAVES");
    assert_null(sg_perf_event_find(SG_BLOCK_GRBM, 4));
    assert_null(sg_perf_event_find(SG_BLOCK_SQ, 0));
}

// Every event through the registers: armed alone, one dispatch, work on engine 4 only.
static void test_each_event_counts_its_own(void **state)
{
    const struct sg_counts counts[SG_SHADER_ENGINES] = {[4] = sample};

    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct sg_perf_block *block = &sg_perf_blocks[sg_perf_events[i].block];
        struct sg_perf *perf = sg_perf_create();

        assert_non_null(perf);
        sg_perf_write(perf, SG_REG_SQ_PERFCOUNTER_CTRL, SG_SQ_CTRL_ALL);
        sg_perf_write(perf, block->select[1], block->select_bits | expected[i].event);
        sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
        sg_perf_dispatch(perf, counts, true);
        sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP | SG_PERFMON_SAMPLE);
        sg_perf_write(perf, SG_REG_GRBM_GFX_INDEX, SG_GFX_INDEX_SE(4));
        if (sg_perf_read(perf, block->result_lo[1]) != expected[i].value)
            fail_msg("%s: %u, expected %u", expected[i].name, sg_perf_read(perf, block->result_lo[1]),
                     (unsigned)expected[i].value);
        sg_perf_destroy(perf);
    }
}

static void test_idle_engine_is_not_busy(void **state)
{
    const struct sg_counts idle = {0}, one_wave = {.waves = 1};

    (void)state;
    assert_int_equal(sg_model_busy_cycles(&idle), 0);
    assert_int_equal(sg_model_wave_cycles(&idle), 0);
    assert_int_equal(sg_model_busy_cycles(&one_wave), 100 + 64 / 4);
}

static void test_a_dispatch_lasts_as_long_as_its_longest_engine(void **state)
{
    const struct sg_counts counts[SG_SHADER_ENGINES] = {
        [1] = {.waves = 1, .valu = 4},     // 100 + (64 + 16) / 4 = 120
        [3] = {.waves = 2, .vmem_rd = 10}, // 100 + (128 + 640) / 4 = 292
        [7] = {.waves = 4, .salu = 100},   // 100 + (256 + 400) / 4 = 264
    };

    (void)state;
    assert_int_equal(sg_model_active_cycles(counts), 1000 + 292);
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
    sg_perf_dispatch(perf, counts, false);
    sg_perf_packet(perf);
    sg_perf_write(perf, 0xd808, 0x401);
    assert_int_equal(sg_perf_read(perf, 0xd040), 1803 + 2 * 200);
    assert_int_equal(sg_perf_read(perf, 0xd043), 1603);
    sg_perf_destroy(perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_names_what_rocm_names),
        cmocka_unit_test(test_catalogue_equals_the_table),
        cmocka_unit_test(test_find_knows_block_and_number),
        cmocka_unit_test(test_each_event_counts_its_own),
        cmocka_unit_test(test_idle_engine_is_not_busy),
        cmocka_unit_test(test_a_dispatch_lasts_as_long_as_its_longest_engine),
        cmocka_unit_test(test_packets_cost_clocks_but_no_activity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
