// SPDX-License-Identifier: MIT
// What the runs of application replay have in common, and what not.
#include "export/application.h"

static int put_runs(struct kr_export *export, struct kr_json *json)
{
    sqlite3_stmt *row;
    int status = kr_query(export, &row,
                          "SELECT run, run_id, dispatches, matched, extra, missing, exit_status FROM"
                          " kreplay_application_run ORDER BY run");
    kr_json_list(json, "application_runs");
    while (!status && (status = kr_query_next(export, row)) == 1) {
        enum { EXIT_STATUS = 6 };
        status = 0;
        kr_json_object(json, NULL);
        kr_json_flat(json);
        for (int i = 0; i < EXIT_STATUS; i++)
            kr_json_u64(json, sqlite3_column_name(row, i), kr_store_u64(row, i));
        if (sqlite3_column_type(row, EXIT_STATUS) == SQLITE_NULL)
            kr_json_raw(json, "exit_status", "null");
        else
            kr_json_u64(json, "exit_status", kr_store_u64(row, EXIT_STATUS));
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

static int put_unmatched(struct kr_export *export, struct kr_json *json, const char *guid)
{
    sqlite3_stmt *row;
    int status = kr_query(
        export, &row,
        "SELECT run, pid, dispatch_id, agent_id, occurrence, side, kernel, grid, workgroup FROM"
        " kreplay_unmatched WHERE guid = %Q OR (guid IS NULL AND %Q = (SELECT guid FROM kreplay_process"
        " ORDER BY rowid LIMIT 1)) ORDER BY run, side, pid, dispatch_id",
        guid, guid);
    kr_json_list(json, "unmatched");
    while (!status && (status = kr_query_next(export, row)) == 1) {
        enum { FIRST_TEXT = 5 };
        status = 0;
        kr_json_object(json, NULL);
        kr_json_flat(json);
        for (int i = 0; i < sqlite3_column_count(row); i++) {
            if (i < FIRST_TEXT)
                kr_json_u64(json, sqlite3_column_name(row, i), kr_store_u64(row, i));
            else
                kr_json_text(json, sqlite3_column_name(row, i), kr_column_text(row, i));
        }
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

int kr_json_put_application(struct kr_export *export, struct kr_json *json, const char *guid)
{
    int status = put_runs(export, json);
    return status ? status : put_unmatched(export, json, guid);
}
