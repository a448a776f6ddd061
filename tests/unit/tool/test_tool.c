// SPDX-License-Identifier: MIT
// The built-in tool from the environment to the log: which groups become passes, what is said, what is
// written, and that nothing which goes wrong keeps a program from running.
#include "log/record.h"
#include "stub_api.h"
#include "tool/process.h"
#include "tool/settings.h"
#include "tool/tool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

// ---- A run folder, and stderr caught in a file

struct fixture {
    char folder[128];  // temporary
    char run_dir[160]; // <folder>/run, not made yet
    char log[256];     // where the log will be
    int saved_stderr;
    char said[8192];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    *state = f;
    stub = (struct stub){.counters = {{"A", "B", "C", NULL}, {"A", NULL}}};
    const char *tmp = getenv("TMPDIR");
    snprintf(f->folder, sizeof(f->folder), "%s/kr_tool_XXXXXX", tmp != NULL ? tmp : "/tmp");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->run_dir, sizeof(f->run_dir), "%s/deep/run", f->folder);
    snprintf(f->log, sizeof(f->log), "%s/%d.krlog", f->run_dir, (int)getpid());
    setenv(KR_ENV_RUN_DIR, f->run_dir, 1);
    setenv(KR_ENV_RUN_ID, "4711", 1);
    unsetenv(KR_ENV_PMC);

    char path[160];
    snprintf(path, sizeof(path), "%s/stderr", f->folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    f->saved_stderr = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->saved_stderr >= 0) {
        dup2(f->saved_stderr, STDERR_FILENO);
        close(f->saved_stderr);
    }
    char command[200];
    snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

// What went to stderr so far.
static const char *said(struct fixture *f)
{
    ssize_t got = pread(STDERR_FILENO, f->said, sizeof(f->said) - 1, 0);
    f->said[got < 0 ? 0 : got] = '\0';
    return f->said;
}

static void start(const char *pmc)
{
    char error[300] = "";
    setenv(KR_ENV_PMC, pmc, 1);
    int rc = kr_tool_start("fake", error, sizeof(error));
    assert_string_equal(error, "");
    assert_int_equal(rc, KREPLAY_OK);
    assert_int_equal(stub.tool.size, sizeof(kreplay_tool));
}

static void add_agent(uint32_t id)
{
    kreplay_agent agent = {
        .size = sizeof(agent), .agent_id = id, .name = "gfx90a", .product = "", .vendor = ""};
    stub.tool.agent(stub.tool.tool, &agent);
}

static kreplay_config configure(uint32_t agent_id)
{
    kreplay_dispatch dispatch = {.size = sizeof(dispatch), .agent_id = agent_id, .kernel_name = "k"};
    kreplay_config config = {.size = sizeof(config), .dispatch = &dispatch, .pass_count = 1};
    const bool wanted = stub.tool.filter(stub.tool.tool, config.dispatch, false, &config.user_data);
    assert_true(
        stub.tool.filter(stub.tool.tool, config.dispatch, true, &config.user_data)); // by another tool
    stub.tool.config(stub.tool.tool, KREPLAY_ENTER, &config);
    kreplay_config unchanged = config;
    stub.tool.config(stub.tool.tool, KREPLAY_EXIT, &config);
    assert_memory_equal(&config, &unchanged, sizeof(config));
    assert_int_equal(config.want, wanted);
    return config;
}

// The counters that pass `index` collects, "" for none.
static const char *pass_names(uint32_t agent_id, uint32_t index)
{
    kreplay_dispatch dispatch = {.size = sizeof(dispatch), .agent_id = agent_id, .kernel_name = "k"};
    kreplay_pass pass = {.size = sizeof(pass), .dispatch = &dispatch, .current_pass = index};
    stub.tool.pass(stub.tool.tool, KREPLAY_ENTER, &pass);
    if (pass.group == NULL)
        return "";
    assert_int_equal(pass.group->agent_id, agent_id);
    return pass.group->names;
}

