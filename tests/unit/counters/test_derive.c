// SPDX-License-Identifier: MIT
// Derived counters over a catalogue of two blocks: A with 2 registers, B with 4.
#include "counters/derive.h"
#include "kreplay/kreplay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct kr_counter_def counters[] = {
    // Sorted by name, as catalogues are.
    {"A1", "A", 1, NULL},
    {"A2", "A", 2, NULL},
    {"A3", "A", 3, NULL},
    {"B1", "B", 1, NULL},
    {"B2", "B", 2, NULL},
    {"B3", "B", 3, NULL},
    {"B4", "B", 4, NULL},
    {"DA", NULL, 0, "reduce(A1,sum)/reduce(A2,max)"},
    {"DAll", NULL, 0, "A1+A2+A3"},
    {"DB", NULL, 0, "100*reduce(B1,sum)/reduce(B2,sum)"},
    {"DLevel", NULL, 0, "reduce(accumulate(B1, HIGH_RES),sum)"},
    {"DMixed", NULL, 0, "A3/B4"},
    {"DNested", NULL, 0, "DB*2"},
    {"DUnknown", NULL, 0, "A1*no_such_thing"},
    {"SQ_ACCUM_PREV_HIRES", "B", 9, NULL},
};
static const struct kr_block_def blocks[] = {{"A", 2}, {"B", 4}};
static const struct kr_catalogue catalogue = {.arch = "test",
                                              .counters = counters,
                                              .counter_count = sizeof(counters) / sizeof(counters[0]),
                                              .blocks = blocks,
                                              .block_count = 2};

// Passes as `;` separates them, how many each group became as digits, and the two lists of names.
static void check(const char *text, bool split, const char *measured_expected, const char *passes,
                  const char *derived, const char *inputs)
{
    struct kr_groups asked, wanted;
    struct kr_measured measured;
    char error[200];
    assert_int_equal(kr_groups_parse(text, &asked, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_groups_parse(measured_expected, &wanted, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_measured_make(&asked, &catalogue, split, &measured, error, sizeof(error)),
                     KREPLAY_OK);
    for (size_t g = 0; g < asked.count; g++)
        assert_int_equal(measured.passes[g], passes[g] - '0');
    assert_int_equal(measured.groups.count, wanted.count);
    for (size_t g = 0; g < wanted.count; g++) {
        assert_int_equal(measured.groups.groups[g].count, wanted.groups[g].count);
        for (size_t i = 0; i < wanted.groups[g].count; i++)
            assert_string_equal(measured.groups.groups[g].names[i], wanted.groups[g].names[i]);
    }
    assert_string_equal(measured.derived, derived);
    assert_string_equal(measured.inputs, inputs);
    kr_measured_free(&measured);
    kr_groups_free(&asked);
    kr_groups_free(&wanted);
}

static void check_error(const char *text, int status, const char *expected)
{
    struct kr_groups asked;
    struct kr_measured measured;
    char error[200];
    assert_int_equal(kr_groups_parse(text, &asked, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_measured_make(&asked, &catalogue, true, &measured, error, sizeof(error)), status);
    assert_string_equal(error, expected);
    assert_null(measured.derived);
    kr_groups_free(&asked);
}

static void inputs_take_the_place_of_derived_counters(void **state)
{
    (void)state;
    check("DA", true, "A1 A2", "1", "DA", "A1 A2");
    check("A2 DA", true, "A2 A1", "1", "DA", "A1");     // one of them was asked for
    check("DA;A1", true, "A1 A2;A1", "11", "DA", "A2"); // in another group
    check("DNested DB", true, "B1 B2", "1", "DNested DB", "B1 B2");
    check("DA;DA", true, "A1 A2;A1 A2", "11", "DA", "A1 A2");
}

static void groups_without_derived_counters_are_as_ever(void **state)
{
    (void)state;
    check("", true, "", "", "", "");
    check("A1 A2 A3;B1", true, "A1 A2;A3;B1", "21", "", "");
    check("A1 A2 A3;B1", false, "A1 A2 A3;B1", "11", "", "");
    check("A1 X;DA", true, "A1 X;A1 A2", "11", "DA", "A2"); // what is unknown is kept for the check to name
}

static void inputs_of_one_counter_stay_together(void **state)
{
    (void)state;
    // A3 is taken, so neither A1 nor A2 goes beside it alone; the others fill up both passes.
    check("A3 DA B1", true, "A3 B1;A1 A2", "2", "DA", "A1 A2");
    check("DMixed DA DB", true, "A3 B4 B1 B2;A1 A2", "2", "DMixed DA DB", "A3 B4 A1 A2 B1 B2");
    check("DMixed DA", false, "A3 B4 A1 A2", "1", "DMixed DA", "A3 B4 A1 A2");
    // Three of a block of two registers: they cannot.
    check("DAll", true, "A1 A2;A3", "2", "DAll", "A1 A2 A3");
}

static void what_cannot_be_measured_is_named(void **state)
{
    (void)state;
    check_error("A1 DLevel", KREPLAY_UNSUPPORTED,
                "derived counter DLevel is not supported yet: the hardware has to accumulate B1 over time");
    check_error("DUnknown", KREPLAY_INVALID,
                "derived counter DUnknown: \"no_such_thing\" is neither a counter of test nor a property");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_take_the_place_of_derived_counters),
        cmocka_unit_test(groups_without_derived_counters_are_as_ever),
        cmocka_unit_test(inputs_of_one_counter_stay_together),
        cmocka_unit_test(what_cannot_be_measured_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
