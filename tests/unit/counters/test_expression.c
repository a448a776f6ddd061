// SPDX-License-Identifier: MIT
// Derived counters: the grammar, what an expression needs, values worked out by hand, and every counter of
// the table.
#include "counters/expression.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// 104 compute units of 4 SIMDs in 8 shader engines, as an MI200 die has.
static const kreplay_agent agent = {.size = sizeof(agent),
                                    .name = "gfx90a",
                                    .compute_units = 104,
                                    .shader_engines = 8,
                                    .simds_per_cu = 4,
                                    .wave_size = 64};

// ---- Made-up measurements

static const struct measurement {
    const char *name, *level;
    double values[4];
    size_t count;
} measurements[] = {
    {"GRBM_COUNT", NULL, {2000}, 1},
    {"GRBM_GUI_ACTIVE", NULL, {1000}, 1},
    {"SQ_WAVES", NULL, {10, 20, 30, 40}, 4},
    {"SQ_INSTS_VALU", NULL, {100, 200, 300, 400}, 4},
    {"SQ_INSTS_LDS", NULL, {50, 0, 0, 0}, 4},
    {"SQ_INSTS_FLAT_LDS_ONLY", NULL, {0, 10, 0, 0}, 4},
    {"SQ_WAIT_INST_LDS", NULL, {250, 250, 250, 250}, 4},
    {"SQ_THREAD_CYCLES_VALU", NULL, {3200, 0, 0, 3200}, 4},
    {"SQ_ACTIVE_INST_VALU", NULL, {100, 0, 0, 100}, 4},
    {"SQ_WAVE_CYCLES", NULL, {500, 500, 500, 500}, 4},
    {"SQ_IFETCH_LEVEL", NULL, {7, 7, 7, 7}, 4},
    {"SQ_ACCUM_PREV_HIRES", "SQ_IFETCH_LEVEL", {100, 100, 100, 300}, 4},
    {"SQ_IFETCH", NULL, {1, 2, 3, 4}, 4},
    {"SQ_ACCUM_PREV", "SQ_LEVEL_WAVES", {10, 20, 30, 40}, 4},
    {"SQ_BUSY_CU_CYCLES", NULL, {5, 5, 5, 5}, 4},
    {"SQ_INSTS_VALU_MFMA_MOPS_F16", NULL, {1, 2, 3, 4}, 4},
    {"TCC_HIT", NULL, {30, 45}, 2},
    {"TCC_MISS", NULL, {10, 15}, 2},
    {"TCC_EA_RDREQ", NULL, {100, 28}, 2},
    {"TCC_EA_RDREQ_32B", NULL, {60, 4}, 2},
    {"TA_TA_BUSY", NULL, {1, 5, 2, 4}, 4},
    {"TCP_TCP_TA_DATA_STALL_CYCLES", NULL, {10, 80, 30}, 3},
};

static int measured(void *arg, const struct kr_counter_input *input, const double **values, size_t *count)
{
    (void)arg;
    for (size_t i = 0; i < sizeof(measurements) / sizeof(measurements[0]); i++) {
        const struct measurement *m = &measurements[i];
        bool same_level = (m->level == NULL) == (input->level == NULL);
        if (same_level && m->level != NULL)
            same_level = strcmp(m->level, input->level) == 0;
        if (!same_level || strcmp(m->name, input->name) != 0)
            continue;
        *values = m->values;
        *count = m->count;
        return KREPLAY_OK;
    }
    return KREPLAY_NOT_FOUND;
}

static const struct kr_catalogue *gfx90a(void)
{
    return kr_catalogue_find("gfx90a");
}

static int evaluate(const char *text, double **values, size_t *count, char *error, size_t error_bytes)
{
    struct kr_expression *expression;
    int rc = kr_expression_parse(text, &expression, error, error_bytes);
    if (rc != KREPLAY_OK)
        return rc;
    struct kr_expression_scope scope = {.catalogue = gfx90a(), .agent = &agent, .measured = measured};
    rc = kr_expression_evaluate(expression, &scope, values, count, error, error_bytes);
    kr_expression_free(expression);
    return rc;
}

static double value_of(const char *text)
{
    char error[300] = "";
    double *values;
    size_t count;
    int rc = evaluate(text, &values, &count, error, sizeof(error));
    assert_string_equal(error, "");
    assert_int_equal(rc, KREPLAY_OK);
    assert_int_equal(count, 1);
    double value = values[0];
    free(values);
    return value;
}

