// SPDX-License-Identifier: MIT
// Iteration ranges, and selections held against sequences of dispatches.
#include "select/iterations.h"
#include "select/selection.h"
#include "select/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void good_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t in[4], out[3]; // 0 = no more
    } cases[] = {
        {"", {1, 2, 1000000}, {0}},
        {"  ", {1, 99}, {0}},
        {"3", {3}, {2, 4}},
        {"[3]", {3}, {1, 2, 4}},
        {"2-4", {2, 3, 4}, {1, 5}},
        {"[1, [3-4]]", {1, 3, 4}, {2, 5}},
        {"[1,2,[5-8]]", {1, 2, 5, 8}, {3, 4, 9}},
        {" [[10 - 10] , 12] ", {10, 12}, {11, 9, 13}},
        {"5-8,1", {1, 5, 8}, {2, 9}},
        {"18446744073709551615", {UINT64_MAX}, {1}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kr_iterations iterations;
        char error[200] = "";
        assert_int_equal(kr_iterations_parse(cases[i].text, &iterations, error, sizeof(error)), KREPLAY_OK);
        for (size_t j = 0; j < 4 && cases[i].in[j]; j++)
            assert_true(kr_iterations_have(&iterations, cases[i].in[j]));
        for (size_t j = 0; j < 3 && cases[i].out[j]; j++)
            assert_false(kr_iterations_have(&iterations, cases[i].out[j]));
        kr_iterations_free(&iterations);
    }
}

static void bad_ranges(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",     "x",      "1,",   ",1", "4-2",  "1-",
                                        "[1",    "1]",     "[1]2", "-3", "1..3", "[]",
                                        "1-2-3", "[1,[2]", "1 2",  "+1", "1,,2", "18446744073709551616"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct kr_iterations iterations;
        char error[200] = "";
        assert_int_equal(kr_iterations_parse(texts[i], &iterations, error, sizeof(error)), KREPLAY_INVALID);
        assert_non_null(strstr(error, texts[i]));
        assert_null(iterations.ranges);
    }
}

static void short_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"void ns::scale<float>(float*, int) [clone .kd]", "scale"},
        {"(anonymous namespace)::add(int*)", "add"},
        {"plain", "plain"},
        {"void a::b<(int)3, c<d> >::run<4u>()", "run"},
        {"<odd>", "<odd>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *name = kr_short_name(cases[i][0]);
        assert_string_equal(name, cases[i][1]);
        free(name);
    }
}

// The names of the kernels of these tests: "_Zscale" and so on; anything else cannot be demangled.
static unsigned demangled;
static char *demangle(const char *mangled, char *buffer, size_t *bytes, int *status)
{
    static const char *const names[][2] = {{"_Zscale", "void ns::scale<float>(float*, int)"},
                                           {"_Zscale2", "void ns::scale<double>(double*, int)"},
                                           {"_Zadd", "add(int*)"}};
    assert_null(buffer);
    assert_null(bytes);
    demangled++;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(mangled, names[i][0]) == 0) {
            *status = 0;
            return strdup(names[i][1]);
        }
    *status = -2;
    return NULL;
}

static struct kr_selection *make(const struct kr_selection_rules *rules)
{
    struct kr_selection *selection;
    char error[300] = "";
    assert_int_equal(kr_selection_create(rules, demangle, &selection, error, sizeof(error)), KREPLAY_OK);
    return selection;
}

// Launches the kernels in turn and compares who is measured: a letter each, '+' or '-'.
static void check(const struct kr_selection_rules *rules, const char *expected)
{
    static const char *const kernels[] = {"_Zscale", "_Zscale2", "_Zadd", "blit", "_Zbroken"};
    enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };
    struct kr_selection *selection = make(rules);
    char got[64] = "";
    for (size_t i = 0; i < strlen(expected); i++) {
        const kreplay_dispatch dispatch = {.size = sizeof(dispatch),
                                           .kernel_id = 1 + 200 * (i % KERNELS), // ids may be far apart
                                           .kernel_name = kernels[i % KERNELS]};
        got[i] = kr_selection_wants(selection, &dispatch) ? '+' : '-';
    }
    assert_string_equal(got, expected);
    kr_selection_destroy(selection);
}

static void names(void **state)
{
    (void)state;
    check(&(struct kr_selection_rules){0}, "++++++++++");
    check(&(struct kr_selection_rules){.include = "scale"}, "++---++---");
    check(&(struct kr_selection_rules){.include = "^void ns::scale<(float|int)>"}, "+----+----");
    check(&(struct kr_selection_rules){.exclude = "double|blit"}, "+-+-++-+-+");
    check(&(struct kr_selection_rules){.include = "scale", .exclude = "double"}, "+----");
    check(&(struct kr_selection_rules){.include = "_Zbroken"}, "----+"); // as it is
    check(&(struct kr_selection_rules){.name = "scale"}, "++---");
    check(&(struct kr_selection_rules){.name = "sca"}, "-----");
    check(&(struct kr_selection_rules){.name = "regex:^(sca|bl)"}, "++-+-");
    check(&(struct kr_selection_rules){.name = "add(int*)", .base = KR_NAME_DEMANGLED}, "--+--");
    check(&(struct kr_selection_rules){.name = "_Zscale", .base = KR_NAME_MANGLED}, "+----");
}

static void a_name_is_looked_at_once(void **state)
{
    (void)state;
    demangled = 0;
    check(&(struct kr_selection_rules){.include = "scale"}, "++---++---++---");
    assert_int_equal(demangled, 4); // "blit" is not mangled
}

static void counts(void **state)
{
    (void)state;
    // each kernel's own second and third launch
    check(&(struct kr_selection_rules){.iterations = "[2-3]"}, "-----++++++++++-----");
    // so many of each kernel, of the launches that its iterations select; others are skipped and counted afterwards
    check(&(struct kr_selection_rules){.most = 1}, "+++++----------");
    check(&(struct kr_selection_rules){.iterations = "2-9", .most = 1}, "-----+++++-----");
    check(&(struct kr_selection_rules){.include = "scale", .most = 2, .skip = 1}, "-+---++--------");
    // of the selected launches, in the order of the program
    check(&(struct kr_selection_rules){.skip = 3}, "---+++++++");
    check(&(struct kr_selection_rules){.count = 2}, "++--------");
    check(&(struct kr_selection_rules){.include = "scale", .skip = 1, .count = 2}, "-+---+----");
    check(&(struct kr_selection_rules){.include = "add", .iterations = "2-9", .skip = 1, .count = 1},
          "------------+-------");
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        struct kr_selection_rules rules;
        const char *text;
    } cases[] = {
        {{.include = "a("}, "--kernel-include-regex: \"a(\""},
        {{.exclude = "[a"}, "--kernel-exclude-regex: \"[a\""},
        {{.name = "regex:*("}, "--kernel-name: \"*(\""},
        {{.include = "fine", .iterations = "2-"}, "--kernel-iteration-range: \"2-\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kr_selection *selection;
        char error[300] = "";
        assert_int_equal(kr_selection_create(&cases[i].rules, NULL, &selection, error, sizeof(error)),
                         KREPLAY_INVALID);
        assert_null(selection);
        assert_non_null(strstr(error, cases[i].text));
    }
    kr_selection_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_ranges), cmocka_unit_test(bad_ranges),
        cmocka_unit_test(short_names), cmocka_unit_test(names),
        cmocka_unit_test(counts),      cmocka_unit_test(a_name_is_looked_at_once),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
