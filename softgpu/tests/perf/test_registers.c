// SPDX-License-Identifier: MIT
// The emulated registers: indexing and broadcast, the state machine of CP_PERFMON_CNTL, what a sample
// latches, and which dispatches are counted. Addresses are literals, so that a wrong table cannot agree with
// itself.
#include "cmocka_all.h"

#include "softgpu/perf/events.h"
#include "softgpu/perf/perf.h"

#include <string.h>

enum {
    GFX_INDEX = 0xc200,
    PERFMON = 0xd808,
    SQ_CTRL = 0xd9e0,
    SQ_MASK = 0xd9e1,
    SQ_SELECT0 = 0xd9c0,
    SQ_SELECT7 = 0xd9c7,
    SQ_LO0 = 0xd1c0,
    SQ_HI0 = 0xd1c1,
    SQ_LO7 = 0xd1ce,
    GRBM_SELECT0 = 0xd840,
    GRBM_SELECT1 = 0xd841,
    GRBM_LO0 = 0xd040,
    GRBM_LO1 = 0xd043,
    RESET = 0,
    START = 1,
    STOP = 2,
    SAMPLE_RUNNING = 0x401,
    SAMPLE_STOPPED = 0x402,
    EVENT_WAVES = 4,
    EVENT_VALU = 26,
};

#define BROADCAST  0xe0000000u
#define ENGINE(n)  (0x60000000u | (uint32_t)(n) << 16)
#define SELECT_ALL 0x0f0ff000u

static int set_up(void **state)
{
    struct sg_perf *perf = sg_perf_create();

    if (!perf)
        return -1;
    sg_perf_write(perf, SQ_CTRL, 0xffff007f);
    *state = perf;
    return 0;
}

static int tear_down(void **state)
{
    sg_perf_destroy(*state);
    return 0;
}

// Of every dispatch.
static const struct sg_detail detail = {
    .cu = {[0] = {.items = 10}, [2] = {.items = 12, .busy = UINT64_C(0x300000004)}},
    .channel = {[0] = {.requests = 100}, [31] = {.requests = 131}},
    .active = 1500,
};

// Engine n ran n + 1 waves and 10 n VALU instructions.
static void dispatch(struct sg_perf *perf, bool counted)
{
    struct sg_counts counts[SG_SHADER_ENGINES] = {0};

    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++) {
        counts[n].waves = n + 1;
        counts[n].valu = 10 * n;
    }
    sg_perf_dispatch(perf, counts, &detail, counted);
}

static uint32_t read_engine(struct sg_perf *perf, unsigned engine, uint32_t address)
{
    uint32_t value;

    sg_perf_write(perf, GFX_INDEX, ENGINE(engine));
    value = sg_perf_read(perf, address);
    sg_perf_write(perf, GFX_INDEX, BROADCAST);
    return value;
}

static void test_new_block_is_idle(void **state)
{
    assert_int_equal(sg_perf_read(*state, GFX_INDEX), BROADCAST);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_STOPPED);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++)
        assert_int_equal(read_engine(*state, n, SQ_LO0), 0);
    assert_int_equal(sg_perf_read(*state, GRBM_LO0), 0);
}

static void test_broadcast_write_reaches_every_engine(void **state)
{
    sg_perf_write(*state, SQ_SELECT7, SELECT_ALL | EVENT_WAVES);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++)
        assert_int_equal(read_engine(*state, n, SQ_SELECT7), SELECT_ALL | EVENT_WAVES);
}

static void test_indexed_write_reaches_one_engine(void **state)
{
    sg_perf_write(*state, GFX_INDEX, ENGINE(5));
    sg_perf_write(*state, SQ_SELECT0, EVENT_VALU);
    sg_perf_write(*state, SQ_MASK, 0x1234);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++) {
        assert_int_equal(read_engine(*state, n, SQ_SELECT0), n == 5 ? EVENT_VALU : 0);
        assert_int_equal(read_engine(*state, n, SQ_MASK), n == 5 ? 0x1234 : 0);
    }
}

