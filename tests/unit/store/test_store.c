// SPDX-License-Identifier: MIT
// The store's content, asked with SQL as a user of the database would.
#include "sample_log.h"

#include "kreplay/kreplay.h"
#include "select/short_name.h"
#include "store/names.h"
#include "store/rocpd_tables.h"
#include "store/store.h"
#include "store/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/kr-store-XXXXXX";
static char log_path[64], other_log[64], db_path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(log_path, sizeof(log_path), "%s/1.krlog", folder);
    snprintf(other_log, sizeof(other_log), "%s/2.krlog", folder);
    snprintf(db_path, sizeof(db_path), "%s/out_results.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(log_path);
    unlink(other_log);
    unlink(db_path);
    return rmdir(folder);
}

static struct kr_store *build(const struct sample_log *first, const struct sample_log *second)
{
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(NULL, &store), 0);
    const struct kr_store_run run = {
        .run_id = 77, .mode = "kernel", .command = "./three_kernels", .exit_status = 0};
    assert_int_equal(kr_store_set_run(store, &run), 0);
    sample_log_write(first);
    if (kr_store_add_log(store, first->path))
        fail_msg("%s", kr_store_error(store));
    if (second) {
        sample_log_write(second);
        if (kr_store_add_log(store, second->path))
            fail_msg("%s", kr_store_error(store));
    }
    if (kr_store_finish(store))
        fail_msg("%s", kr_store_error(store));
    return store;
}

// First column of the first row, as text; "" when there is no row.
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

static void each_counter_stands_once_per_dispatch(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path}, NULL);
    // SQ_WAVES is in all five passes; a sum over passes would read 81920.
    assert_sql(store,
               "SELECT value FROM counters_collection WHERE dispatch_id = 1 AND counter_name = 'SQ_WAVES'",
               "16384.0");
    assert_sql(store, "SELECT COUNT(*) FROM counters_collection WHERE dispatch_id = 1", "7");
    assert_sql(store,
               "SELECT COUNT(*) FROM rocpd_pmc_event e JOIN rocpd_info_pmc i ON i.id = e.pmc_id"
               " WHERE i.name = 'SQ_WAVES'",
               "6"); // three replayed dispatches of two instances
    assert_sql(store, "SELECT COUNT(DISTINCT dispatch_id) FROM counters_collection", "3");
    kr_store_close(store);
}

static void derived_counters_are_worked_out(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path, .derived = true}, NULL);
    // Of dispatch 1 each instance of counter n holds 1000 n + 1, but for SQ_WAVES, 8192 in each.
    assert_sql(store,
               "SELECT printf('%.6f', value) FROM counters_collection WHERE dispatch_id = 1 AND"
               " counter_name = 'GPUBusy'",
               "133.322226"); // 100 * 4001 / 3001
    assert_sql(store,
               "SELECT printf('%.9f', value) FROM counters_collection WHERE dispatch_id = 1 AND"
               " counter_name = 'VALUInsts'",
               "0.244262695"); // 2 * 2001 / 16384
    assert_sql(store,
               "SELECT group_concat(first_pass || '-' || last_pass, ' ') FROM (SELECT * FROM kreplay_derived"
               " WHERE dispatch_id = 2 ORDER BY counter_id)",
               "0-1 0-0");
    assert_sql(store,
               "SELECT group_concat(pass, ' ') FROM (SELECT pass FROM kreplay_value WHERE dispatch_id = 3"
               " AND counter_id >= 100 ORDER BY counter_id)",
               "1 0");
    assert_sql(store, "SELECT count(*) FROM kreplay_derived", "6"); // nothing of the declined dispatch
    // What nobody asked for stands apart; all else is as it was.
    assert_sql(store,
               "SELECT group_concat(DISTINCT counter_name) FROM (SELECT * FROM counters_collection WHERE"
               " dispatch_id = 1 ORDER BY counter_name)",
               "GPUBusy,SQ_INSTS_LDS,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_VALU,SQ_WAVES,VALUInsts");
    assert_sql(store, "SELECT count(*) FROM kreplay_input WHERE dispatch_id = 1", "4");
    assert_sql(store, "PRAGMA foreign_key_check", "");
    kr_store_close(store);
}

