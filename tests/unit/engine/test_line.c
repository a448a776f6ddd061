// SPDX-License-Identifier: MIT
// A line on standard error: its form, its length, one write, and who asks for which level.
#include "engine/line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// Each write becomes one message, so that two of them for one line are seen.
static void check(const char *text, const char *expected)
{
    int ends[2];
    char got[4 * KR_LINE_BYTES];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    errno = EDOM;
    kr_line(ends[0], text);
    assert_int_equal(errno, EDOM);
    close(ends[0]);
    ssize_t bytes = read(ends[1], got, sizeof(got) - 1);
    assert_true(bytes > 0);
    got[bytes] = '\0';
    assert_string_equal(got, expected);
    assert_int_equal(read(ends[1], got, sizeof(got)), 0);
    close(ends[1]);
}

static void line_has_prefix_and_newline(void **state)
{
    (void)state;
    check("100 % of it", "kreplay: 100 % of it\n");
    check("", "kreplay: \n");
}

static void long_line_is_cut_before_its_newline(void **state)
{
    (void)state;
    char text[2 * KR_LINE_BYTES] = "", expected[KR_LINE_BYTES] = "kreplay: ";
    memset(text, 'x', sizeof(text) - 1);
    memset(expected + 9, 'x', sizeof(expected) - 9 - 2);
    expected[sizeof(expected) - 2] = '\n';
    check(text, expected);
    text[KR_LINE_BYTES - 9 - 2] = '\0'; // the longest that fits
    check(text, expected);
}

static void errno_survives_a_closed_output(void **state)
{
    (void)state;
    errno = EDOM;
    kr_line(-1, "nobody hears this");
    assert_int_equal(errno, EDOM);
}

static void level_comes_from_the_environment(void **state)
{
    (void)state;
    unsetenv(KR_ENV_LOG_LEVEL);
    assert_int_equal(kr_level_asked(), KR_LEVEL_WARNING);
    setenv(KR_ENV_LOG_LEVEL, "fatal", 1);
    assert_int_equal(kr_level_asked(), KR_LEVEL_FATAL);
    setenv(KR_ENV_LOG_LEVEL, "loud", 1);
    assert_int_equal(kr_level_asked(), KR_LEVEL_WARNING);
    unsetenv(KR_ENV_LOG_LEVEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_has_prefix_and_newline),
        cmocka_unit_test(long_line_is_cut_before_its_newline),
        cmocka_unit_test(errno_survives_a_closed_output),
        cmocka_unit_test(level_comes_from_the_environment),
    };
    return cmocka_run_group_tests_name("line", tests, NULL, NULL);
}
