// SPDX-License-Identifier: MIT
// Makes the tables and views of a store: the rocpd schema from its const tables, and our own.
#include "store/rocpd_tables.h"
#include "store/store_impl.h"

#include "kreplay/kreplay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Dispatches are named by (guid, dispatch_id): ids repeat over processes.
static const char own_tables[] =
    "CREATE TABLE kreplay_run (run_id INTEGER PRIMARY KEY, version TEXT NOT NULL, schema TEXT NOT NULL, mode "
    "TEXT,"
    " command TEXT, exit_status INTEGER);"
    // complete: the log has its last record; 0 = the process was killed or called _exit. damaged_at: offset
    // of the first bytes that are no record, NULL when there are none.
    "CREATE TABLE kreplay_process (guid TEXT PRIMARY KEY, suffix TEXT NOT NULL, run_id INTEGER NOT NULL,"
    " pid INTEGER NOT NULL, ppid INTEGER, hostname TEXT, command TEXT, backend TEXT, version TEXT,"
    " start_ns INTEGER NOT NULL, start_unix_ns INTEGER NOT NULL, end_ns INTEGER, complete INTEGER NOT NULL "
    "DEFAULT 0,"
    " damaged_at INTEGER, dispatches INTEGER, log TEXT, records_lost INTEGER);"
    "CREATE TABLE kreplay_outcome (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, window_id INTEGER NOT "
    "NULL,"
    " kind TEXT NOT NULL, reason TEXT NOT NULL, reason_text TEXT NOT NULL, requested_passes INTEGER NOT NULL,"
    " executed_passes INTEGER NOT NULL, deterministic INTEGER NOT NULL, reentrant INTEGER NOT NULL,"
    " start_ns INTEGER, end_ns INTEGER, captured_bytes INTEGER, captured_regions INTEGER, untracked_bytes "
    "INTEGER,"
    " untracked_regions INTEGER, compared_bytes INTEGER, write_set_bytes INTEGER, restored_bytes INTEGER,"
    " restores INTEGER, restore_retries INTEGER, gate_ns INTEGER, drain_ns INTEGER, snapshot_ns INTEGER,"
    " live_ns INTEGER, compare_ns INTEGER, restore_ns INTEGER, passes_ns INTEGER, finish_ns INTEGER,"
    " untracked_vmem_bytes INTEGER, untracked_vmem_regions INTEGER, disagreements INTEGER,"
    " PRIMARY KEY (guid, dispatch_id)) WITHOUT ROWID;"
    "CREATE TABLE kreplay_pass (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, pass INTEGER NOT NULL,"
    " start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, PRIMARY KEY (guid, dispatch_id, pass)) WITHOUT "
    "ROWID;"
    // value: an integer, or a real number where the counter is a rate or a share; no type, so that neither is
    // changed. position: order in the pass, so that exports list counters as they were asked for.
    "CREATE TABLE kreplay_value (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, pass INTEGER NOT NULL,"
    " position INTEGER NOT NULL, counter_id INTEGER NOT NULL, instance INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (guid, dispatch_id, pass, position)) WITHOUT ROWID;"
    // The witness's values in passes whose group did not ask for it: apart, so that each pass's values in
    // kreplay_value and in rocpd's tables are those that were asked for.
    "CREATE TABLE kreplay_witness (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, pass INTEGER NOT NULL,"
    " counter_id INTEGER NOT NULL, instance INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (guid, dispatch_id, pass, counter_id, instance)) WITHOUT ROWID;"
    // Counters that are not simply shown as measured: role 1 = derived, worked out by its expression; 2 = measured
    // only as an input of these, its values are in kreplay_input. kreplay_derived: between which passes the
    // inputs of a value lie; where these differ, they come from different executions.
    "CREATE TABLE kreplay_role (guid TEXT NOT NULL, agent_id INTEGER NOT NULL, counter_id INTEGER NOT NULL,"
    " role INTEGER NOT NULL, UNIQUE (guid, agent_id, counter_id, role));"
    "CREATE TABLE kreplay_input (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, pass INTEGER NOT NULL,"
    " counter_id INTEGER NOT NULL, instance INTEGER NOT NULL, value NOT NULL,"
    " PRIMARY KEY (guid, dispatch_id, pass, counter_id, instance)) WITHOUT ROWID;"
    "CREATE TABLE kreplay_derived (guid TEXT NOT NULL, dispatch_id INTEGER NOT NULL, counter_id INTEGER NOT "
    "NULL,"
    " first_pass INTEGER NOT NULL, last_pass INTEGER NOT NULL, PRIMARY KEY (guid, dispatch_id, counter_id))"
    " WITHOUT ROWID;"
    "CREATE TABLE kreplay_group (guid TEXT NOT NULL, agent_id INTEGER NOT NULL, group_index INTEGER NOT NULL,"
    " position INTEGER NOT NULL, counter_id INTEGER NOT NULL);"
    "CREATE TABLE kreplay_group_witness (guid TEXT NOT NULL, agent_id INTEGER NOT NULL,"
    " group_index INTEGER NOT NULL, counter_id INTEGER NOT NULL);"
    // Application replay, empty otherwise: the runs of the program, from 1, and what a later run and the
    // first do not have in common. side: "extra" (in this run only; dispatch_id, pid and occurrence are its
    // own) or "missing" (in run 1 only). occurrence: of dispatches that are alike in everything else.
    "CREATE TABLE kreplay_application_run (run INTEGER PRIMARY KEY, run_id INTEGER, exit_status INTEGER,"
    " dispatches INTEGER NOT NULL, matched INTEGER NOT NULL, extra INTEGER NOT NULL, missing INTEGER NOT "
    "NULL);"
    "CREATE TABLE kreplay_unmatched (run INTEGER NOT NULL, side TEXT NOT NULL, guid TEXT, pid INTEGER NOT "
    "NULL,"
    " dispatch_id INTEGER NOT NULL, agent_id INTEGER NOT NULL, kernel TEXT NOT NULL, grid TEXT NOT NULL,"
    " workgroup TEXT NOT NULL, occurrence INTEGER NOT NULL);"
    "CREATE TABLE kreplay_message (guid TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL);"
    "CREATE VIEW kreplay_window AS SELECT guid, window_id, COUNT(*) AS dispatches, MIN(dispatch_id) AS "
    "first_dispatch,"
    " MAX(dispatch_id) AS last_dispatch, MAX(executed_passes) AS passes FROM kreplay_outcome GROUP BY guid, "
    "window_id;"
    "CREATE VIEW kreplay_declined AS SELECT guid, reason, reason_text, COUNT(*) AS dispatches,"
    " MIN(dispatch_id) AS first_dispatch FROM kreplay_outcome WHERE kind = 'declined' GROUP BY guid, reason;"
    // A row a process. Dispatches of one window share its bytes and times, so these are added up by windows;
    // captured is the footprint where a snapshot was taken.
    "CREATE VIEW kreplay_summary AS WITH d AS (SELECT guid, COUNT(*) AS dispatches,"
    " SUM(kind = 'filtered') AS filtered, SUM(kind = 'single') AS single, SUM(kind = "
    "'replayed') AS replayed, SUM(kind = 'joined') AS joined,"
    " SUM(kind = 'declined') AS declined, SUM(deterministic = 0) AS not_deterministic,"
    " SUM(reentrant <> 0) AS reentrant, SUM(disagreements > 0) AS disagreeing"
    " FROM kreplay_outcome GROUP BY guid), o AS (SELECT guid,"
    " MAX((kind = 'replayed' OR snapshot_ns > 0) * captured_bytes) AS captured_bytes,"
    " MAX(compared_bytes) AS compared_bytes, MAX(restored_bytes) AS restored_bytes, MAX(gate_ns) AS gate_ns,"
    " MAX(drain_ns) AS drain_ns, MAX(snapshot_ns) AS snapshot_ns, MAX(live_ns) AS live_ns,"
    " MAX(compare_ns) AS compare_ns, MAX(restore_ns) AS restore_ns, MAX(passes_ns) AS passes_ns,"
    " MAX(finish_ns) AS finish_ns FROM kreplay_outcome GROUP BY guid, window_id),"
    " w AS (SELECT guid, SUM(captured_bytes) AS captured_bytes, SUM(compared_bytes) AS compared_bytes,"
    " SUM(restored_bytes) AS restored_bytes, SUM(gate_ns) AS gate_ns, SUM(drain_ns) AS drain_ns,"
    " SUM(snapshot_ns) AS snapshot_ns, SUM(live_ns) AS live_ns, SUM(compare_ns) AS compare_ns,"
    " SUM(restore_ns) AS restore_ns, SUM(passes_ns) AS passes_ns, SUM(finish_ns) AS finish_ns FROM o"
    " GROUP BY guid) SELECT p.guid, ifnull(d.dispatches, 0) AS dispatches, ifnull(filtered, 0) AS filtered,"
    " ifnull(single, 0) AS single, ifnull(replayed, 0) AS replayed,"
    " ifnull(joined, 0) AS joined, ifnull(declined, 0) AS declined,"
    " ifnull(not_deterministic, 0) AS not_deterministic, ifnull(reentrant, 0) AS reentrant,"
    " ifnull(disagreeing, 0) AS disagreeing, ifnull(captured_bytes, 0) AS captured_bytes,"
    " ifnull(compared_bytes, 0) AS compared_bytes, ifnull(restored_bytes, 0) AS restored_bytes,"
    " ifnull(gate_ns, 0) AS gate_ns, ifnull(drain_ns, 0) AS drain_ns, ifnull(snapshot_ns, 0) AS snapshot_ns,"
    " ifnull(live_ns, 0) AS live_ns, ifnull(compare_ns, 0) AS compare_ns, ifnull(restore_ns, 0) AS "
    "restore_ns,"
    " ifnull(passes_ns, 0) AS passes_ns, ifnull(finish_ns, 0) AS finish_ns, p.records_lost"
    " FROM kreplay_process p LEFT JOIN d ON d.guid = p.guid LEFT JOIN w ON w.guid = p.guid;";

