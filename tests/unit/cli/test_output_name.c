// SPDX-License-Identifier: MIT
// Names of output files: every placeholder, in every form.
#include "cli/output_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char *program[] = {"./bin/my_app", "--size=4", "../data/in.txt", NULL};

static void check(const char *directory, const char *file, unsigned pass, const char *expected)
{
    const struct kr_output_place place = {
        .directory = directory, .file = file, .program = program, .pid = 4242, .pass = pass};
    char *prefix = kr_output_prefix(&place);
    assert_non_null(prefix);
    assert_string_equal(prefix, expected);
    free(prefix);
}

static void clear_launchers(void)
{
    static const char *const names[] = {"PBS_TASKNUM",
                                        "PBS_NP",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "MV2_COMM_WORLD_RANK",
                                        "MV2_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "MPI_RANK",
                                        "MPI_SIZE",
                                        "SLURM_JOB_ID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

static void nothing_given(void **state)
{
    (void)state;
    char host[256] = "", expected[300];
    gethostname(host, sizeof(host) - 1);
    snprintf(expected, sizeof(expected), "./%s/4242", host);
    check(NULL, NULL, 0, expected);
    snprintf(expected, sizeof(expected), "./pass_3/%s/4242", host);
    check(NULL, NULL, 3, expected);
}

static void directory_pass_and_file(void **state)
{
    (void)state;
    check("D", "/abs/out", 0, "/abs/out");
    check(NULL, "/abs/out", 2, "/abs/pass_2/out");
    check(NULL, "/out", 1, "/pass_1/out");
    check("D", "out", 0, "D/out");
    check("D", "out", 2, "D/pass_2/out");
    check("D-%pid%", "sub/out", 1, "D-4242/pass_1/sub/out");
}

static void words_of_the_program(void **state)
{
    (void)state;
    check("D", "%tag%", 0, "D/my_app");
    check("D", "%argv%", 0, "D/bin_my_app_--size=4_data_in.txt");
    check("D", "%argt%", 0, "D/my_app_--size=4_data_in.txt");
    check("D", "%args%", 0, "D/--size=4_data_in.txt");
    check("D", "%arg0%|%arg1%|%arg2%|%arg3%", 0, "D/bin_my_app|--size=4|data_in.txt|");
}

static void processes_and_machine(void **state)
{
    (void)state;
    char expected[4400], cwd[4096];
    snprintf(expected, sizeof(expected), "D/4242 4242 %d %d %d 1", (int)getpid(), (int)getpgrp(),
             (int)getsid(0));
    check("D", "%pid% %p %ppid% %pgid% %psid% %psize%", 0, expected);
    assert_non_null(getcwd(cwd, sizeof(cwd)));
    snprintf(expected, sizeof(expected), "%s/x", cwd);
    check("%cwd%", "x", 0, expected);
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    snprintf(expected, sizeof(expected), "D/%s-%s", host, host);
    check("D", "%h-{hostname}", 0, expected);
}

static void ranks(void **state)
{
    (void)state;
    clear_launchers();
    check("D", "%job% %j %rank% %r %size% %s %nid%", 0, "D/0 0 0 0 1 1 4242");
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
    setenv("SLURM_JOB_ID", "99", 1);
    check("D", "%job% %j %rank% %r %size% %s %nid%", 0, "D/99 99 3 3 8 8 3");
    setenv("SLURM_PROCID", "5", 1); // asked for first
    check("D", "{rank}-{nid}", 0, "D/5-5");
    clear_launchers();
}

static void times_follow_their_formats(void **state)
{
    (void)state;
    setenv("ROCPROF_DATE_FORMAT", "day", 1);
    setenv("ROCPROF_TIME_FORMAT", "hour", 1);
    check("D", "%launch_date%_%launch_time%", 0, "D/day_hour");
    unsetenv("ROCPROF_DATE_FORMAT");
    unsetenv("ROCPROF_TIME_FORMAT");
    const struct kr_output_place place = {.directory = "D", .file = "%launch_time%", .program = program};
    char *prefix = kr_output_prefix(&place);
    int year, month, day, hour, minute;
    assert_int_equal(sscanf(prefix, "D/%d-%d-%d_%d.%d", &year, &month, &day, &hour, &minute), 5);
    free(prefix);
}

static void variables(void **state)
{
    (void)state;
    setenv("KR_TEST_NAME", "v", 1);
    unsetenv("KR_TEST_NONE");
    check("D", "%env{KR_TEST_NAME}% $ENV{KR_TEST_NAME} %q{KR_TEST_NAME} $env{KR_TEST_NAME}", 0, "D/v v v v");
    check("D", "[%env{KR_TEST_NONE}%]", 0, "D/[]");
    check("$ENV{KR_TEST_NAME}", "x", 0, "v/x");
}

static void braces(void **state)
{
    (void)state;
    check("D", "{tag}_{pid}_{arg1}", 0, "D/my_app_4242_--size=4");
}

static void what_is_no_placeholder_stays(void **state)
{
    (void)state;
    check("D", "100% {x} %unknown% $HOME %env{open %", 0, "D/100% {x} %unknown% $HOME %env{open %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given),
        cmocka_unit_test(directory_pass_and_file),
        cmocka_unit_test(words_of_the_program),
        cmocka_unit_test(processes_and_machine),
        cmocka_unit_test(ranks),
        cmocka_unit_test(times_follow_their_formats),
        cmocka_unit_test(variables),
        cmocka_unit_test(braces),
        cmocka_unit_test(what_is_no_placeholder_stays),
    };
    return cmocka_run_group_tests_name("output names", tests, NULL, NULL);
}