static void dispatches_stand_once_with_their_outcome(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path}, NULL);
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    assert_sql(store, "SELECT name FROM kernels WHERE dispatch_id = 2",
               "void saxpy<4>(float, float const*, float*, int)");
    assert_sql(store, "SELECT truncated_kernel_name FROM kernel_symbols WHERE id = 2", "saxpy");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_outcome WHERE kind = 'replayed'", "3");
    assert_sql(store, "SELECT kind || ' ' || reason FROM kreplay_outcome WHERE dispatch_id = 4",
               "declined host_memory");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_pass WHERE dispatch_id = 1", "5");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_value WHERE dispatch_id = 1", "30");
    assert_sql(store, "SELECT dispatches FROM kreplay_window WHERE window_id = 3", "1");
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_group", "15");
    assert_sql(store, "SELECT text FROM kreplay_message", "dispatch 4 declined: host_memory");
    assert_sql(store, "SELECT complete FROM kreplay_process", "1");
    assert_sql(store, "SELECT fini FROM processes", "9000000");
    kr_store_close(store);
}

static void a_killed_process_is_marked(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path, .killed = true}, NULL);
    assert_sql(store, "SELECT complete FROM kreplay_process", "0");
    assert_sql(store, "SELECT damaged_at IS NULL FROM kreplay_process", "1");
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    kr_store_close(store);
}

static void a_log_cut_in_a_record_is_read_up_to_it(void **state)
{
    (void)state;
    sample_log_write(&(struct sample_log){.path = log_path, .killed = true});
    FILE *file = fopen(log_path, "ab");
    assert_non_null(file);
    fputs("no record", file);
    fclose(file);
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(NULL, &store), 0);
    assert_int_equal(kr_store_add_log(store, log_path), 0);
    assert_int_equal(kr_store_finish(store), 0);
    assert_sql(store, "SELECT damaged_at > 0 FROM kreplay_process", "1");
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    kr_store_close(store);
}

static void values_are_exact_to_64_bits(void **state)
{
    (void)state;
    uint64_t huge = UINT64_MAX - 1;
    struct kr_store *store = build(&(struct sample_log){.path = log_path, .huge_value = huge}, NULL);
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(kr_store_db(store),
                                        "SELECT value FROM kreplay_value WHERE dispatch_id = 1 AND pass = 4"
                                        " AND counter_id = 1 AND instance = 0",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_true(kr_store_u64(statement, 0) == huge);
    sqlite3_finalize(statement);
    kr_store_close(store);
}

static void processes_keep_apart_in_one_store(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path, .pid = 1},
                                   &(struct sample_log){.path = other_log, .pid = 2});
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_process", "2");
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "8");
    assert_sql(store, "SELECT COUNT(*) FROM counters_collection WHERE counter_name = 'SQ_WAVES'", "6");
    assert_sql(store, "SELECT MAX(value) FROM counters_collection WHERE counter_name = 'SQ_WAVES'",
               "16384.0");
    assert_sql(store, "SELECT COUNT(DISTINCT guid) FROM rocpd_metadata JOIN rocpd_string", "2");
    kr_store_close(store);
}

static void the_schema_has_what_rocpd_readers_ask_for(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path}, NULL);
    assert_sql(store, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'", "3");
    assert_sql(store,
               "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name ="
               " 'rocpd_kernel_dispatch' || (SELECT value FROM rocpd_metadata WHERE tag = 'uuid')",
               "1");
    assert_sql(store, "SELECT length(value) FROM rocpd_metadata WHERE tag = 'guid'", "36");
    for (size_t i = 0; i < kr_rocpd_table_count; i++) {
        char *sql = sqlite3_mprintf("SELECT COUNT(*) >= 0 FROM \"%w\"", kr_rocpd_tables[i].name);
        assert_sql(store, sql, "1");
        sqlite3_free(sql);
    }
    for (size_t i = 0; i < kr_rocpd_view_count; i++) { // runs every view: a wrong column name fails here
        char *sql =
            sqlite3_mprintf("SELECT COUNT(*) >= 0 FROM (SELECT * FROM \"%w\")", kr_rocpd_views[i].name);
        assert_sql(store, sql, "1");
        sqlite3_free(sql);
    }
    assert_sql(store, "PRAGMA foreign_key_check", "");
    assert_sql(store, "PRAGMA integrity_check", "ok");
    kr_store_close(store);
}