int kr_store_create_own_tables(struct kr_store *store)
{
    return kr_store_exec(store, own_tables);
}

// ---- Text that grows; a failed allocation shows once, at the end.

struct text {
    char *data;
    size_t length;
    FILE *stream;
};

static bool text_open(struct text *text)
{
    *text = (struct text){0};
    text->stream = open_memstream(&text->data, &text->length);
    return text->stream != NULL;
}

static int text_exec(struct kr_store *store, struct text *text)
{
    int status;
    if (fclose(text->stream) == 0 && text->data)
        status = kr_store_exec(store, text->data);
    else
        status = kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    free(text->data);
    return status;
}

static void write_table(FILE *sql, const struct kr_rocpd_table *table, const struct kr_store_ids *ids)
{
    fprintf(sql, "CREATE TABLE \"%s%s\" (\"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", table->name,
            ids->suffix);
    for (const struct kr_rocpd_column *column = table->columns; column->name; column++) {
        if (column->type)
            fprintf(sql, ", \"%s\" %s", column->name, column->type);
        else
            fprintf(sql, ", \"%s\" TEXT DEFAULT '%s' NOT NULL", column->name, ids->guid);
    }
    for (const struct kr_rocpd_column *column = table->columns; column->name; column++)
        if (column->reference)
            fprintf(sql, ", FOREIGN KEY (\"%s\") REFERENCES \"rocpd_%s%s\" (id) ON UPDATE CASCADE",
                    column->name, column->reference, ids->suffix);
    fprintf(sql, ");");
}

