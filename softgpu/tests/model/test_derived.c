// SPDX-License-Identifier: MIT
// The catalogue against what is modelled: events and slots are the same, and every derived metric whose inputs are
// modelled has a value for real programs, percentages between 0 and 100.
#include "softgpu/tests/model/rig.h"

#include "counters/expression.h"
#include "softgpu/perf/events.h"
#include "softgpu/perf/perf.h"

#include <math.h>

// The device as softgpu describes it.
static const kreplay_agent agent = {.size = sizeof(agent),
                                    .name = "gfx90a",
                                    .compute_units = 8,
                                    .shader_engines = 8,
                                    .simds_per_cu = 4,
                                    .wave_size = 64};
static struct rig rig;

static const struct sg_perf_event *modelled(const char *name)
{
    for (size_t i = 0; i < sg_perf_event_count; i++)
        if (strcmp(sg_perf_events[i].name, name) == 0)
            return &sg_perf_events[i];
    return NULL;
}

static void events_are_those_of_the_catalogue(void **state)
{
    const struct kr_catalogue *catalogue = kr_catalogue_find("gfx90a");
    (void)state;
    assert_true(sg_perf_event_count >= 150);
    for (size_t i = 0; i < sg_perf_event_count; i++) {
        const struct kr_counter_def *def = kr_catalogue_counter(catalogue, sg_perf_events[i].name);
        assert_non_null(def);
        assert_string_equal(def->block, sg_perf_blocks[sg_perf_events[i].block].name);
        assert_int_equal(def->event, sg_perf_events[i].event);
    }
}

static void slots_are_those_of_the_catalogue(void **state)
{
    const struct kr_catalogue *catalogue = kr_catalogue_find("gfx90a");
    (void)state;
    assert_int_equal(catalogue->block_count, SG_BLOCK_COUNT);
    for (unsigned i = 0; i < SG_BLOCK_COUNT; i++) {
        const struct kr_block_def *def = kr_catalogue_block(catalogue, sg_perf_blocks[i].name);
        assert_non_null(def);
        assert_int_equal(def->slots, sg_perf_blocks[i].slots);
    }
}

static uint32_t index_of(const struct sg_perf_block *block, uint32_t number)
{
    const uint32_t engine = number / block->instances, instance = number % block->instances;
    return SG_GFX_INDEX_SH_BROADCAST | SG_GFX_INDEX_SE(engine) | SG_GFX_INDEX_INSTANCE(instance);
}

// Counts one event of the last launch through the registers, in the slot after `level`'s.
static size_t count(const struct sg_perf_event *event, const struct sg_perf_event *level, double *values)
{
    const struct sg_perf_block *block = &sg_perf_blocks[event->block];
    const size_t n = (size_t)block->engines * block->instances;
    const uint32_t result = block->result_lo[1];
    struct sg_perf *perf = sg_perf_create();
    assert_non_null(perf);
    sg_perf_write(perf, SG_REG_SQ_PERFCOUNTER_CTRL, SG_SQ_CTRL_ALL);
    if (level)
        sg_perf_write(perf, block->select[0], block->select_bits | level->event);
    sg_perf_write(perf, block->select[1], block->select_bits | event->event);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_START);
    assert_int_equal(sg_perf_needs_model(perf, true), event->kind != SG_EVENT_BASIC);
    sg_perf_dispatch(perf, rig.counts, &rig.detail, true);
    sg_perf_write(perf, SG_REG_CP_PERFMON_CNTL, SG_PERFMON_STOP | SG_PERFMON_SAMPLE);
    for (uint32_t i = 0; i < n; i++) {
        char why[96];
        sg_perf_write(perf, SG_REG_GRBM_GFX_INDEX, index_of(block, i));
        assert_true(sg_perf_can_read(perf, result, why, sizeof why));
        const uint64_t high = sg_perf_read(perf, result + (uint32_t)block->result_hi);
        values[i] = (double)(high << 32 | sg_perf_read(perf, result));
    }
    sg_perf_destroy(perf);
    return n;
}

