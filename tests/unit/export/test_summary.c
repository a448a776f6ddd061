// SPDX-License-Identifier: MIT
// The summary's text, compared as a whole, and what a witness leaves in the other exports.
#include "export_fixture.h"

#include "export/query.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const struct sample_log *logs, size_t count, const char *expected)
{
    char *text = export_text(logs, count, kr_export_summary);
    assert_string_equal(text, expected);
    free(text);
}

static void one_process(void **state)
{
    (void)state;
    check(
        &(struct sample_log){0}, 1,
        "kreplay: 4 dispatches: 3 replayed, 0 single, 0 filtered, 1 declined (1 host_memory)\n"
        "kreplay: captured 36.0 MiB, compared 0 bytes, restored 0 bytes\n"
        "kreplay: seconds: gate 0.000, drain 0.000, snapshot 0.000, live 0.000, compare 0.000, restore 0.000,"
        " passes 0.000, finish 0.000\n");
}

static void processes_are_added_up(void **state)
{
    (void)state;
    const struct sample_log logs[] = {{.pid = 1, .witness = true, .drift = true, .lost = 7},
                                      {.pid = 2, .killed = true}};
    check(
        logs, 2,
        "kreplay: 8 dispatches: 6 replayed, 0 single, 0 filtered, 2 declined (2 host_memory)\n"
        "kreplay: of these, 1 whose passes disagree\n"
        "kreplay: captured 72.0 MiB, compared 0 bytes, restored 0 bytes\n"
        "kreplay: seconds: gate 0.000, drain 0.000, snapshot 0.000, live 0.000, compare 0.000, restore 0.000,"
        " passes 0.000, finish 0.000\n"
        "kreplay: 7 records could not be written and are missing here\n");
}

static void in_json(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){.drift = true, .witness = true}, 1, kr_export_json);
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(root);
    json_t *process = json_array_get(json_object_get(root, "rocprofiler-sdk-tool"), 0);
    json_t *mine = json_object_get(process, "kreplay"), *summary = json_object_get(mine, "summary");
    assert_int_equal(json_integer_value(json_object_get(summary, "dispatches")), 4);
    assert_int_equal(json_integer_value(json_object_get(summary, "replayed")), 3);
    assert_int_equal(json_integer_value(json_object_get(summary, "disagreeing")), 1);
    assert_int_equal(json_integer_value(json_object_get(summary, "captured_bytes")), 3 * 12582912);
    assert_int_equal(json_integer_value(json_object_get(summary, "records_lost")), 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(summary, "declined_by_reason"), "host_memory")),
        1);
    json_t *dispatches = json_object_get(mine, "dispatches");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(dispatches, 0), "disagreements")), 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(dispatches, 1), "disagreements")), 0);

    // SQ_WAVES is asked for in pass 1 only: one witness value of it in each other pass of three dispatches.
    json_t *witnesses = json_object_get(mine, "witnesses"), *record;
    assert_int_equal(json_array_size(witnesses), 3 * (SAMPLE_PASSES - 1));
    json_t *last = json_array_get(witnesses, SAMPLE_PASSES - 2);
    assert_int_equal(json_integer_value(json_object_get(last, "dispatch_id")), 1);
    assert_int_equal(json_integer_value(json_object_get(last, "pass")), SAMPLE_PASSES - 1);
    assert_string_equal(json_string_value(json_object_get(last, "counter")), "SQ_WAVES");
    assert_int_equal(json_integer_value(json_object_get(last, "value")), sample_waves(1) + SAMPLE_INSTANCES);

    // None of them among the records of the passes: two counters' instances there instead of three.
    size_t at, waves = 0;
    json_array_foreach(json_object_get(json_object_get(process, "callback_records"), "counter_collection"),
                       at, record) waves +=
        json_array_size(json_object_get(record, "records")) == 3 * SAMPLE_INSTANCES;
    assert_int_equal(waves, 3); // pass 1 of each
    json_decref(root);
}

static int run_table(struct kr_export *export)
{
    return kr_export_table(export, &(struct kr_table_options){.max_rows = 1});
}

// The value of the pass that was asked for, marked since another pass disagrees.
static void in_the_table(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){.drift = true, .witness = true}, 1, run_table);
    assert_non_null(strstr(text, "replayed, passes disagree"));
    assert_non_null(strstr(text, " 16384*"));
    free(text);
    text = export_text(&(struct sample_log){.witness = true}, 1, run_table);
    assert_non_null(strstr(text, " 16384"));
    assert_null(strchr(text, '*'));
    free(text);
}

// rocpd has the values of the pass that was asked for, as if the others were not there.
static int count_events(struct kr_export *export)
{
    sqlite3_stmt *row;
    int status =
        kr_query(export, &row,
                 "SELECT count(*), sum(e.value) FROM rocpd_pmc_event e JOIN rocpd_info_pmc i ON"
                 " i.id = e.pmc_id AND i.guid = e.guid WHERE i.name = 'SQ_WAVES' AND e.event_id = 1");
    assert_int_equal(status, 0);
    assert_int_equal(kr_query_next(export, row), 1);
    fprintf(export->out, "%s %s", kr_column_text(row, 0), kr_column_text(row, 1));
    sqlite3_finalize(row);
    return 0;
}

static void in_rocpd(void **state)
{
    (void)state;
    char *text = export_text(&(struct sample_log){.drift = true, .witness = true}, 1, count_events);
    assert_string_equal(text, "2 16384.0");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process), cmocka_unit_test(processes_are_added_up),
        cmocka_unit_test(in_json),     cmocka_unit_test(in_the_table),
        cmocka_unit_test(in_rocpd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