// The schema's summaries, on markers that stand in the database as another tool would put them.
static void summaries_of_time_and_markers(void **state)
{
    (void)state;
    struct kr_store *store = build(&(struct sample_log){.path = log_path}, NULL);
    assert_sql(store, "SELECT agent_id || ' ' || type || ' ' || GpuTime || ' ' || WallTime FROM busy",
               "1 GPU 2000 300500"); // four dispatches of 500 ns, 100 us from start to start
    assert_sql(store, "SELECT Busy = 2000 * 1.0 / 300500 FROM busy", "1");
    assert_sql(store, "SELECT total_calls || ' ' || total_duration FROM top_kernels LIMIT 1", "2 1.0");
    assert_sql(store, "SELECT round(SUM(percentage)) FROM top_kernels", "100.0");
    assert_sql(store, "SELECT COUNT(*) FROM markers", "0");
    char *suffix = sqlite3_mprintf("%s", ask(store, "SELECT suffix FROM kreplay_process"));
    char *sql = sqlite3_mprintf(
        "INSERT INTO \"rocpd_string%s\" (id, string) VALUES (8, 'MARKER_CORE_API'), (9, 'roctxRangePushA');"
        "INSERT INTO \"rocpd_event%s\" (id, category_id, extdata) VALUES (101, 8, '{\"message\":\"step\"}'),"
        " (102, 8, '{\"message\":\"step\"}'), (103, 8, '{\"message\":\"here\"}');"
        "INSERT INTO \"rocpd_region%s\" (nid, pid, tid, start, \"end\", name_id, event_id) SELECT n.id, 4242,"
        " 4243, 0, 10 * (e.id - 100), 9, e.id FROM rocpd_info_node n, rocpd_event e WHERE e.id IN (101, 102);"
        "INSERT INTO \"rocpd_track%s\" (id, nid, pid, tid, name_id) SELECT 1, id, 4242, 4243, 9 FROM"
        " rocpd_info_node; INSERT INTO \"rocpd_sample%s\" (track_id, timestamp, event_id) VALUES (1, 77, "
        "103);",
        suffix, suffix, suffix, suffix, suffix);
    if (sqlite3_exec(kr_store_db(store), sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(kr_store_db(store)));
    sqlite3_free(sql);
    sqlite3_free(suffix);
    assert_sql(store,
               "SELECT group_concat(name || operation || start || ',' || duration, ' ') FROM"
               " (SELECT * FROM markers ORDER BY id)",
               "steproctxRangePushA0,10 steproctxRangePushA0,20 hereroctxMarkA77,0");
    assert_sql(store, "SELECT name || ' ' || calls FROM single_marker_summary", "here 1");
    assert_sql(store,
               "SELECT calls || ' ' || \"DURATION (nsec)\" || ' ' || \"AVERAGE (nsec)\" || ' ' ||"
               " \"PERCENT (INC)\" || ' ' || STD_DEV FROM range_marker_summary",
               "2 30 15.0 100.0 5.0");
    assert_sql(store, "SELECT \"SQR (nsec)\" || ' ' || VARIANCE FROM marker_summary WHERE name = 'step'",
               "500.0 25.0");
    kr_store_close(store);
}

static void a_file_appears_only_when_finished(void **state)
{
    (void)state;
    sample_log_write(&(struct sample_log){.path = log_path});
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(db_path, &store), 0);
    assert_int_equal(kr_store_add_log(store, log_path), 0);
    kr_store_close(store);
    assert_int_not_equal(access(db_path, F_OK), 0);

    const struct kr_store_run run = {.mode = "kernel", .exit_status = -1};
    assert_int_equal(kr_store_create(db_path, &store), 0);
    assert_int_equal(kr_store_set_run(store, &run), 0);
    assert_int_equal(kr_store_add_log(store, log_path), 0);
    assert_int_equal(kr_store_finish(store), 0);
    kr_store_close(store);
    assert_int_equal(kr_store_open(db_path, &store), 0);
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    assert_sql(store, "SELECT exit_status IS NULL FROM kreplay_run", "1");
    assert_sql(store, "SELECT run_id || ' ' || command FROM kreplay_run", "77 ./three_kernels 1048576 1");
    kr_store_close(store);
}