int kr_store_create_process_tables(struct kr_store *store, const struct kr_store_ids *ids)
{
    struct text text;
    if (!text_open(&text))
        return kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < kr_rocpd_table_count; i++)
        write_table(text.stream, &kr_rocpd_tables[i], ids);
    // Three rows that every rocpd reader asks for; the value of "uuid" is the suffix, underscore included.
    fprintf(text.stream,
            "INSERT INTO \"rocpd_metadata%s\" (\"tag\", \"value\") VALUES ('schema_version', '3'), ('uuid', "
            "'%s'),"
            " ('guid', '%s');",
            ids->suffix, ids->suffix, ids->guid);
    return text_exec(store, &text);
}

// Suffixes of all processes, one after the other; free each with sqlite3_free_table.
static int list_suffixes(struct kr_store *store, char ***rows, int *count)
{
    int columns = 0;
    if (sqlite3_get_table(store->db, "SELECT suffix FROM kreplay_process ORDER BY rowid", rows, count,
                          &columns, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot list the processes");
    return 0;
}

int kr_store_create_views(struct kr_store *store)
{
    char **rows = NULL;
    int count = 0;
    int status = list_suffixes(store, &rows, &count);
    if (status)
        return status;
    struct text text;
    if (!text_open(&text)) {
        sqlite3_free_table(rows);
        return kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    }
    if (count == 0)
        fputs("SELECT 1;", text.stream); // no process, no rocpd part
    for (size_t i = 0; count > 0 && i < kr_rocpd_table_count; i++) {
        const char *name = kr_rocpd_tables[i].name;
        fprintf(text.stream, "CREATE VIEW \"%s\" AS ", name);
        for (int row = 1; row <= count; row++) // row 0 is the heading
            fprintf(text.stream, "%sSELECT * FROM \"%s%s\"", row > 1 ? " UNION ALL " : "", name, rows[row]);
        fputs(";", text.stream);
    }
    for (size_t i = 0; count > 0 && i < kr_rocpd_view_count; i++)
        fprintf(text.stream, "CREATE VIEW \"%s\" AS %s;", kr_rocpd_views[i].name, kr_rocpd_views[i].select);
    // The joins of the views above look values up by event, and events by dispatch.
    for (int row = 1; row <= count; row++)
        fprintf(text.stream,
                "CREATE INDEX \"rocpd_pmc_event%s_event\" ON \"rocpd_pmc_event%s\" (event_id);"
                "CREATE INDEX \"rocpd_kernel_dispatch%s_event\" ON \"rocpd_kernel_dispatch%s\" (event_id);",
                rows[row], rows[row], rows[row], rows[row]);
    sqlite3_free_table(rows);
    return text_exec(store, &text);
}