static void test_absent_engine_reads_zero_and_ignores_writes(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, GFX_INDEX, ENGINE(8));
    sg_perf_write(*state, SQ_SELECT0, EVENT_VALU);
    assert_int_equal(sg_perf_read(*state, SQ_SELECT0), 0);
    assert_int_equal(sg_perf_read(*state, SQ_LO0), 0);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++)
        assert_int_equal(read_engine(*state, n, SQ_SELECT0), EVENT_WAVES);
}

static void test_counts_between_start_and_stop(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, SELECT_ALL | EVENT_WAVES);
    sg_perf_write(*state, SQ_SELECT7, SELECT_ALL | EVENT_VALU);
    sg_perf_write(*state, PERFMON, RESET);
    dispatch(*state, true); // not started
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, STOP);
    dispatch(*state, true); // stopped
    sg_perf_write(*state, PERFMON, SAMPLE_STOPPED);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++) {
        assert_int_equal(read_engine(*state, n, SQ_LO0), 2 * (n + 1));
        assert_int_equal(read_engine(*state, n, SQ_LO7), 2 * 10 * n);
    }
}

static void test_results_show_the_last_sample(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    assert_int_equal(read_engine(*state, 3, SQ_LO0), 0);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    dispatch(*state, true);
    assert_int_equal(read_engine(*state, 3, SQ_LO0), 4);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 3, SQ_LO0), 8);
}

static void test_reset_clears_counts_and_keeps_selects(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    sg_perf_write(*state, PERFMON, RESET);
    assert_int_equal(read_engine(*state, 0, SQ_LO0), 0);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 0, SQ_LO0), 1);
}

static void test_restart_without_reset_goes_on(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, STOP);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 7, SQ_LO0), 16);
}

static void test_uncounted_queue_adds_to_grbm_alone(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, GRBM_SELECT1, 0);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, false);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 0, SQ_LO0), 0);
    assert_int_not_equal(sg_perf_read(*state, GRBM_LO1), 0);
}

static void test_sq_counts_only_enabled_stages(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, GFX_INDEX, ENGINE(2));
    sg_perf_write(*state, SQ_CTRL, 0xffff003f); // all stages but compute
    sg_perf_write(*state, GFX_INDEX, BROADCAST);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    for (unsigned n = 0; n < SG_SHADER_ENGINES; n++)
        assert_int_equal(read_engine(*state, n, SQ_LO0), n == 2 ? 0 : n + 1);
}

static void test_high_half(void **state)
{
    struct sg_counts counts[SG_SHADER_ENGINES] = {[6] = {.waves = UINT64_C(0x500000007)}};

    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, PERFMON, START);
    sg_perf_dispatch(*state, counts, &detail, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 6, SQ_LO0), 7);
    assert_int_equal(read_engine(*state, 6, SQ_HI0), 5);
    assert_int_equal(read_engine(*state, 5, SQ_LO0), 0);
}

static void test_event_without_a_model_stays_zero(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, SELECT_ALL | 66); // SQ_INSTS_VSKIPPED
    sg_perf_write(*state, GRBM_SELECT0, 34);            // GRBM_UTCL2_BUSY
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_engine(*state, 1, SQ_LO0), 0);
    assert_int_equal(sg_perf_read(*state, GRBM_LO0), 0);
}

static void assert_unreadable(struct sg_perf *perf, uint32_t address, const char *why)
{
    char text[96] = "";

    assert_false(sg_perf_can_read(perf, address, text, sizeof(text)));
    assert_string_equal(text, why);
}

static void test_what_is_not_modelled_says_so(void **state)
{
    char text[96] = "";

    assert_true(sg_perf_can_read(*state, SQ_LO0, text, sizeof(text))); // 0 selects nothing in the SQ
    sg_perf_write(*state, SQ_SELECT0, SELECT_ALL | 66);
    sg_perf_write(*state, SQ_SELECT7, SELECT_ALL | EVENT_WAVES);
    sg_perf_write(*state, GRBM_SELECT0, 34);
    assert_unreadable(*state, SQ_LO0, "event 66 of block SQ is not modelled");
    assert_unreadable(*state, SQ_HI0, "event 66 of block SQ is not modelled");
    assert_unreadable(*state, GRBM_LO0, "event 34 of block GRBM is not modelled");
    assert_unreadable(*state, 0xd240, "register 0xd240 holds a counter of a block that is not modelled");
    assert_true(sg_perf_can_read(*state, SQ_SELECT0, text, sizeof(text)));
    assert_true(sg_perf_can_read(*state, SQ_LO7, text, sizeof(text)));
    assert_true(sg_perf_can_read(*state, GRBM_LO1, text, sizeof(text)));
    assert_true(sg_perf_can_read(*state, GFX_INDEX, text, sizeof(text)));
    assert_string_equal(text, "");
    sg_perf_write(*state, GFX_INDEX, ENGINE(8));
    assert_true(sg_perf_can_read(*state, SQ_LO0, text, sizeof(text))); // of an engine that does not exist
}

