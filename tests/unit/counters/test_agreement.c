// SPDX-License-Identifier: MIT
// Tolerances of counters, and the edges of the band.
#include "counters/agreement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool agree(const char *name, uint64_t a, uint64_t b)
{
    const struct kr_counter_sum x = {.whole = a}, y = {.whole = b};
    bool one = kr_counter_agrees(kr_counter_tolerance(name), &x, &y);
    assert_int_equal(one, kr_counter_agrees(kr_counter_tolerance(name), &y, &x)); // the order is nothing
    return one;
}

static void exact(void **state)
{
    (void)state;
    assert_true(agree("SQ_WAVES", 512, 512));
    assert_false(agree("SQ_WAVES", 512, 513));
    assert_false(agree("SQ_INSTS_VALU", 1000000, 1000001));
    assert_false(agree("SQ_INSTS_LDS", 0, 1));
    // Beyond the whole numbers that a double can tell apart.
    assert_false(agree("SQ_WAVES", (UINT64_C(1) << 60) + 1, UINT64_C(1) << 60));
}

static void band(void **state)
{
    (void)state;
    assert_true(agree("GRBM_COUNT", 1000, 1100));
    assert_false(agree("GRBM_COUNT", 1000, 1101));
    assert_true(agree("GRBM_COUNT", 0, 0));
    assert_false(agree("GRBM_COUNT", 0, 1));
    assert_true(agree("SQ_WAVES_SAVED", 100, 105)); // not work of the program's
    assert_true(agree("SQ_BUSY_CYCLES", 100, 109));
}

static void real(void **state)
{
    (void)state;
    const struct kr_counter_sum a = {.real = 0.5}, b = {.real = 0.54}, c = {.real = 0.56};
    assert_true(kr_counter_agrees(0.1, &a, &b));
    assert_false(kr_counter_agrees(0.1, &a, &c));
    assert_false(kr_counter_agrees(0, &a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),
        cmocka_unit_test(band),
        cmocka_unit_test(real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
