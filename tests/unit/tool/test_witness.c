// SPDX-License-Identifier: MIT
// The witness on the real engine over the fake GPU, which has two counter registers: to which groups it is
// added, and that passes which disagree are noticed.
#include "fake/fake.h"
#include "log/record.h"
#include "tool/settings.h"
#include "tool/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST_GROUPS = 4 };

// One run of one dispatch.
struct run {
    const char *groups, *witness; // settings; witness NULL = unset
    unsigned wrong_pass;          // counts one instruction more; 0 = none
    unsigned extra_reads;         // of the wrong pass
    // What the log says.
    uint64_t witness_ids[MOST_GROUPS];
    size_t group_count, value_counts[MOST_GROUPS];
    kreplay_outcome outcome;
    unsigned messages;
    char message[300];
};

static struct run *running;

static void kernel(void *arg, struct kr_fake_exec *exec)
{
    (void)arg;
    bool wrong =
        running->wrong_pass != 0 && (exec->execution - 1) % running->group_count == running->wrong_pass;
    exec->reads += 100 + (wrong ? running->extra_reads : 0);
    exec->writes += 4;
    exec->work += 7 + wrong;
}

static void run_program(struct run *run)
{
    char error[300] = "";
    struct kr_fake_options options = {.flags = KR_BACKEND_LIVE_IS_PASS0};
    struct kr_fake *fake = kr_fake_create(&options);
    assert_non_null(fake);
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), KREPLAY_OK);
    running = run;
    struct kr_fake_op mine = {.run = kernel};
    struct kr_op op = {.kind = KR_OP_DISPATCH, .backend = &mine};
    op.dispatch = (kreplay_dispatch){
        .size = sizeof(op.dispatch), .dispatch_id = 1, .queue_id = 1, .kernel_id = 1, .kernel_name = "k"};
    struct kr_window window = {.agent = 0, .ops = &op, .op_count = 1};
    kr_window_run(kr_fake_engine(fake), &window);
    kr_fake_destroy(fake);
}

static void read_log(struct run *run, const char *path)
{
    struct kr_log_reader *reader;
    kr_log_record record;
    int rc;
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    for (size_t groups = 0; (rc = kr_log_next(reader, &record)) == KREPLAY_OK;) {
        if (record.type == KR_LOG_GROUP)
            run->witness_ids[groups++] = record.u.group.witness_id;
        if (record.type == KR_LOG_MESSAGE) {
            run->messages++;
            snprintf(run->message, sizeof(run->message), "%s", record.u.message);
        }
        if (record.type != KR_LOG_DISPATCH)
            continue;
        run->outcome = record.u.dispatch.outcome;
        assert_int_equal(record.u.dispatch.record.pass_count, run->group_count);
        for (size_t p = 0; p < run->group_count; p++)
            run->value_counts[p] = record.u.dispatch.record.passes[p].value_count;
    }
    assert_int_equal(rc, KREPLAY_END);
    kr_log_reader_close(reader);
}

static struct run *start(struct run *run)
{
    char folder[64] = "/tmp/kr_witness_XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    setenv(KR_ENV_RUN_DIR, folder, 1);
    setenv(KR_ENV_PMC, run->groups, 1);
    if (run->witness != NULL)
        setenv(KR_ENV_WITNESS, run->witness, 1);
    else
        unsetenv(KR_ENV_WITNESS);
    run->group_count = 1;
    for (const char *at = run->groups; *at != '\0'; at++)
        run->group_count += *at == ';';
    run_program(run);
    snprintf(path, sizeof(path), "%s/%d.krlog", folder, (int)getpid());
    read_log(run, path);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(run->outcome.kind, KREPLAY_REPLAYED);
    return run;
}