static void what_is_no_log_adds_nothing(void **state)
{
    (void)state;
    FILE *file = fopen(log_path, "wb");
    fputs("this is not a record log, but it is long enough to be looked at", file);
    fclose(file);
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(NULL, &store), 0);
    assert_int_equal(kr_store_add_log(store, log_path), KREPLAY_CORRUPT);
    assert_non_null(strstr(kr_store_error(store), log_path));
    assert_int_equal(kr_store_add_log(store, "/nonexistent/1.krlog"), KREPLAY_IO);
    assert_int_equal(kr_store_finish(store), 0);
    assert_sql(store, "SELECT COUNT(*) FROM kreplay_process", "0");
    kr_store_close(store);
    assert_int_equal(kr_store_open(log_path, &store), KREPLAY_CORRUPT);
    kr_store_close(store);
}

static void the_same_log_twice_is_refused_whole(void **state)
{
    (void)state;
    sample_log_write(&(struct sample_log){.path = log_path});
    struct kr_store *store = NULL;
    assert_int_equal(kr_store_create(NULL, &store), 0);
    assert_int_equal(kr_store_add_log(store, log_path), 0);
    assert_int_not_equal(kr_store_add_log(store, log_path), 0);
    assert_int_equal(kr_store_finish(store), 0);
    assert_sql(store, "SELECT COUNT(*) FROM kernels", "4");
    kr_store_close(store);
}

static void names_are_made_readable(void **state)
{
    (void)state;
    static const struct {
        const char *mangled, *demangled, *truncated;
    } cases[] = {
        {"_Z6vecaddPKfS0_Pfi", "vecadd(float const*, float const*, float*, int)", "vecadd"},
        {"_Z5saxpyILi4EEvfPKfPfi.kd", "void saxpy<4>(float, float const*, float*, int)", "saxpy"},
        {"_ZN3app6detail4workIdEEvPT_", "void app::detail::work<double>(double*)", "work"},
        {"_ZN12_GLOBAL__N_14spinEi", "(anonymous namespace)::spin(int)", "spin"},
        {"__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_fillBufferAligned",
         "__amd_rocclr_fillBufferAligned"},
        {"_Znonsense", "_Znonsense", "_Znonsense"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *demangled = kr_name_demangle(cases[i].mangled);
        assert_string_equal(demangled, cases[i].demangled);
        char *truncated = kr_short_name(demangled);
        assert_string_equal(truncated, cases[i].truncated);
        free(truncated);
        free(demangled);
    }
}

static void text_becomes_utf8(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"bad\xff\xfe!", "bad\xef\xbf\xbd\xef\xbf\xbd!"},
        {"cut\xe2\x82", "cut\xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong\xc0\xaf", "overlong\xef\xbf\xbd\xef\xbf\xbd"},
        {"surrogate\xed\xa0\x80", "surrogate\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"above\xf4\x90\x80\x80", "above\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char *repaired = kr_utf8_repair(pairs[i][0]);
        assert_string_equal(repaired, pairs[i][1]);
        free(repaired);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_counter_stands_once_per_dispatch),
        cmocka_unit_test(derived_counters_are_worked_out),
        cmocka_unit_test(dispatches_stand_once_with_their_outcome),
        cmocka_unit_test(a_killed_process_is_marked),
        cmocka_unit_test(a_log_cut_in_a_record_is_read_up_to_it),
        cmocka_unit_test(values_are_exact_to_64_bits),
        cmocka_unit_test(processes_keep_apart_in_one_store),
        cmocka_unit_test(the_schema_has_what_rocpd_readers_ask_for),
        cmocka_unit_test(summaries_of_time_and_markers),
        cmocka_unit_test(a_file_appears_only_when_finished),
        cmocka_unit_test(what_is_no_log_adds_nothing),
        cmocka_unit_test(the_same_log_twice_is_refused_whole),
        cmocka_unit_test(names_are_made_readable),
        cmocka_unit_test(text_becomes_utf8),
    };
    return cmocka_run_group_tests_name("store", tests, set_up, tear_down);
}
