// SPDX-License-Identifier: MIT
// Groups over a catalogue of two blocks: A with 2 registers, B with 4.
#include "counters/split.h"
#include "kreplay/kreplay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct kr_counter_def counters[] = {
    {"A1", "A", 1, NULL}, {"A2", "A", 2, NULL}, {"A3", "A", 3, NULL},    {"A4", "A", 4, NULL},
    {"A5", "A", 5, NULL}, {"B1", "B", 1, NULL}, {"B2", "B", 2, NULL},    {"B3", "B", 3, NULL},
    {"B4", "B", 4, NULL}, {"B5", "B", 5, NULL}, {"D", NULL, 0, "A1/B1"},
};
static const struct kr_block_def blocks[] = {{"A", 2}, {"B", 4}};
static const struct kr_catalogue catalogue = {.arch = "test",
                                              .counters = counters,
                                              .counter_count = sizeof(counters) / sizeof(counters[0]),
                                              .blocks = blocks,
                                              .block_count = 2};

// `expected` as kr_groups_parse() reads it; passes of each group as digits.
static void check(const char *text, const char *expected, const char *passes_expected)
{
    struct kr_groups groups, split, wanted;
    char error[200];
    size_t passes[8] = {0};
    assert_int_equal(kr_groups_parse(text, &groups, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_groups_parse(expected, &wanted, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_groups_split(&groups, &catalogue, &split, passes), KREPLAY_OK);
    for (size_t g = 0; g < groups.count; g++)
        assert_int_equal(passes[g], passes_expected[g] - '0');
    assert_int_equal(split.count, wanted.count);
    for (size_t g = 0; g < split.count; g++) {
        assert_int_equal(split.groups[g].count, wanted.groups[g].count);
        for (size_t i = 0; i < split.groups[g].count; i++)
            assert_string_equal(split.groups[g].names[i], wanted.groups[g].names[i]);
    }
    kr_groups_free(&groups);
    kr_groups_free(&split);
    kr_groups_free(&wanted);
}

static void what_fits_stays(void **state)
{
    (void)state;
    check("", "", "");
    check("A1", "A1", "1");
    check("B4 A2 B1 A1 B2 B3;A1", "B4 A2 B1 A1 B2 B3;A1", "11");
}

static void what_does_not_becomes_the_fewest(void **state)
{
    (void)state;
    check("A1 A2 A3", "A1 A2;A3", "2");
    check("A1 A2 A3 A4 A5", "A1 A2;A3 A4;A5", "3");
    check("B1 B2 B3 B4 B5", "B1 B2 B3;B4 B5", "2");                   // evenly: room for one more in both
    check("A1 B1 A2 B2 A3 B3 A4 B4", "A1 B1 A2 B2 B3 B4;A3 A4", "2"); // B fits: it stays together
    check("B1;A1 A2 A3;B2", "B1;A1 A2;A3;B2", "121");
}

static void what_is_unknown_is_kept(void **state)
{
    (void)state;
    check("A1 X A2 D A3", "A1 X A2 D;A3", "2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays),
        cmocka_unit_test(what_does_not_becomes_the_fewest),
        cmocka_unit_test(what_is_unknown_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
