// SPDX-License-Identifier: MIT
// The built-in tool on the real engine over the fake GPU: what a kernel did is in the log, pass by pass.
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

enum { DISPATCHES = 3, WORDS = 1024 };

// In place, so that a pass without a restore before it would show.
static void add_one(void *arg, struct kr_fake_exec *exec)
{
    uint32_t *words = arg;
    for (unsigned i = 0; i < WORDS; i++)
        words[i]++;
    exec->reads += WORDS;
    exec->writes += WORDS;
    exec->work += 7;
}

static void run_program(void)
{
    char error[300] = "";
    struct kr_fake_options options = {.flags = KR_BACKEND_LIVE_IS_PASS0};
    struct kr_fake *fake = kr_fake_create(&options);
    assert_non_null(fake);
    assert_int_equal(kr_tool_start("fake", error, sizeof(error)), KREPLAY_OK);
    assert_string_equal(error, "");
    uint32_t *words = kr_fake_malloc(fake, 0, WORDS * sizeof(*words));
    assert_non_null(words);
    memset(words, 0, WORDS * sizeof(*words));
    for (unsigned i = 1; i <= DISPATCHES; i++) {
        struct kr_fake_op mine = {.run = add_one, .arg = words};
        struct kr_op op = {.kind = KR_OP_DISPATCH, .backend = &mine};
        op.dispatch =
            (kreplay_dispatch){.size = sizeof(op.dispatch),
                               .dispatch_id = kr_engine_new_id(kr_fake_engine(fake), KR_ID_DISPATCH),
                               .queue_id = 1,
                               .kernel_id = 1,
                               .kernel_name = "add_one"};
        struct kr_window window = {.agent = 0, .ops = &op, .op_count = 1};
        kr_window_run(kr_fake_engine(fake), &window);
        assert_int_equal(mine.completions, 1);
        assert_int_equal(words[0], i);
        assert_int_equal(words[WORDS - 1], i);
    }
    kr_fake_free(fake, 0, words);
    kr_fake_destroy(fake);
}

// The value of the pass's only counter, summed over its instances.
static uint64_t sum(const kreplay_pass_record *pass)
{
    uint64_t total = 0;
    for (size_t i = 0; i < pass->value_count; i++) {
        assert_int_equal(pass->values[i].counter_id, pass->values[0].counter_id);
        total += pass->values[i].value;
    }
    return total;
}

static void check_dispatch(const kr_log_record *record, uint64_t id, const uint64_t *sums, size_t passes)
{
    assert_string_equal(record->u.dispatch.dispatch.kernel_name, "add_one");
    assert_int_equal(record->u.dispatch.dispatch.dispatch_id, id);
    assert_int_equal(record->u.dispatch.outcome.kind, passes > 1 ? KREPLAY_REPLAYED : KREPLAY_SINGLE);
    assert_int_equal(record->u.dispatch.outcome.reason, KREPLAY_REASON_NONE);
    assert_int_equal(record->u.dispatch.outcome.executed_passes, passes);
    assert_int_equal(record->u.dispatch.record.pass_count, passes);
    for (uint32_t p = 0; p < passes; p++) {
        assert_int_equal(record->u.dispatch.record.passes[p].pass, p);
        assert_int_equal(sum(&record->u.dispatch.record.passes[p]), sums[p]);
    }
}

// Runs the program with the groups given and compares the passes' values in the log.
static void check_run(const char *pmc, const uint64_t *sums, size_t passes)
{
    char folder[64] = "/tmp/kr_tool_fake_XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    setenv(KR_ENV_RUN_DIR, folder, 1);
    setenv(KR_ENV_PMC, pmc, 1);
    run_program();

    struct kr_log_reader *reader;
    kr_log_record record;
    uint64_t dispatches = 0;
    int rc;
    snprintf(path, sizeof(path), "%s/%d.krlog", folder, (int)getpid());
    assert_int_equal(kr_log_open(path, &reader), KREPLAY_OK);
    while ((rc = kr_log_next(reader, &record)) == KREPLAY_OK) {
        if (record.type == KR_LOG_DISPATCH)
            check_dispatch(&record, ++dispatches, sums, passes);
        if (record.type == KR_LOG_END)
            assert_int_equal(record.u.end.dispatches, DISPATCHES);
    }
    assert_int_equal(rc, KREPLAY_END);
    assert_int_equal(dispatches, DISPATCHES);
    kr_log_reader_close(reader);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void test_three_passes(void **state)
{
    (void)state;
    check_run("FAKE_READS;FAKE_WORK;FAKE_READS", (const uint64_t[]){WORDS, 7, WORDS}, 3);
}

// The second group is not on this GPU: pass 1 is the third.
static void test_skipped_group(void **state)
{
    (void)state;
    check_run("FAKE_WORK;SQ_WAVES;FAKE_RUNS", (const uint64_t[]){7, 1}, 2);
}

static void test_single_pass(void **state)
{
    (void)state;
    check_run("FAKE_WORK", (const uint64_t[]){7}, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_passes),
        cmocka_unit_test(test_skipped_group),
        cmocka_unit_test(test_single_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