// Keeps several inputs of one expression valid at a time.
static int measured(void *arg, const struct kr_counter_input *input, const double **values, size_t *n)
{
    static double memory[64][SG_PERF_MAX_INSTANCES];
    unsigned *used = arg;
    const struct sg_perf_event *event = modelled(input->name),
                               *level = input->level ? modelled(input->level) : NULL;
    if (!event || (input->level && !level))
        return KREPLAY_UNAVAILABLE;
    assert_true(*used < 64);
    *values = memory[*used];
    *n = count(event, level, memory[(*used)++]);
    return KREPLAY_OK;
}

static bool is_percentage(const char *expression)
{
    static const char *const parts[] = {"100*", "400*", "6400*"};
    for (size_t i = 0; i < 3; i++)
        if (strncmp(expression, parts[i], strlen(parts[i])) == 0)
            return true;
    return strstr(expression, "*100") != NULL;
}

// Returns how many metrics have a value.
static unsigned evaluate_all(const char *program)
{
    const struct kr_catalogue *catalogue = kr_catalogue_find("gfx90a");
    unsigned evaluated = 0;
    for (size_t i = 0; i < catalogue->counter_count; i++) {
        const struct kr_counter_def *def = &catalogue->counters[i];
        struct kr_expression *expression;
        char error[300] = "";
        double *values;
        size_t n;
        unsigned used = 0;
        if (!def->expression)
            continue;
        assert_int_equal(kr_expression_parse(def->expression, &expression, error, sizeof error), KREPLAY_OK);
        const struct kr_expression_scope scope = {
            .catalogue = catalogue, .agent = &agent, .measured = measured, .arg = &used};
        const int rc = kr_expression_evaluate(expression, &scope, &values, &n, error, sizeof error);
        kr_expression_free(expression);
        if (rc == KREPLAY_UNAVAILABLE)
            continue;
        if (rc != KREPLAY_OK)
            fail_msg("%s of %s: %s", def->name, program, error);
        evaluated++;
        for (size_t v = 0; v < n; v++) {
            if (values[v] < 0 || (is_percentage(def->expression) && values[v] > 100))
                fail_msg("%s of %s is %g", def->name, program, values[v]);
        }
        free(values);
    }
    return evaluated;
}

#define DERIVED_WITH_INPUTS 145 // of 212

static void derived_metrics_of_programs(void **state)
{
    (void)state;
    rig_copy(&rig, 1);
    assert_int_equal(evaluate_all("copy"), DERIVED_WITH_INPUTS);
    rig_copy(&rig, 16);
    assert_int_equal(evaluate_all("strided copy"), DERIVED_WITH_INPUTS);
    rig_product(&rig, "tiled", 64);
    assert_int_equal(evaluate_all("tiled"), DERIVED_WITH_INPUTS);
    rig_product(&rig, "naive", 64);
    assert_int_equal(evaluate_all("naive"), DERIVED_WITH_INPUTS);
    rig_banks(&rig, 32);
    assert_int_equal(evaluate_all("banks"), DERIVED_WITH_INPUTS);
    rig_chase(&rig, 0);
    assert_int_equal(evaluate_all("chase"), DERIVED_WITH_INPUTS);
    rig_matrix(&rig);
    assert_int_equal(evaluate_all("matrix"), DERIVED_WITH_INPUTS);
}

// The instances of the L2 and all engines are read apart, and their sum is what was counted.
static void instances_add_up(void **state)
{
    double values[SG_PERF_MAX_INSTANCES], sum = 0;
    (void)state;
    rig_copy(&rig, 4);
    const size_t n = count(modelled("TCC_REQ"), NULL, values);
    assert_int_equal(n, 32);
    for (size_t i = 0; i < n; i++) {
        assert_true(values[i] > 0);
        sum += values[i];
    }
    assert_true(sum == (double)rig_channels(&rig).requests);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_those_of_the_catalogue),
        cmocka_unit_test(slots_are_those_of_the_catalogue),
        cmocka_unit_test(derived_metrics_of_programs),
        cmocka_unit_test(instances_add_up),
    };
    if (argc != 2)
        return 2;
    rig_open(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