static void check_value(const char *text, double expected)
{
    double value = value_of(text);
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%s = %.17g, expected %.17g", text, value, expected);
}

static void test_arithmetic(void **state)
{
    (void)state;
    check_value("1+2*3", 7);
    check_value("(1+2)*3", 9);
    check_value("8/4/2", 1);
    check_value("10-4-3", 3);
    check_value("2*-3", -6);
    check_value("--4", 4);
    check_value(" 1.5 *\t2 ", 3);
    check_value("0.125", 0.125);
    check_value("reduce(SQ_WAVES,sum)", 100);
    check_value("reduce( SQ_WAVES , avr )", 25);
    check_value("reduce(SQ_WAVES,max)-reduce(SQ_WAVES,min)", 30);
    check_value("reduce(2*SQ_WAVES+1,sum)", 204);
    check_value("select(SQ_WAVES,[DIMENSION_INSTANCE=[2]])", 30);
    check_value("reduce(select(SQ_WAVES,[DIMENSION_INSTANCE=[1:3]]),sum)", 90);
    check_value("reduce(accumulate(SQ_IFETCH_LEVEL,NONE),sum)", 28);
    assert_true(isnan(value_of("1/0")));
    assert_true(isnan(value_of("reduce(SQ_WAVES/(SQ_WAVES-10),max)")));
}

