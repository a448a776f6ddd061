// SPDX-License-Identifier: MIT
// The table is in order and whole, names are found, mistakes are explained.
#include "counters/catalogue.h"
#include "kreplay/kreplay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const struct kr_catalogue *gfx90a(void)
{
    const struct kr_catalogue *catalogue = kr_catalogue_find("gfx90a");
    assert_non_null(catalogue);
    return catalogue;
}

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(kr_catalogue_find("gfx90a:sramecc+:xnack-"), gfx90a());
    assert_null(kr_catalogue_find("gfx90"));
    assert_null(kr_catalogue_find("gfx90ab"));
    assert_null(kr_catalogue_find(""));
}

static void test_table(void **state)
{
    (void)state;
    const struct kr_catalogue *c = gfx90a();
    assert_int_equal(c->counter_count, 473);
    size_t hardware = 0;
    for (size_t i = 0; i < c->counter_count; i++) {
        const struct kr_counter_def *counter = &c->counters[i];
        assert_true(i == 0 || strcmp(c->counters[i - 1].name, counter->name) < 0);
        assert_ptr_equal(kr_catalogue_counter(c, counter->name), counter);
        assert_true((counter->block == NULL) == (counter->expression != NULL));
        if (counter->block != NULL) {
            assert_non_null(kr_catalogue_block(c, counter->block));
            hardware++;
        }
    }
    assert_int_equal(hardware, 261);
    assert_null(kr_catalogue_counter(c, "SQ_WAVE"));
    assert_null(kr_catalogue_counter(c, ""));
    assert_null(kr_catalogue_block(c, "DB"));
}

// Event numbers and registers that are known from elsewhere, too.
static void test_known_facts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *block;
        uint32_t event, slots;
    } facts[] = {
        {"SQ_WAVES", "SQ", 4, 8},
        {"SQ_INSTS_VALU", "SQ", 26, 8},
        {"SQC_DCACHE_HITS", "SQ", 291, 8},
        {"GRBM_COUNT", "GRBM", 0, 2},
        {"GRBM_GUI_ACTIVE", "GRBM", 2, 2},
        {"TCC_HIT", "TCC", 17, 4},
        {"CPC_CPC_STAT_BUSY", "CPC", 25, 2},
        {"TCP_TOTAL_READ", "TCP", 30, 4},
        {"SPI_CSN_WAVE", "SPI", 52, 6},
        {"TA_TA_BUSY", "TA", 15, 2},
        {"TD_TD_BUSY", "TD", 1, 2},
        {"TCA_BUSY", "TCA", 2, 2},
        {"CPF_CPF_STAT_BUSY", "CPF", 23, 2},
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        const struct kr_counter_def *counter = kr_catalogue_counter(gfx90a(), facts[i].name);
        assert_non_null(counter);
        assert_string_equal(counter->block, facts[i].block);
        assert_int_equal(counter->event, facts[i].event);
        assert_int_equal(kr_catalogue_block(gfx90a(), counter->block)->slots, facts[i].slots);
    }
}

static void test_near(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *first;
    } cases[] = {
        {"SQ_WAVE", "SQ_WAVES"},
        {"sq_waves", "SQ_WAVES"},
        {"SQ_INST_VALU", "SQ_INSTS_VALU"},
        {"GRBM_CUONT", "GRBM_COUNT"},
        {"FETCHSIZE", "FetchSize"},
        {"TCC_HITS", "TCC_HIT"},
        {"SQ_INSTS_VMEM_R", "SQ_INSTS_VMEM_RD"},
        {"gpubusy", "GPUBusy"},
    };
    const char *near[4];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(kr_catalogue_near(gfx90a(), cases[i].typed, near, 4) > 0);
        assert_string_equal(near[0], cases[i].first);
    }
    assert_int_equal(kr_catalogue_near(gfx90a(), "SQ_WAVE", near, 0), 0);
    assert_int_equal(kr_catalogue_near(gfx90a(), "SQ_WAVE", near, 1), 1);
    assert_int_equal(kr_catalogue_near(gfx90a(), "nothing like this", near, 4), 0);
    assert_int_equal(kr_catalogue_near(gfx90a(), "", near, 4), 0);
    char endless[300];
    memset(endless, 'A', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    assert_int_equal(kr_catalogue_near(gfx90a(), endless, near, 4), 0);
}

static void check(const char *const *names, size_t count, int status, const char *message)
{
    char error[512] = "";
    assert_int_equal(kr_catalogue_check_group(gfx90a(), names, count, error, sizeof(error)), status);
    assert_string_equal(error, message);
    char cut[20] = "";
    assert_int_equal(kr_catalogue_check_group(gfx90a(), names, count, cut, sizeof(cut)), status);
    assert_int_equal(strncmp(cut, message, sizeof(cut) - 1), 0);
    assert_int_equal(kr_catalogue_check_group(gfx90a(), names, count, NULL, 0), status);
}

#define CHECK(status, message, ...)                                                                          \
    check((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),   \
          status, message)

static void test_check_group(void **state)
{
    (void)state;
    CHECK(KREPLAY_OK, "", "SQ_WAVES", "SQ_INSTS_VALU", "GRBM_COUNT", "GRBM_GUI_ACTIVE", "TCC_HIT");
    CHECK(KREPLAY_UNKNOWN_COUNTER,
          "unknown counter \"SQ_WAVE\" for gfx90a; did you mean SQ_WAVES, SQ_WAVE_CYCLES?", "SQ_INSTS_VALU",
          "SQ_WAVE");
    CHECK(KREPLAY_UNKNOWN_COUNTER, "unknown counter \"smsp__inst_executed.sum\" for gfx90a",
          "smsp__inst_executed.sum");
    CHECK(KREPLAY_NO_SLOT,
          "block GRBM has 2 counter registers, the group asks for 3: GRBM_COUNT GRBM_GUI_ACTIVE "
          "GRBM_CP_BUSY; split "
          "the group over several --pmc options",
          "GRBM_COUNT", "SQ_WAVES", "GRBM_GUI_ACTIVE", "GRBM_COUNT", "GRBM_CP_BUSY");
    // Eight fit and a ninth that is one of them takes none; nine do not fit.
    CHECK(KREPLAY_OK, "", "SQ_WAVES", "SQ_INSTS", "SQ_CYCLES", "SQ_ITEMS", "SQ_IFETCH", "SQ_INSTS_LDS",
          "SQ_INSTS_GDS", "SQC_ICACHE_REQ", "SQ_WAVES");
    CHECK(
        KREPLAY_NO_SLOT,
        "block SQ has 8 counter registers, the group asks for 9: SQ_WAVES SQ_INSTS SQ_CYCLES SQ_ITEMS "
        "SQ_IFETCH "
        "SQ_INSTS_LDS SQ_INSTS_GDS SQC_ICACHE_REQ SQ_INSTS_SALU; split the group over several --pmc options",
        "SQ_WAVES", "SQ_INSTS", "SQ_CYCLES", "SQ_ITEMS", "SQ_IFETCH", "SQ_INSTS_LDS", "SQ_INSTS_GDS",
        "SQC_ICACHE_REQ", "SQ_INSTS_SALU");
    CHECK(KREPLAY_UNSUPPORTED,
          "counter \"GPUBusy\" is derived (100*reduce(GRBM_GUI_ACTIVE,max)/reduce(GRBM_COUNT,max)): a group "
          "measures hardware counters, ask for its inputs",
          "GPUBusy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find), cmocka_unit_test(test_table),       cmocka_unit_test(test_known_facts),
        cmocka_unit_test(test_near), cmocka_unit_test(test_check_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
