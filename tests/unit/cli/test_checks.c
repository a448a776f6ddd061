// SPDX-License-Identifier: MIT
// What is checked before a start, names of files, and starting and ending a program.
#include "cli/checks.h"
#include "cli/gpu_watch.h"
#include "cli/launch.h"
#include "cli/output_name.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/kr-cli-XXXXXX";
static char error[512];

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void architectures_come_from_the_topology(void **state)
{
    (void)state;
    struct kr_arches arches;
    kr_read_arches("topology", &arches);
    assert_int_equal(arches.count, 0);
    static const unsigned versions[] = {0, 90010, 90010, 110000, 90402, 100301};
    mkdir("topology", 0777);
    mkdir("topology/nodes", 0777);
    for (unsigned i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        char path[64], text[128];
        snprintf(path, sizeof(path), "topology/nodes/%u", i);
        mkdir(path, 0777);
        snprintf(path, sizeof(path), "topology/nodes/%u/properties", i);
        snprintf(text, sizeof(text),
                 "cpu_cores_count 0\nsimd_count 440\ngfx_target_version %u\nvendor_id 4098\n", versions[i]);
        write_file(path, text);
    }
    kr_read_arches("topology", &arches);
    static const char *const expected[] = {"gfx90a", "gfx1100", "gfx942", "gfx1031"};
    assert_int_equal(arches.count, 4);
    for (size_t i = 0; i < arches.count; i++)
        assert_string_equal(arches.names[i], expected[i]);
}

static void check_groups(const char *text, const char *arch, int expected)
{
    struct kr_groups groups;
    struct kr_arches arches = {.count = 1};
    snprintf(arches.names[0], sizeof(arches.names[0]), "%s", arch);
    assert_int_equal(kr_groups_parse(text, &groups, error, sizeof(error)), 0);
    error[0] = '\0';
    assert_int_equal(kr_check_groups(&groups, &arches, error, sizeof(error)), expected);
    assert_null(strchr(error, '\n'));
    kr_groups_free(&groups);
}

static void counters_must_exist_and_fit(void **state)
{
    (void)state;
    check_groups("SQ_WAVES GRBM_COUNT;SQ_INSTS_VALU", "gfx90a", 0);
    check_groups("SQ_WAVES;SQ_WAVEZ", "gfx90a", -1);
    assert_non_null(strstr(error, "SQ_WAVEZ"));
    assert_non_null(strstr(error, "SQ_WAVES"));
    check_groups("GRBM_COUNT GRBM_GUI_ACTIVE GRBM_CP_BUSY", "gfx90a", -1);
    assert_non_null(strstr(error, "GRBM"));
    assert_non_null(strstr(error, "2"));
    assert_non_null(strstr(error, "GRBM_CP_BUSY"));
    check_groups("SQ_WAVES", "gfx1", -1);
    assert_string_equal(error, "no counter catalogue for gfx1; there is one for gfx90a");
}

static void a_gpu_without_the_counter_does_not_stop_the_others(void **state)
{
    (void)state;
    struct kr_groups groups;
    struct kr_arches arches = {.names = {"gfx1", "gfx90a"}, .count = 2};
    assert_int_equal(kr_groups_parse("SQ_WAVES", &groups, error, sizeof(error)), 0);
    assert_int_equal(kr_check_groups(&groups, &arches, error, sizeof(error)), 0);
    kr_groups_free(&groups);
}

static void the_software_gpu_says_what_it_models(void **state)
{
    (void)state;
    struct kr_groups groups;
    write_file("counters.tsv", "# SQ_BUSY_CYCLES is not here\nSQ_WAVES\tSQ\t4\nSQ_WAVES_X\tSQ\t5\n");
    assert_int_equal(kr_groups_parse("SQ_WAVES", &groups, error, sizeof(error)), 0);
    assert_int_equal(kr_check_modelled(&groups, "counters.tsv", error, sizeof(error)), 0);
    kr_groups_free(&groups);
    assert_int_equal(kr_groups_parse("SQ_WAVES SQ_BUSY_CYCLES", &groups, error, sizeof(error)), 0);
    assert_int_equal(kr_check_modelled(&groups, "counters.tsv", error, sizeof(error)), -1);
    static const char text[] =
        "counter SQ_BUSY_CYCLES exists on gfx90a but is not modelled by the software GPU";
    assert_memory_equal(error, text, strlen(text));
    assert_int_equal(kr_check_modelled(&groups, "no.tsv", error, sizeof(error)), -1);
    kr_groups_free(&groups);
}