static void dispatch(uint32_t agent_id, uint64_t id, kreplay_outcome_kind kind)
{
    kreplay_dispatch info = {
        .size = sizeof(info), .dispatch_id = id, .agent_id = agent_id, .kernel_name = "k"};
    kreplay_outcome outcome = {.size = sizeof(outcome), .kind = kind};
    kreplay_value value = {.counter_id = 1, .value = 10 * id};
    kreplay_pass_record pass = {.size = sizeof(pass), .values = &value, .value_count = 1};
    kreplay_dispatch_record record = {.size = sizeof(record),
                                      .dispatch = &info,
                                      .window_id = id,
                                      .outcome = &outcome,
                                      .passes = &pass,
                                      .pass_count = 1};
    stub.tool.dispatch(stub.tool.tool, &record);
    assert_int_equal(outcome.reason, KREPLAY_REASON_NONE); // the engine's record stays as it is
}

static void finish(void)
{
    stub.tool.fini(stub.tool.tool);
    assert_int_equal(stub.groups_alive, 0);
}

static struct kr_log_reader *open_log(const char *path)
{
    struct kr_log_reader *reader;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    return reader;
}

// The next record of the type, which must be there.
static kr_log_record next(struct kr_log_reader *reader, enum kr_log_type type)
{
    kr_log_record record;
    do
        assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
    while (record.type != type);
    return record;
}

// ---- Starting

static void test_nothing_to_collect(void **state)
{
    struct fixture *f = *state;
    char error[300] = "";
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), KREPLAY_OK);
    setenv(KR_ENV_PMC, " , ", 1);
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), KREPLAY_OK);
    assert_int_equal(stub.tool.size, 0);
    assert_string_equal(error, "");
    assert_string_equal(said(f), "");
    assert_int_not_equal(access(f->run_dir, F_OK), 0);
}

