// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/cubin.h"
#include "kreplay/kreplay.h"
#include "make_cubin.h"

static struct kr_cubin *parse(const struct make_cubin *wish)
{
    size_t bytes;
    unsigned char *image = make_cubin(wish, &bytes);
    struct kr_cubin *cubin = NULL;
    assert_int_equal(kr_cubin_parse(image, bytes, &cubin), 0);
    free(image); // nothing may point into it
    return cubin;
}

static void test_kernels_and_what_they_call(void **state)
{
    (void)state;
    struct kr_cubin *cubin = parse(&(struct make_cubin){
        .kernels = {"plain", "prints", "asserts", "allocates"},
        .calls = {NULL, "vprintf", "__assertfail", "malloc"},
    });
    assert_int_equal(cubin->kernel_count, 4);
    assert_null(kr_cubin_find(cubin, "plain")->calls);
    assert_string_equal(kr_cubin_find(cubin, "prints")->calls, "vprintf");
    assert_null(kr_cubin_find(cubin, "asserts")->calls);
    assert_string_equal(kr_cubin_find(cubin, "allocates")->calls, "malloc");
    assert_true(kr_cubin_find(cubin, "allocates")->heap);
    assert_false(kr_cubin_find(cubin, "prints")->heap);
    assert_null(kr_cubin_find(cubin, "absent"));
    kr_cubin_free(cubin);
}

static void test_a_function_behind_a_pointer_taints_every_kernel(void **state)
{
    (void)state;
    struct kr_cubin *cubin = parse(&(struct make_cubin){.kernels = {"plain"}, .pointer_only = "callback"});
    assert_string_equal(kr_cubin_find(cubin, "plain")->calls, "vprintf");
    kr_cubin_free(cubin);
}

static void test_variables(void **state)
{
    (void)state;
    struct kr_cubin *cubin = parse(&(struct make_cubin){
        .kernels = {"k"}, .variables = {"first", "second", "$str"}, .variable_count = 3});
    assert_int_equal(cubin->variable_count, 3);
    assert_string_equal(cubin->variables[1].name, "second");
    assert_int_equal(cubin->variables[1].bytes, 8);
    assert_false(cubin->variables[1].constant);
    assert_true(cubin->variables[2].constant);
    assert_false(cubin->managed);
    kr_cubin_free(cubin);
    cubin =
        parse(&(struct make_cubin){.kernels = {"k"}, .variables = {"m"}, .variable_count = 1, .managed = 1});
    assert_true(cubin->managed);
    kr_cubin_free(cubin);
}

static void test_damage_is_refused_or_harmless(void **state)
{
    (void)state;
    size_t bytes;
    unsigned char *image = make_cubin(&(struct make_cubin){.kernels = {"a", "b"},
                                                           .calls = {"vprintf"},
                                                           .variables = {"v"},
                                                           .variable_count = 1,
                                                           .pointer_only = "f"},
                                      &bytes);
    unsigned char *copy = malloc(bytes);
    struct kr_cubin *cubin = NULL;

    assert_int_equal(kr_cubin_parse(NULL, 100, &cubin), KREPLAY_CORRUPT);
    assert_int_equal(kr_cubin_parse(image, 10, &cubin), KREPLAY_CORRUPT);
    for (size_t cut = 0; cut < bytes; cut++) { // the section headers are at the end
        assert_int_equal(kr_cubin_parse(image, cut, &cubin), KREPLAY_CORRUPT);
        assert_null(cubin);
    }
    for (size_t i = 0; i < bytes; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, image, bytes);
            copy[i] ^= (unsigned char)(1 << bit);
            if (kr_cubin_parse(copy, bytes, &cubin) == 0)
                kr_cubin_free(cubin);
        }
    free(copy);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_and_what_they_call),
        cmocka_unit_test(test_a_function_behind_a_pointer_taints_every_kernel),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_damage_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