static void programs_are_found_as_a_shell_does(void **state)
{
    (void)state;
    char *path;
    assert_int_equal(kr_find_program("sh", &path, error, sizeof(error)), 0);
    assert_int_equal(path[0], '/');
    free(path);
    assert_int_equal(kr_find_program("/bin/sh", &path, error, sizeof(error)), 0);
    assert_string_equal(path, "/bin/sh");
    free(path);
    static const struct {
        const char *name, *error;
    } wrong[] = {
        {"no-such-program", "program no-such-program not found in PATH"},
        {"./no-such-program", "program ./no-such-program not found"},
        {"/tmp", "program /tmp is not a file that can be run"},
        {"", "program  not found in PATH"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(kr_find_program(wrong[i].name, &path, error, sizeof(error)), -1);
        assert_string_equal(error, wrong[i].error);
    }
}

static void elf_needs(void **state)
{
    (void)state;
    assert_int_equal(kr_elf_needs("/proc/self/exe", "libc.so.6"), 1);
    assert_int_equal(kr_elf_needs("/proc/self/exe", "libhsakmt.so.1"), 0);
    assert_int_equal(kr_elf_needs("no-such-file", "libc.so.6"), -1);
    write_file("no-elf", "\177ELF and nothing that follows");
    assert_int_equal(kr_elf_needs("no-elf", "libc.so.6"), -1);
}

static void elf_needs_survives_any_cut(void **state)
{
    (void)state;
    // Every length of the headers and some beyond: the dynamic section lies behind all of them, so nothing
    // can be known.
    static char data[8192];
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    assert_int_equal(fread(data, 1, sizeof(data), file), sizeof(data));
    fclose(file);
    for (size_t length = 0; length < sizeof(data); length += length < 1024 ? 1 : 509) {
        file = fopen("cut", "wb");
        fwrite(data, 1, length, file);
        fclose(file);
        assert_int_equal(kr_elf_needs("cut", "libc.so.6"), -1);
    }
}

static void folders_are_made_or_refused(void **state)
{
    (void)state;
    assert_int_equal(kr_output_prepare("a/b/c/out", error, sizeof(error)), 0);
    assert_int_equal(access("a/b/c", W_OK), 0);
    assert_int_equal(kr_output_prepare("a/b/c/out", error, sizeof(error)), 0);
    write_file("plain", "");
    assert_int_equal(kr_output_prepare("plain/out", error, sizeof(error)), -1);
    assert_string_equal(error, "cannot write to folder plain: Not a directory");
    assert_int_equal(kr_output_prepare("/proc/kr/out", error, sizeof(error)), -1);
    assert_non_null(strstr(error, "/proc/kr"));
}

// ---- Starting

// The wait status of a program that was started.
static int wait_for(struct kr_launch *launch, struct kr_gpu_watch *watch)
{
    int status = 0;
    assert_int_equal(kr_launch_wait(launch, watch, &status), 0);
    return status;
}

static int launch_and_wait(const char *script, const char *value)
{
    struct kr_launch launch;
    char *argv[] = {"sh", "-c", (char *)(uintptr_t)script, NULL};
    assert_int_equal(kr_launch_prepare(&launch, "/bin/sh", argv), 0);
    if (value)
        assert_int_equal(kr_launch_setenv(&launch, "KR_TEST_VALUE", value), 0);
    assert_int_equal(kr_launch_start(&launch), 0);
    return wait_for(&launch, NULL);
}

static void a_program_gets_its_environment_and_gives_its_status(void **state)
{
    (void)state;
    assert_int_equal(WEXITSTATUS(launch_and_wait("test \"$KR_TEST_VALUE\" = 'a  b;c' && exit 5", "a  b;c")),
                     5);
    int status = launch_and_wait("kill -TERM $$", NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    // signals are not held back in it
    assert_int_equal(WEXITSTATUS(launch_and_wait("trap 'exit 9' TERM; kill -TERM $$; exit 1", NULL)), 9);
}

static void a_cancelled_program_never_runs(void **state)
{
    (void)state;
    struct kr_launch launch;
    char *argv[] = {"touch", "touched", NULL};
    assert_int_equal(kr_launch_prepare(&launch, "/usr/bin/touch", argv), 0);
    assert_int_equal(kr_launch_setenv(&launch, "A", "B"), 0);
    kr_launch_cancel(&launch);
    assert_int_not_equal(access("touched", F_OK), 0);
    assert_int_equal(waitpid(launch.pid, NULL, 0), -1);
}

static void a_program_that_is_none_is_reported(void **state)
{
    (void)state;
    struct kr_launch launch;
    char *argv[] = {"data", NULL};
    write_file("data", "neither ELF nor script\n");
    chmod("data", 0755);
    assert_int_equal(kr_launch_prepare(&launch, "./data", argv), 0);
    errno = 0;
    assert_int_equal(kr_launch_start(&launch), -1);
    assert_int_equal(errno, ENOEXEC);
}

static void signals_are_passed_on(void **state)
{
    (void)state;
    struct kr_launch launch;
    // The program signals its parent, which hands it back.
    char *argv[] = {"sh", "-c", "trap 'exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done", NULL};
    assert_int_equal(kr_launch_prepare(&launch, "/bin/sh", argv), 0);
    assert_int_equal(kr_launch_start(&launch), 0);
    assert_int_equal(WEXITSTATUS(wait_for(&launch, NULL)), 3);
}

static void a_status_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct kr_launch launch;
    char *argv[] = {"true", NULL};
    int status = -1;
    assert_int_equal(kr_launch_prepare(&launch, "/bin/true", argv), 0);
    assert_int_equal(kr_launch_start(&launch), 0);
    assert_int_equal(waitpid(launch.pid, NULL, 0), launch.pid); // somebody else took it
    errno = 0;
    assert_int_equal(kr_launch_wait(&launch, NULL, &status), -1);
    assert_int_equal(errno, ECHILD);
}

static void an_inherited_ignored_sigchld_does_no_harm(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    assert_int_equal(WEXITSTATUS(launch_and_wait("exit 7", NULL)), 7);
    assert_true(signal(SIGCHLD, before) == SIG_IGN); // as it was
}

// ---- Use of a GPU

static bool watched_use(const char *script, bool foreign)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/kfd", folder);
    write_file(path, "");
    struct kr_gpu_watch watch;
    struct kr_launch launch;
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    assert_int_equal(kr_launch_prepare(&launch, "/bin/sh", argv), 0);
    assert_int_equal(kr_launch_setenv(&launch, "KREPLAY_RUN_ID", "123"), 0);
    kr_gpu_watch_start(&watch, path, 123);
    assert_true(watch.watched);
    pid_t other = foreign ? fork() : 0;
    if (foreign && other == 0) {
        execl("/bin/sh", "sh", "-c", "exec 5<kfd; sleep 0.3", NULL);
        _exit(127);
    }
    assert_int_equal(kr_launch_start(&launch), 0);
    wait_for(&launch, &watch);
    kr_gpu_watch_stop(&watch);
    if (foreign)
        assert_int_equal(waitpid(other, NULL, 0), other);
    return watch.used;
}