static void test_lists(void **state)
{
    (void)state;
    double *values;
    size_t count;
    char error[300] = "";
    assert_int_equal(evaluate("1000-SQ_WAVES*SQ_WAVES", &values, &count, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(count, 4);
    assert_true(values[0] == 900 && values[1] == 600 && values[2] == 100 && values[3] == -600);
    free(values);
}

// By hand from the measurements above.
static void test_known_derived(void **state)
{
    (void)state;
    check_value("CU_NUM", 104);
    check_value("SIMD_NUM", 416);
    check_value("SE_NUM", 8);
    check_value("MAX_WAVE_SIZE", 64);
    check_value("GPUBusy", 50); // 100 * 1000 / 2000
    check_value("Wavefronts", 100);
    check_value("VALUInsts", 10);       // 1000 / 100
    check_value("LDSInsts", 0.4);       // (50 - 10) / 100
    check_value("ALUStalledByLDS", 4);  // 400 * 1000 / 100 / 1000
    check_value("VALUUtilization", 50); // 100 * 6400 / (200 * 64)
    check_value("VALUBusy", 100.0 * 200 / 104 / 1000);
    check_value("AvgNumActiveThreads", 32); // 6400 / 200
    check_value("WaveDuration", 80);        // 4 * 2000 / 100
    check_value("OccupancyPercent", 400.0 * 2000 / 1000 / 104 / 32);
    check_value("L2CacheHit", 75); // 100 * 75 / (75 + 25)
    check_value("FETCH_SIZE", 6);  // (64 * 32 + 64 * 64) / 1024
    check_value("FetchSize", 6);
    check_value("InstrFetchLatency", 60);       // 600 / 10
    check_value("MeanOccupancyPerActiveCU", 5); // 100 / 20
    check_value("AggSysCycles", 104000);
    check_value("TA_BUSY_avr", 3);
    check_value("TA_BUSY_min", 1);
    check_value("MemUnitBusy", 0.5);               // 100 * 5 / 1000
    check_value("MemUnitStalled", 1);              // 100 * 80 / 1000 / 8
    check_value("reduce(MfmaFlopsF16,sum)", 5120); // 10 * 512
}

// ---- Inputs

static void check_inputs(const char *text, const char *expected)
{
    struct kr_expression *expression;
    struct kr_counter_inputs inputs;
    char error[300] = "", got[400] = "";
    assert_int_equal(kr_expression_parse(text, &expression, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_expression_inputs(expression, gfx90a(), &inputs, error, sizeof(error)), KREPLAY_OK);
    for (size_t i = 0; i < inputs.count; i++) {
        strcat(got, i == 0 ? "" : " ");
        strcat(got, inputs.list[i].name);
        if (inputs.list[i].level != NULL) {
            strcat(got, "<");
            strcat(got, inputs.list[i].level);
            assert_true(i > 0 && strcmp(inputs.list[i - 1].name, inputs.list[i].level) == 0);
        }
    }
    assert_string_equal(got, expected);
    kr_counter_inputs_free(&inputs);
    kr_expression_free(expression);
}

static void test_inputs(void **state)
{
    (void)state;
    check_inputs("1+2", "");
    check_inputs("SQ_WAVES", "SQ_WAVES");
    check_inputs("SIMD_NUM*CU_NUM", "");
    check_inputs("GPUBusy+GpuUtil", "GRBM_GUI_ACTIVE GRBM_COUNT");
    check_inputs("FetchSize", "TCC_EA_RDREQ_32B TCC_EA_RDREQ");
    check_inputs("select(SQ_WAVES,[DIMENSION_INSTANCE=[0]])-SQ_WAVES", "SQ_WAVES");
    check_inputs("InstrFetchLatency", "SQ_IFETCH_LEVEL SQ_ACCUM_PREV_HIRES<SQ_IFETCH_LEVEL SQ_IFETCH");
    // An accumulating register goes right behind its counter, also when that was asked for before.
    check_inputs("SQ_LEVEL_WAVES+SQ_WAVES+accumulate(SQ_LEVEL_WAVES,LOW_RES)",
                 "SQ_LEVEL_WAVES SQ_ACCUM_PREV<SQ_LEVEL_WAVES SQ_WAVES");
    check_inputs(
        "accumulate(SQ_LEVEL_WAVES,LOW_RES)+accumulate(SQ_LEVEL_WAVES,HIGH_RES)+SQ_LEVEL_WAVES",
        "SQ_LEVEL_WAVES SQ_ACCUM_PREV<SQ_LEVEL_WAVES SQ_LEVEL_WAVES SQ_ACCUM_PREV_HIRES<SQ_LEVEL_WAVES");
}

// ---- Errors

static void check_error(const char *text, int status, const char *message)
{
    double *values = NULL;
    size_t count;
    char error[300] = "";
    assert_int_equal(evaluate(text, &values, &count, error, sizeof(error)), status);
    assert_string_equal(error, message);
    assert_null(values);
}

static void test_errors(void **state)
{
    (void)state;
    check_error("", KREPLAY_INVALID, "unexpected end at character 1 of \"\"");
    check_error("1+", KREPLAY_INVALID, "unexpected end at character 3 of \"1+\"");
    check_error("1 2", KREPLAY_INVALID, "operator expected at character 3 of \"1 2\"");
    check_error("(1", KREPLAY_INVALID, "')' expected at character 3 of \"(1\"");
    check_error("1)", KREPLAY_INVALID, "operator expected at character 2 of \"1)\"");
    check_error("*1", KREPLAY_INVALID, "number, name or '(' expected at character 1 of \"*1\"");
    check_error("2x", KREPLAY_INVALID, "number runs into a name at character 2 of \"2x\"");
    check_error("f(1)", KREPLAY_INVALID, "unknown function before this place at character 3 of \"f(1)\"");
    check_error("reduce(1,mean)", KREPLAY_INVALID,
                "reduce needs sum, max, min or avr at character 14 of \"reduce(1,mean)\"");
    check_error("reduce(1)", KREPLAY_INVALID, "',' expected at character 9 of \"reduce(1)\"");
    check_error("accumulate(1,NONE)", KREPLAY_INVALID,
                "accumulate needs a counter at character 12 of \"accumulate(1,NONE)\"");
    check_error("select(SQ_WAVES,[DIMENSION_XCC=[0]])", KREPLAY_UNSUPPORTED,
                "only DIMENSION_INSTANCE can be selected at character 31 of "
                "\"select(SQ_WAVES,[DIMENSION_XCC=[0]])\"");
    check_error("select(SQ_WAVES,[DIMENSION_INSTANCE=[4]])", KREPLAY_INVALID, "instance 4 selected of 4");
    check_error("SQ_NOTHING", KREPLAY_UNKNOWN_COUNTER,
                "\"SQ_NOTHING\" is neither a counter of gfx90a nor a property");
    check_error("SQ_WAVES+TCC_HIT", KREPLAY_INVALID, "values of 4 and of 2 instances cannot be combined");
    check_error("1+TCC_READ", KREPLAY_NOT_FOUND, "no values of TCC_READ");
    check_error("accumulate(SQ_WAVES,HIGH_RES)", KREPLAY_NOT_FOUND,
                "no values of SQ_ACCUM_PREV_HIRES over SQ_WAVES");
    check_error("accumulate(GPUBusy,HIGH_RES)", KREPLAY_INVALID,
                "accumulate(GPUBusy): only hardware counters can be accumulated");
}

static void test_bounds(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH + 1), error[64];
    struct kr_expression *expression;
    memset(text, '(', LENGTH);
    text[LENGTH] = '\0';
    assert_int_equal(kr_expression_parse(text, &expression, error, sizeof(error)), KREPLAY_INVALID);
    memset(text, '-', LENGTH);
    assert_int_equal(kr_expression_parse(text, &expression, error, sizeof(error)), KREPLAY_INVALID);
    for (size_t i = 0; i < LENGTH; i++)
        text[i] = i % 2 == 0 ? '1' : '+';
    assert_int_equal(kr_expression_parse(text, &expression, error, sizeof(error)), KREPLAY_INVALID);
    assert_null(expression);
    text[4001] = '\0';
    check_value(text, 2001);
    free(text);
}

static void test_circle(void **state)
{
    (void)state;
    static const struct kr_counter_def counters[] = {{"A", NULL, 0, "B+1"}, {"B", NULL, 0, "2*A"}};
    const struct kr_catalogue catalogue = {.arch = "made-up", .counters = counters, .counter_count = 2};
    struct kr_expression *expression;
    struct kr_counter_inputs inputs;
    double *values;
    size_t count;
    char error[100];
    assert_int_equal(kr_expression_parse("A", &expression, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_expression_inputs(expression, &catalogue, &inputs, error, sizeof(error)),
                     KREPLAY_INVALID);
    assert_string_equal(error, "derived counter A leads back to itself");
    struct kr_expression_scope scope = {.catalogue = &catalogue, .agent = &agent, .measured = measured};
    assert_int_equal(kr_expression_evaluate(expression, &scope, &values, &count, error, sizeof(error)),
                     KREPLAY_INVALID);
    kr_expression_free(expression);
}

// ---- The whole table, on inputs that are all there and have two instances

struct recorder {
    const struct kr_counter_inputs *inputs;
    unsigned asked;
};

static int any_input(void *arg, const struct kr_counter_input *input, const double **values, size_t *count)
{
    static const double numbers[] = {3, 5};
    struct recorder *recorder = arg;
    for (size_t i = 0; i < recorder->inputs->count; i++) {
        const struct kr_counter_input *listed = &recorder->inputs->list[i];
        bool same = strcmp(listed->name, input->name) == 0 &&
                    (listed->level == NULL) == (input->level == NULL) &&
                    (listed->level == NULL || strcmp(listed->level, input->level) == 0);
        if (!same)
            continue;
        recorder->asked++;
        *values = numbers;
        *count = 2;
        return KREPLAY_OK;
    }
    return KREPLAY_NOT_FOUND; // the list of inputs was not complete
}

static void test_every_derived_counter(void **state)
{
    (void)state;
    unsigned derived = 0;
    for (size_t i = 0; i < gfx90a()->counter_count; i++) {
        const struct kr_counter_def *counter = &gfx90a()->counters[i];
        if (counter->expression == NULL)
            continue;
        derived++;
        struct kr_expression *expression;
        struct kr_counter_inputs inputs;
        char error[300] = "";
        int rc = kr_expression_parse(counter->name, &expression, error, sizeof(error));
        if (rc == KREPLAY_OK)
            rc = kr_expression_inputs(expression, gfx90a(), &inputs, error, sizeof(error));
        if (rc != KREPLAY_OK)
            fail_msg("%s: %s", counter->name, error);
        for (size_t j = 0; j < inputs.count; j++)
            assert_non_null(kr_catalogue_counter(gfx90a(), inputs.list[j].name)->block);

        struct recorder recorder = {.inputs = &inputs};
        struct kr_expression_scope scope = {
            .catalogue = gfx90a(), .agent = &agent, .measured = any_input, .arg = &recorder};
        double *values;
        size_t count;
        rc = kr_expression_evaluate(expression, &scope, &values, &count, error, sizeof(error));
        if (rc != KREPLAY_OK)
            fail_msg("%s: %s", counter->name, error);
        assert_true(count == 1 || count == 2);
        assert_true(recorder.asked > 0 || inputs.count == 0);
        // LdsBankConflict is x / (x - x) on equal inputs: the only one without a value.
        assert_true(isnan(values[0]) == (strcmp(counter->name, "LdsBankConflict") == 0));
        free(values);
        kr_counter_inputs_free(&inputs);
        kr_expression_free(expression);
    }
    assert_int_equal(derived, 212);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),    cmocka_unit_test(test_lists),
        cmocka_unit_test(test_known_derived), cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_errors),        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_circle),        cmocka_unit_test(test_every_derived_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