static void check_refused(int status, const char *begin)
{
    char error[300] = "";
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), status);
    if (strncmp(error, begin, strlen(begin)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", error, begin);
    assert_int_equal(stub.tool.size, 0);
}

static void test_bad_settings(void **state)
{
    (void)state;
    setenv(KR_ENV_PMC, "A;;B", 1);
    check_refused(KREPLAY_INVALID, "counter group 2 of 3 is empty");
    setenv(KR_ENV_PMC, "A", 1);
    static const char *const bad_ids[] = {"x", "-1", "1x", " 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad_ids) / sizeof(bad_ids[0]); i++) {
        setenv(KR_ENV_RUN_ID, bad_ids[i], 1);
        check_refused(KREPLAY_INVALID, "KREPLAY_RUN_ID \"");
    }
}

static void test_unwritable_folder(void **state)
{
    struct fixture *f = *state;
    char path[400];
    setenv(KR_ENV_PMC, "A", 1);
    snprintf(path, sizeof(path), "%s/stderr/run", f->folder); // below a file
    setenv(KR_ENV_RUN_DIR, path, 1);
    check_refused(KREPLAY_IO, "cannot make the folder \"");
    snprintf(path, sizeof(path), "%s/stderr", f->folder); // a file
    setenv(KR_ENV_RUN_DIR, path, 1);
    check_refused(KREPLAY_IO, "cannot create the record log \"");
    setenv(KR_ENV_RUN_DIR, "/proc/no/where", 1);
    check_refused(KREPLAY_IO, "cannot make the folder \"/proc/no/where\": ");
}

static void test_second_tool(void **state)
{
    (void)state;
    setenv(KR_ENV_PMC, "A", 1);
    stub.register_status = KREPLAY_ALREADY_REGISTERED;
    check_refused(KREPLAY_ALREADY_REGISTERED,
                  "cannot register the counter tool: a tool is registered already");
}

// ---- Groups and passes

static void test_groups_become_passes(void **state)
{
    struct fixture *f = *state;
    start("A B;C;A C");
    add_agent(0);
    kreplay_config config = configure(0);
    assert_true(config.want);
    assert_int_equal(config.pass_count, 3);
    assert_null(config.group);
    assert_null(config.continue_fn);
    assert_string_equal(pass_names(0, 0), "A B");
    assert_string_equal(pass_names(0, 1), "C");
    assert_string_equal(pass_names(0, 2), "A C");
    assert_string_equal(pass_names(0, 3), "");
    finish();
    assert_string_equal(said(f), "");
}

static void test_one_group_is_no_replay(void **state)
{
    (void)state;
    start("B A");
    add_agent(0);
    kreplay_config config = configure(0);
    assert_true(config.want);
    assert_int_equal(config.pass_count, 1);
    assert_string_equal(config.group->names, "B A");
    finish();
}

// One dispatch: whether it is wanted at its turn; its window then takes so many milliseconds of each kind.
static bool measured_for(uint64_t milliseconds)
{
    static const kreplay_dispatch dispatch = {
        .size = sizeof(dispatch), .dispatch_id = 1, .kernel_id = 1, .kernel_name = "k"};
    kreplay_config config = {.size = sizeof(config), .dispatch = &dispatch, .pass_count = 1};
    stub.tool.filter(stub.tool.tool, &dispatch, false, &config.user_data);
    stub.tool.config(stub.tool.tool, KREPLAY_ENTER, &config);
    uint64_t ns = milliseconds * 1000000u;
    const kreplay_outcome outcome = {.size = sizeof(outcome),
                                     .live_ns = 100 * ns,
                                     .gate_ns = ns,
                                     .drain_ns = ns,
                                     .snapshot_ns = ns,
                                     .compare_ns = ns,
                                     .restore_ns = ns,
                                     .passes_ns = ns,
                                     .finish_ns = ns};
    const kreplay_dispatch_record record = {
        .size = sizeof(record), .dispatch = &dispatch, .outcome = &outcome};
    stub.tool.dispatch(stub.tool.tool, &record);
    return config.want;
}

static void test_budget(void **state)
{
    struct fixture *f = *state;
    setenv(KR_ENV_BUDGET, "1", 1);
    start("A;B");
    unsetenv(KR_ENV_BUDGET);
    add_agent(0);
    assert_true(measured_for(142)); // seven kinds of time: 0.994 s, and the program's own is not counted
    assert_true(measured_for(1));   // 1.001 s
    assert_false(measured_for(0));
    finish();
    assert_non_null(strstr(said(f), "the budget of 1 seconds is spent with dispatch 1"));
}

static void test_no_budget(void **state)
{
    (void)state;
    start("A;B");
    add_agent(0);
    assert_true(measured_for(1000000));
    assert_true(measured_for(0));
    finish();
}

// Each GPU has its own share: groups it has nothing of are skipped, so pass and group numbers differ there.
static void test_share_of_each_gpu(void **state)
{
    struct fixture *f = *state;
    start("B C;A X;C B A");
    add_agent(0);
    add_agent(1);
    assert_int_equal(configure(0).pass_count, 3);
    assert_string_equal(pass_names(0, 1), "A");
    assert_int_equal(configure(1).pass_count, 2);
    assert_string_equal(pass_names(1, 0), "A");
    assert_string_equal(pass_names(1, 1), "A");
    finish();
    assert_string_equal(said(f),
                        "kreplay: counter group 2 lacks on GPU 0 (gfx90a): X\n"
                        "kreplay: counter group 1 is skipped on GPU 1 (gfx90a), which has none of its "
                        "counters: B, C\n"
                        "kreplay: counter group 2 lacks on GPU 1 (gfx90a): X\n"
                        "kreplay: counter group 3 lacks on GPU 1 (gfx90a): C, B\n");

    struct kr_log_reader *reader = open_log(f->log);
    static const struct {
        uint32_t index, agent;
        size_t count;
        uint64_t ids[3];
    } groups[] = {
        {0, 0, 2, {2, 3}}, {1, 0, 1, {1}}, {2, 0, 3, {3, 2, 1}}, {1, 1, 1, {101}}, {2, 1, 1, {101}}};
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        kr_log_record record = next(reader, KR_LOG_GROUP);
        assert_int_equal(record.u.group.index, groups[i].index);
        assert_int_equal(record.u.group.agent_id, groups[i].agent);
        assert_int_equal(record.u.group.counter_count, groups[i].count);
        assert_memory_equal(record.u.group.counter_ids, groups[i].ids, groups[i].count * sizeof(uint64_t));
    }
    kr_log_reader_close(reader);
}