static void the_use_of_a_gpu_is_noticed(void **state)
{
    (void)state;
    assert_true(watched_use("exec 5<kfd; sleep 0.3", false));
    assert_true(watched_use("env -i sh -c 'exec 5<kfd; sleep 0.3'", false)); // told by descent
    assert_true(watched_use("(exec 5<kfd; sleep 0.3) & sleep 0.3", false));  // a child's use
    assert_false(watched_use("sleep 0.3", true));                            // somebody else's
    struct kr_gpu_watch watch;
    kr_gpu_watch_start(&watch, "/no/such/device", 123);
    assert_false(watch.watched);
    kr_gpu_watch_read(&watch);
    assert_false(watch.used);
    kr_gpu_watch_stop(&watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(architectures_come_from_the_topology),
        cmocka_unit_test(counters_must_exist_and_fit),
        cmocka_unit_test(a_gpu_without_the_counter_does_not_stop_the_others),
        cmocka_unit_test(the_software_gpu_says_what_it_models),
        cmocka_unit_test(programs_are_found_as_a_shell_does),
        cmocka_unit_test(elf_needs),
        cmocka_unit_test(elf_needs_survives_any_cut),
        cmocka_unit_test(folders_are_made_or_refused),
        cmocka_unit_test(a_program_gets_its_environment_and_gives_its_status),
        cmocka_unit_test(a_cancelled_program_never_runs),
        cmocka_unit_test(a_program_that_is_none_is_reported),
        cmocka_unit_test(signals_are_passed_on),
        cmocka_unit_test(a_status_that_is_gone_is_an_error),
        cmocka_unit_test(an_inherited_ignored_sigchld_does_no_harm),
        cmocka_unit_test(the_use_of_a_gpu_is_noticed),
    };
    return cmocka_run_group_tests_name("cli", tests, set_up, tear_down);
}
