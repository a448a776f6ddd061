// SPDX-License-Identifier: MIT
// The syntax of counter groups.
#include "counters/groups.h"
#include "kreplay/kreplay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

// What was understood, as "A B|C".
static void check_parse(const char *text, const char *expected)
{
    struct kr_groups groups;
    char error[200] = "untouched", got[200] = "";
    assert_int_equal(kr_groups_parse(text, &groups, error, sizeof(error)), KREPLAY_OK);
    assert_string_equal(error, "untouched");
    for (size_t i = 0; i < groups.count; i++)
        for (size_t j = 0; j < groups.groups[i].count; j++) {
            strcat(got, j != 0 ? " " : i != 0 ? "|" : "");
            strcat(got, groups.groups[i].names[j]);
        }
    assert_string_equal(got, expected);
    kr_groups_free(&groups);
    assert_int_equal(groups.count, 0);
}

static void test_parse(void **state)
{
    (void)state;
    check_parse("", "");
    check_parse(" \t\n,", "");
    check_parse("SQ_WAVES", "SQ_WAVES");
    check_parse("A B,C , D", "A B C D");
    check_parse(" A B ; C;D E ", "A B|C|D E");
    check_parse("A;A B", "A|A B");
    check_parse("A B A,B A", "A B");
    check_parse("a;b;c;d;e;f;g;h", "a|b|c|d|e|f|g|h");
    check_parse("_x1", "_x1");
}

static void check_error(const char *text, int status, const char *message)
{
    struct kr_groups groups;
    char error[200] = "";
    assert_int_equal(kr_groups_parse(text, &groups, error, sizeof(error)), status);
    assert_string_equal(error, message);
    assert_int_equal(groups.count, 0);
    assert_null(groups.storage);
}

static void test_errors(void **state)
{
    (void)state;
    check_error(";", KREPLAY_INVALID, "counter group 1 of 2 is empty");
    check_error("A;", KREPLAY_INVALID, "counter group 2 of 2 is empty");
    check_error("A; , ;B", KREPLAY_INVALID, "counter group 2 of 3 is empty");
    check_error("A;SQ-WAVES", KREPLAY_INVALID, "\"SQ-WAVES\" is not a counter name");
    check_error("1A", KREPLAY_INVALID, "\"1A\" is not a counter name");
    check_error("A\xc3\xa4", KREPLAY_INVALID, "\"A\xc3\xa4\" is not a counter name");
    check_error(":device=0", KREPLAY_INVALID, "\":device=0\" is not a counter name");
    check_error("A SQ_WAVES:device=0", KREPLAY_UNSUPPORTED,
                "counter \"SQ_WAVES:device=0\": the qualifier \":device=0\" is not supported yet");
}

static void test_repeat(void **state)
{
    (void)state;
    struct kr_groups groups;
    char error[200];
    assert_int_equal(kr_groups_parse("A B;C", &groups, error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(kr_groups_repeat(&groups, 3), KREPLAY_OK);
    assert_int_equal(groups.count, 6);
    for (size_t i = 0; i < groups.count; i++) {
        assert_int_equal(groups.groups[i].count, i % 2 == 0 ? 2 : 1);
        assert_string_equal(groups.groups[i].names[0], i % 2 == 0 ? "A" : "C");
    }
    kr_groups_free(&groups);
    assert_int_equal(kr_groups_repeat(&groups, 3), KREPLAY_OK);
    assert_int_equal(groups.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_repeat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