static void test_group_that_cannot_be_made(void **state)
{
    struct fixture *f = *state;
    stub.refused = "B";
    start("A B;C");
    add_agent(0);
    kreplay_config config = configure(0);
    assert_int_equal(config.pass_count, 1);
    assert_string_equal(config.group->names, "C");
    finish();
    assert_string_equal(said(f),
                        "kreplay: counter group 1 cannot be collected on GPU 0 (gfx90a): block SQ is full\n");
}

static kreplay_reason logged_reason(const char *path)
{
    struct kr_log_reader *reader = open_log(path);
    kreplay_reason reason = next(reader, KR_LOG_DISPATCH).u.dispatch.outcome.reason;
    kr_log_reader_close(reader);
    return reason;
}

// Dispatches of a GPU without any group are in the log all the same, with the reason.
static void test_nothing_on_this_gpu(void **state)
{
    struct fixture *f = *state;
    start("X;Y");
    add_agent(0);
    assert_false(configure(0).want);
    dispatch(0, 1, KREPLAY_FILTERED);
    finish();
    assert_non_null(strstr(said(f),
                           "kreplay: nothing can be collected on GPU 0 (gfx90a): its kernels run once, "
                           "without counters\n"));
    assert_int_equal(logged_reason(f->log), KREPLAY_REASON_NO_COUNTERS_FOR_AGENT);
}

static void test_counters_fail(void **state)
{
    struct fixture *f = *state;
    stub.counters_status[0] = KREPLAY_UNAVAILABLE;
    start("A");
    add_agent(0);
    assert_false(configure(0).want);
    assert_false(configure(1).want); // never heard of
    dispatch(0, 1, KREPLAY_FILTERED);
    finish();
    assert_non_null(strstr(said(f), "kreplay: GPU 0 (gfx90a) offers no counters: "));
    assert_int_equal(logged_reason(f->log), KREPLAY_REASON_COUNTERS_UNAVAILABLE);
}

// ---- The log

static void test_log_content(void **state)
{
    struct fixture *f = *state;
    start("A;B");
    add_agent(0);
    kreplay_code_object code_object = {.size = sizeof(code_object), .code_object_id = 5, .uri = "file:///x"};
    kreplay_kernel kernel = {.size = sizeof(kernel), .kernel_id = 6, .code_object_id = 5, .name = "_Z1kv"};
    stub.tool.code_object(stub.tool.tool, &code_object);
    stub.tool.kernel(stub.tool.tool, &kernel);
    stub.tool.message(stub.tool.tool, "hello");
    for (uint64_t id = 1; id <= 3; id++) {
        dispatch(0, id, KREPLAY_REPLAYED);
        // In the log before the callback is back, that is also without an end.
        struct kr_log_reader *reader = open_log(f->log);
        for (uint64_t i = 1; i <= id; i++) {
            kr_log_record record = next(reader, KR_LOG_DISPATCH);
            assert_int_equal(record.u.dispatch.dispatch.dispatch_id, i);
            assert_int_equal(record.u.dispatch.record.passes[0].values[0].value, 10 * i);
            assert_int_equal(record.u.dispatch.outcome.reason, KREPLAY_REASON_NONE);
        }
        kr_log_record record;
        assert_int_equal(kr_log_next(reader, &record), KREPLAY_END);
        kr_log_reader_close(reader);
    }
    finish();

    struct kr_log_reader *reader = open_log(f->log);
    kr_log_record record;
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_OK);
    assert_int_equal(record.type, KR_LOG_PROCESS);
    assert_int_equal(record.u.process.run_id, 4711);
    assert_int_equal(record.u.process.pid, getpid());
    assert_int_equal(record.u.process.ppid, getppid());
    assert_string_equal(record.u.process.backend, "fake");
    assert_string_equal(record.u.process.version, KREPLAY_VERSION);
    assert_non_null(strstr(record.u.process.command, "test_tool"));
    assert_true(record.u.process.start_ns > 0 && record.u.process.start_unix_ns > 0);
    record = next(reader, KR_LOG_AGENT);
    assert_string_equal(record.u.agent.name, "gfx90a");
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(next(reader, KR_LOG_COUNTER).u.counter.counter_id, id);
    assert_int_equal(next(reader, KR_LOG_GROUP).u.group.counter_ids[0], 1);
    assert_int_equal(next(reader, KR_LOG_GROUP).u.group.counter_ids[0], 2);
    assert_int_equal(next(reader, KR_LOG_CODE_OBJECT).u.code_object.code_object_id, 5);
    assert_int_equal(next(reader, KR_LOG_KERNEL).u.kernel.kernel_id, 6);
    record = next(reader, KR_LOG_MESSAGE);
    assert_string_equal(record.u.message, "hello");
    record = next(reader, KR_LOG_END);
    assert_int_equal(record.u.end.dispatches, 3);
    assert_int_equal(kr_log_next(reader, &record), KREPLAY_END);
    kr_log_reader_close(reader);
    assert_string_equal(said(f), "");
}