static uint32_t read_at(struct sg_perf *perf, uint32_t index, uint32_t address)
{
    uint32_t value;

    sg_perf_write(perf, GFX_INDEX, index);
    value = sg_perf_read(perf, address);
    sg_perf_write(perf, GFX_INDEX, BROADCAST);
    return value;
}

// TCC: 32 of the GPU, told apart by the instance field whatever engine is named.
static void test_channels_are_told_apart(void **state)
{
    sg_perf_write(*state, 0xdb80, 3); // TCC_REQ in all
    sg_perf_write(*state, GFX_INDEX, 0xa0000000u | 31);
    sg_perf_write(*state, 0xdb85, 3); // and in slot 3 of the last
    sg_perf_write(*state, GFX_INDEX, BROADCAST);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_at(*state, 0xa0000000u, 0xd380), 100);
    assert_int_equal(read_at(*state, 0xa0000000u | 31, 0xd380), 131);
    assert_int_equal(read_at(*state, 0x20000000u | 31, 0xd386), 131);
    assert_int_equal(read_at(*state, 0xa0000000u | 30, 0xdb85), 0);
    assert_int_equal(read_at(*state, 0xa0000000u | 32, 0xd380), 0); // there is none
}

// TA: one compute unit in each engine, which is instance 0. SPI: the high half of a result comes first.
static void test_units_of_engines(void **state)
{
    sg_perf_write(*state, 0xdac0, 15); // TA_TA_BUSY
    sg_perf_write(*state, 0xd989, 48); // SPI_CSN_BUSY in slot 5
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    assert_int_equal(read_at(*state, 0x20000000u | 2 << 16, 0xdac0), 15);
    assert_int_equal(read_at(*state, 0x20000000u | 2 << 16 | 1, 0xdac0), 0);
    assert_int_equal(read_engine(*state, 2, 0xd18b), 4);
    assert_int_equal(read_engine(*state, 2, 0xd18a), 3);
    assert_int_equal(read_engine(*state, 1, 0xd18b), 0);
}

static void test_other_registers_are_inert(void **state)
{
    sg_perf_write(*state, SQ_SELECT0, EVENT_WAVES);
    sg_perf_write(*state, PERFMON, START);
    dispatch(*state, true);
    sg_perf_write(*state, PERFMON, SAMPLE_RUNNING);
    sg_perf_write(*state, SQ_LO0, 99); // results are read only
    assert_int_equal(read_engine(*state, 0, SQ_LO0), 1);
    sg_perf_write(*state, 0xd380, 99); // a result of the TCC, which is not modelled
    assert_int_equal(sg_perf_read(*state, 0xd380), 0);
    assert_int_equal(sg_perf_read(*state, UINT32_MAX), 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_new_block_is_idle),
        TEST(test_broadcast_write_reaches_every_engine),
        TEST(test_indexed_write_reaches_one_engine),
        TEST(test_absent_engine_reads_zero_and_ignores_writes),
        TEST(test_counts_between_start_and_stop),
        TEST(test_results_show_the_last_sample),
        TEST(test_reset_clears_counts_and_keeps_selects),
        TEST(test_restart_without_reset_goes_on),
        TEST(test_uncounted_queue_adds_to_grbm_alone),
        TEST(test_sq_counts_only_enabled_stages),
        TEST(test_high_half),
        TEST(test_event_without_a_model_stays_zero),
        TEST(test_what_is_not_modelled_says_so),
        TEST(test_channels_are_told_apart),
        TEST(test_units_of_engines),
        TEST(test_other_registers_are_inert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
