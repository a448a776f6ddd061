// SPDX-License-Identifier: MIT
// Application replay: runs of one group each, joined.
#include "sample_log.h"

#include "kreplay/kreplay.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char log_path[] = "/tmp/kr-join-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(log_path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(log_path);
}

static void good(struct kr_store *store, int status)
{
    if (status)
        fail_msg("%s", kr_store_error(store));
}

static struct kr_store *begin(void)
{
    struct kr_store *store = NULL;
    const struct kr_store_run run = {.run_id = 77, .mode = "application", .command = "x", .exit_status = 0};
    assert_int_equal(kr_store_create(NULL, &store), 0);
    good(store, kr_store_set_run(store, &run));
    return store;
}

// One run of one process; the sample's path is set here.
static int add(struct kr_store *store, unsigned run, struct sample_log sample)
{
    sample.path = log_path;
    sample_log_write(&sample);
    return run == 1 ? kr_store_add_log(store, log_path) : kr_store_join_log(store, log_path);
}

static void add_run(struct kr_store *store, unsigned run, struct sample_log sample)
{
    good(store, kr_store_join_begin(store, run, 100 + run, 0));
    good(store, add(store, run, sample));
    good(store, kr_store_join_end(store));
}

static const char *ask(struct kr_store *store, const char *sql)
{
    static char answer[256];
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(kr_store_db(store), sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(kr_store_db(store)));
    answer[0] = '\0';
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        snprintf(answer, sizeof(answer), "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return answer;
}

#define assert_sql(store, sql, expected) assert_string_equal(ask(store, sql), expected)

#define COUNTERS                                                                                             \
    "SELECT group_concat(dispatch_id || counter_name || value, ' ') FROM"                                    \
    " (SELECT * FROM counters_collection ORDER BY dispatch_id, counter_name)"

static void joined_runs_equal_one_replayed_run(void **state)
{
    (void)state;
    char expected[256];
    struct kr_store *replayed = begin();
    good(replayed, add(replayed, 1, (struct sample_log){0}));
    good(replayed, kr_store_finish(replayed));
    snprintf(expected, sizeof(expected), "%s", ask(replayed, COUNTERS));
    kr_store_close(replayed);

    struct kr_store *store = begin();
    for (unsigned run = 1; run <= SAMPLE_PASSES; run++) // each process numbers its counters as it likes
        add_run(store, run,
                (struct sample_log){.only_group = run, .pid = run, .counter_shift = 3 * (run % 2)});
    good(store, kr_store_finish(store));
    assert_sql(store, COUNTERS, expected);
    assert_sql(store, "SELECT COUNT(*) FROM counters_collection WHERE dispatch_id = 1", "7");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_value WHERE dispatch_id = 1", "30");
    assert_sql(store, "SELECT group_concat(pass, '') FROM kreplay_pass WHERE dispatch_id = 3", "01234");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_process", "1");
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    assert_sql(store, "SELECT group_concat(group_index, '') FROM kreplay_group", "000111222333444");
    assert_sql(
        store,
        "SELECT kind || executed_passes || requested_passes FROM kreplay_outcome WHERE dispatch_id = 1",
        "joined55");
    assert_sql(store, "SELECT executed_passes FROM kreplay_outcome WHERE dispatch_id = 4", "0");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_unmatched", "0");
    assert_sql(store,
               "SELECT group_concat(run || ',' || run_id || ',' || dispatches || ',' || matched, ' ') FROM"
               " kreplay_application_run",
               "1,101,4,4 2,102,4,4 3,103,4,4 4,104,4,4 5,105,4,4");
    assert_sql(store, "SELECT json_extract(extdata, '$.kreplay.mode') FROM rocpd_info_process",
               "application");
    assert_sql(store, "SELECT text FROM kreplay_message WHERE number = 1",
               "run 2: dispatch 4 declined: host_memory");
    assert_sql(store, "PRAGMA foreign_key_check", "");
    kr_store_close(store);
}

static void derived_counters_take_inputs_of_several_runs(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    for (unsigned run = 1; run <= SAMPLE_PASSES; run++)
        add_run(store, run,
                (struct sample_log){
                    .only_group = run, .pid = run, .counter_shift = 3 * (run % 2), .derived = true});
    good(store, kr_store_finish(store));
    assert_sql(store,
               "SELECT printf('%.6f', value) FROM counters_collection WHERE dispatch_id = 1 AND"
               " counter_name = 'GPUBusy'",
               "133.322226"); // 100 * 4001 / 3001
    assert_sql(store,
               "SELECT group_concat(first_pass || '-' || last_pass, ' ') FROM (SELECT * FROM kreplay_derived"
               " WHERE dispatch_id = 1 ORDER BY counter_id)",
               "0-1 0-0");
    assert_sql(store, "SELECT count(*) FROM counters_collection WHERE counter_name LIKE 'GRBM%'", "0");
    kr_store_close(store);
}

static void what_does_not_match_is_listed(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    add_run(store, 1, (struct sample_log){.only_group = 1, .pid = 1});
    add_run(store, 2, (struct sample_log){.only_group = 2, .pid = 2, .plain_dispatches = 2});
    add_run(store, 3, (struct sample_log){.only_group = 3, .pid = 3, .without = 2});
    good(store, kr_store_finish(store));
    assert_sql(store,
               "SELECT group_concat(run || ':' || dispatches || ',' || matched || ',' || extra || ',' ||"
               " missing, ' ') FROM kreplay_application_run",
               "1:4,4,0,0 2:6,4,2,0 3:3,3,0,1");
    assert_sql(
        store,
        "SELECT side || pid || ' ' || dispatch_id || ' ' || kernel || ' ' || grid || ' ' || workgroup ||"
        " ' ' || occurrence FROM kreplay_unmatched WHERE run = 2 ORDER BY dispatch_id",
        "extra2 5 _Z5saxpyILi4EEvfPKfPfi 262144,1,1 512,1,1 2");
    assert_sql(store, "SELECT side || pid || ' ' || dispatch_id FROM kreplay_unmatched WHERE run = 3",
               "missing1 2");
    assert_sql(store, "SELECT executed_passes FROM kreplay_outcome WHERE dispatch_id = 2", "2");
    assert_sql(store, "SELECT executed_passes FROM kreplay_outcome WHERE dispatch_id = 3", "3");
    kr_store_close(store);
}

static void alike_dispatches_match_by_their_order(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    // 1 and 4 are alike: without 1, the other run's 4 takes its place, and the second of them is missing.
    add_run(store, 1, (struct sample_log){.only_group = 1, .pid = 1});
    add_run(store, 2, (struct sample_log){.only_group = 2, .pid = 2, .without = 1});
    good(store, kr_store_finish(store));
    assert_sql(store, "SELECT group_concat(dispatch_id || side || occurrence) FROM kreplay_unmatched",
               "4missing2");
    kr_store_close(store);
}

static void processes_match_by_their_order(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    good(store, kr_store_join_begin(store, 1, 101, 0));
    good(store, add(store, 1, (struct sample_log){.only_group = 1, .pid = 1}));
    good(store, add(store, 1, (struct sample_log){.only_group = 1, .pid = 2, .without = 3}));
    good(store, kr_store_join_end(store));
    good(store, kr_store_join_begin(store, 2, 102, 0));
    good(store, add(store, 2, (struct sample_log){.only_group = 2, .pid = 11}));
    good(store, add(store, 2, (struct sample_log){.only_group = 2, .pid = 12, .without = 3}));
    good(store, add(store, 2, (struct sample_log){.only_group = 2, .pid = 13, .without = 2}));
    good(store, kr_store_join_end(store));
    good(store, kr_store_finish(store));
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_process", "2");
    assert_sql(store, "SELECT group_concat(pid) FROM kreplay_unmatched WHERE guid IS NULL", "13,13,13");
    assert_sql(store,
               "SELECT matched || ',' || extra || ',' || missing FROM kreplay_application_run WHERE run = 2",
               "7,3,0");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_pass WHERE pass = 1", "5");
    kr_store_close(store);
}

static void a_run_without_a_process_misses_all(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    add_run(store, 1, (struct sample_log){.only_group = 1, .pid = 1});
    good(store, kr_store_join_begin(store, 2, 102, 137));
    good(store, kr_store_join_end(store));
    good(store, kr_store_finish(store));
    assert_sql(store, "SELECT missing || ',' || exit_status FROM kreplay_application_run WHERE run = 2",
               "4,137");
    kr_store_close(store);
}

static void a_log_of_several_passes_adds_nothing(void **state)
{
    (void)state;
    struct kr_store *store = begin();
    add_run(store, 1, (struct sample_log){.only_group = 1, .pid = 1});
    good(store, kr_store_join_begin(store, 2, 102, 0));
    assert_int_equal(add(store, 2, (struct sample_log){.pid = 2}), KREPLAY_CORRUPT);
    good(store, kr_store_join_end(store));
    good(store, kr_store_finish(store));
    assert_sql(store, "SELECT missing FROM kreplay_application_run WHERE run = 2", "4");
    assert_sql(store, "SELECT MAX(pass) FROM kreplay_value", "0");
    kr_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_runs_equal_one_replayed_run),
        cmocka_unit_test(derived_counters_take_inputs_of_several_runs),
        cmocka_unit_test(what_does_not_match_is_listed),
        cmocka_unit_test(alike_dispatches_match_by_their_order),
        cmocka_unit_test(processes_match_by_their_order),
        cmocka_unit_test(a_run_without_a_process_misses_all),
        cmocka_unit_test(a_log_of_several_passes_adds_nothing),
    };
    return cmocka_run_group_tests_name("join", tests, set_up, tear_down);
}