// After execve the pid is the same: the first program's log must stay.
static void test_second_log_of_a_pid(void **state)
{
    struct fixture *f = *state;
    unsetenv(KR_ENV_RUN_ID);
    start("A");
    finish();
    start("A");
    finish();
    char path[400];
    snprintf(path, sizeof(path), "%s/%d-2.krlog", f->run_dir, (int)getpid());
    struct kr_log_reader *first = open_log(f->log), *second = open_log(path);
    uint64_t first_id = next(first, KR_LOG_PROCESS).u.process.run_id;
    uint64_t second_id = next(second, KR_LOG_PROCESS).u.process.run_id;
    assert_true(first_id > 0 && second_id > 0);
    assert_int_equal((first_id ^ (uint64_t)getpid()) & 0x3fffff, 0);
    kr_log_reader_close(first);
    kr_log_reader_close(second);
}

// A log that cannot grow costs records, not the program; it is said once and summed up at the end.
static void test_log_is_full(void **state)
{
    struct fixture *f = *state;
    start("A");
    add_agent(0);
    struct rlimit before, tight;
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 1 << 20; // what the log has already
    setrlimit(RLIMIT_FSIZE, &tight);
    char *text = malloc((2 << 20) + 1);
    memset(text, 'x', 2 << 20);
    text[2 << 20] = '\0';
    stub.tool.message(stub.tool.tool, text);
    stub.tool.message(stub.tool.tool, text);
    free(text);
    dispatch(0, 1, KREPLAY_SINGLE); // still fits
    finish();
    setrlimit(RLIMIT_FSIZE, &before);
    assert_string_equal(said(f),
                        "kreplay: cannot write to the record log: File too large; records are being lost\n"
                        "kreplay: 2 records could not be written to the record log\n");
    assert_int_equal(logged_reason(f->log), KREPLAY_REASON_NONE);
}

static void test_quoting(void **state)
{
    (void)state;
    static const char arguments[] = "./a.out\0--x=1\0two words\0it's\0\0$HOME";
    char *quoted = kr_process_quote(arguments, sizeof(arguments));
    assert_string_equal(quoted, "./a.out --x=1 'two words' 'it'\\''s' '' '$HOME'");
    free(quoted);
    quoted = kr_process_quote("", 0);
    assert_string_equal(quoted, "");
    free(quoted);
    quoted = kr_process_quote("cut off", 3);
    assert_string_equal(quoted, "cut");
    free(quoted);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_to_collect),
        TEST(test_bad_settings),
        TEST(test_unwritable_folder),
        TEST(test_second_tool),
        TEST(test_groups_become_passes),
        TEST(test_one_group_is_no_replay),
        TEST(test_budget),
        TEST(test_no_budget),
        TEST(test_share_of_each_gpu),
        TEST(test_group_that_cannot_be_made),
        TEST(test_nothing_on_this_gpu),
        TEST(test_counters_fail),
        TEST(test_log_content),
        TEST(test_second_log_of_a_pid),
        TEST(test_log_is_full),
        TEST(test_quoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