static void added_where_it_is_missing(void **state)
{
    (void)state;
    struct run *run = start(&(struct run){.groups = "FAKE_READS;SQ_INSTS_FAKE FAKE_WORK;FAKE_RUNS"});
    assert_int_not_equal(run->witness_ids[0], 0);
    assert_int_equal(run->witness_ids[1], 0); // asked for there
    assert_int_equal(run->witness_ids[2], run->witness_ids[0]);
    assert_int_equal(run->value_counts[0], 2);
    assert_int_equal(run->value_counts[1], 2);
    assert_int_equal(run->value_counts[2], 2);
    assert_int_equal(run->outcome.disagreements, 0);
    assert_int_equal(run->messages, 0);
}

static void a_wrong_pass_is_noticed(void **state)
{
    (void)state;
    for (unsigned wrong = 1; wrong < 3; wrong++) {
        struct run *run =
            start(&(struct run){.groups = "SQ_INSTS_FAKE;FAKE_READS;FAKE_RUNS", .wrong_pass = wrong});
        assert_int_equal(run->outcome.disagreements, 1);
        assert_int_equal(run->messages, 1);
        char expected[200];
        snprintf(expected, sizeof(expected), "SQ_INSTS_FAKE is 7 in pass 0 and 8 in pass %u", wrong);
        assert_non_null(strstr(run->message, expected));
    }
}

// Two slots: the second group has none left.
static void no_room_no_witness(void **state)
{
    (void)state;
    struct run *run =
        start(&(struct run){.groups = "SQ_INSTS_FAKE;FAKE_READS FAKE_WORK;FAKE_RUNS", .wrong_pass = 1});
    for (size_t g = 0; g < 3; g++)
        assert_int_equal(run->witness_ids[g], 0);
    assert_int_equal(run->value_counts[0], 1);
    assert_int_equal(run->value_counts[1], 2);
    assert_int_equal(run->value_counts[2], 1);
    assert_int_equal(run->outcome.disagreements, 0);
}

// Nothing that repeats exactly is asked for, and the fake GPU has no SQ_WAVES.
static void nothing_exact(void **state)
{
    (void)state;
    struct run *run = start(&(struct run){.groups = "FAKE_WORK;FAKE_READS"});
    assert_int_equal(run->witness_ids[0], 0);
    assert_int_equal(run->witness_ids[1], 0);
}

static void switched_off(void **state)
{
    (void)state;
    struct run *run =
        start(&(struct run){.groups = "SQ_INSTS_FAKE;FAKE_READS", .witness = "off", .wrong_pass = 1});
    assert_int_equal(run->witness_ids[1], 0);
    assert_int_equal(run->value_counts[1], 1);
    assert_int_equal(run->outcome.disagreements, 0);
}

// A counter in all groups by request is the witness, switched off or not; its band is a tenth.
static void repeated_by_request(void **state)
{
    (void)state;
    struct run *run = start(&(struct run){.groups = "FAKE_READS SQ_INSTS_FAKE;FAKE_READS",
                                          .witness = "off",
                                          .wrong_pass = 1,
                                          .extra_reads = 10});
    assert_int_equal(run->witness_ids[1], 0);
    assert_int_equal(run->outcome.disagreements, 0);
    run = start(
        &(struct run){.groups = "FAKE_READS SQ_INSTS_FAKE;FAKE_READS", .wrong_pass = 1, .extra_reads = 11});
    assert_int_equal(run->witness_ids[1], 0);
    assert_int_equal(run->value_counts[1], 1);
    assert_int_equal(run->outcome.disagreements, 1);
    assert_non_null(strstr(run->message, "FAKE_READS is 100 in pass 0 and 111 in pass 1"));
}

static void bad_switch(void **state)
{
    (void)state;
    char error[300] = "";
    setenv(KR_ENV_WITNESS, "perhaps", 1);
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), KREPLAY_INVALID);
    assert_non_null(strstr(error, "KREPLAY_WITNESS \"perhaps\""));
    unsetenv(KR_ENV_WITNESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_where_it_is_missing),
        cmocka_unit_test(a_wrong_pass_is_noticed),
        cmocka_unit_test(no_room_no_witness),
        cmocka_unit_test(nothing_exact),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(repeated_by_request),
        cmocka_unit_test(bad_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
