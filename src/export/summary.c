// SPDX-License-Identifier: MIT
// The summary of a run: what became of its dispatches, what replay moved and where its time went. Text for
// standard error adds up all processes; JSON has one for each.
#include "export/summary.h"

#include <inttypes.h>

// Columns of the sums below.
enum {
    DISPATCHES = 0,
    FILTERED,
    SINGLE,
    REPLAYED,
    JOINED,
    DECLINED,
    NOT_DETERMINISTIC,
    REENTRANT,
    DISAGREEING,
    CAPTURED,
    COMPARED,
    RESTORED,
    FIRST_PHASE,
    LOST = FIRST_PHASE + 8
};

#define SUM_COLUMNS                                                                                          \
    "sum(dispatches), sum(filtered), sum(single), sum(replayed), sum(joined), sum(declined), "               \
    "sum(not_deterministic),"                                                                                \
    " sum(reentrant), sum(disagreeing), sum(captured_bytes), sum(compared_bytes), sum(restored_bytes),"      \
    " sum(gate_ns), sum(drain_ns), sum(snapshot_ns), sum(live_ns), sum(compare_ns), sum(restore_ns),"        \
    " sum(passes_ns), sum(finish_ns), sum(records_lost)"

static const char *const phases[] = {"gate",    "drain",   "snapshot", "live",
                                     "compare", "restore", "passes",   "finish"};

static void put_bytes(FILE *out, const char *what, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        fprintf(out, "%s %" PRIu64 " bytes", what, bytes);
        return;
    }
    double shown = (double)bytes / 1024;
    size_t unit = 0;
    while (shown >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        shown /= 1024;
        unit++;
    }
    fprintf(out, "%s %.1f %s", what, shown, units[unit]);
}

// " (3 host_memory, 1 footprint_budget)"
static int put_reasons(struct kr_export *export)
{
    FILE *out = export->out;
    sqlite3_stmt *row;
    const char *before = " (";
    int status = kr_query(export, &row,
                          "SELECT sum(dispatches), reason FROM kreplay_declined GROUP BY reason"
                          " ORDER BY 1 DESC, 2");
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        fprintf(out, "%s%" PRIu64 " %s", before, kr_store_u64(row, 0), kr_column_text(row, 1));
        before = ", ";
    }
    sqlite3_finalize(row);
    if (*before == ',')
        putc(')', out);
    return status;
}

// What should be looked at, if there is any.
static void put_doubts(FILE *out, sqlite3_stmt *row)
{
    static const struct {
        int column;
        const char *text;
    } doubts[] = {
        {NOT_DETERMINISTIC, "not deterministic"},
        {REENTRANT, "with work submitted from inside"},
        {DISAGREEING, "whose passes disagree"},
    };
    const char *before = "kreplay: of these, ";
    for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
        if (!kr_store_u64(row, doubts[i].column))
            continue;
        fprintf(out, "%s%" PRIu64 " %s", before, kr_store_u64(row, doubts[i].column), doubts[i].text);
        before = ", ";
    }
    if (*before == ',')
        putc('\n', out);
}

static int put_lines(struct kr_export *export, sqlite3_stmt *row)
{
    FILE *out = export->out;
    fprintf(out,
            "kreplay: %" PRIu64 " dispatches: %" PRIu64 " replayed, %" PRIu64 " single, %" PRIu64
            " filtered, %" PRIu64 " declined",
            kr_store_u64(row, DISPATCHES), kr_store_u64(row, REPLAYED), kr_store_u64(row, SINGLE),
            kr_store_u64(row, FILTERED), kr_store_u64(row, DECLINED));
    int status = put_reasons(export);
    if (kr_store_u64(row, JOINED)) // by application replay, which runs the program once a group
        fprintf(out, ", %" PRIu64 " joined from several runs", kr_store_u64(row, JOINED));
    putc('\n', out);
    put_doubts(out, row);
    if (kr_store_u64(row, REPLAYED) + kr_store_u64(row, DECLINED)) {
        put_bytes(out, "kreplay: captured", kr_store_u64(row, CAPTURED));
        put_bytes(out, ", compared", kr_store_u64(row, COMPARED));
        put_bytes(out, ", restored", kr_store_u64(row, RESTORED));
        fputs("\nkreplay: seconds:", out);
        for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
            fprintf(out, "%s %s %.3f", i ? "," : "", phases[i],
                    (double)kr_store_u64(row, FIRST_PHASE + (int)i) * 1e-9);
        putc('\n', out);
    }
    if (kr_store_u64(row, LOST))
        fprintf(out, "kreplay: %" PRIu64 " records could not be written and are missing here\n",
                kr_store_u64(row, LOST));
    return status;
}

int kr_export_summary(struct kr_export *export)
{
    sqlite3_stmt *row;
    int status = kr_query(export, &row, "SELECT " SUM_COLUMNS " FROM kreplay_summary");
    if (!status && (status = kr_query_next(export, row)) == 1)
        status = kr_store_u64(row, DISPATCHES) ? put_lines(export, row) : 0;
    sqlite3_finalize(row);
    return status ? status : kr_export_check_out(export);
}

int kr_json_put_summary(struct kr_export *export, struct kr_json *json, const char *guid)
{
    sqlite3_stmt *row;
    int status = kr_query(export, &row, "SELECT * FROM kreplay_summary WHERE guid = %Q", guid);
    if (!status)
        status = kr_query_next(export, row);
    if (status == 1) {
        status = 0;
        kr_json_object(json, "summary");
        for (int i = 1; i < sqlite3_column_count(row); i++) // after the guid; records_lost may be unknown
            if (sqlite3_column_type(row, i) != SQLITE_NULL)
                kr_json_u64(json, sqlite3_column_name(row, i), kr_store_u64(row, i));
    }
    sqlite3_finalize(row);
    if (status)
        return status;

    status = kr_query(export, &row,
                      "SELECT reason, dispatches FROM kreplay_declined WHERE guid = %Q"
                      " ORDER BY first_dispatch",
                      guid);
    kr_json_object(json, "declined_by_reason");
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        kr_json_u64(json, kr_column_text(row, 0), kr_store_u64(row, 1));
    }
    kr_json_close(json);
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

int kr_json_put_witnesses(struct kr_export *export, struct kr_json *json, const char *guid)
{
    sqlite3_stmt *row;
    int status =
        kr_query(export, &row,
                 "SELECT w.dispatch_id, w.pass, i.name, sum(w.value) FROM kreplay_witness w"
                 " JOIN rocpd_info_pmc i ON i.id = w.counter_id AND i.guid = w.guid WHERE w.guid = %Q"
                 " GROUP BY w.dispatch_id, w.pass, w.counter_id ORDER BY w.dispatch_id, w.pass",
                 guid);
    kr_json_list(json, "witnesses");
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        kr_json_object(json, NULL);
        kr_json_flat(json);
        kr_json_u64(json, "dispatch_id", kr_store_u64(row, 0));
        kr_json_u64(json, "pass", kr_store_u64(row, 1));
        kr_json_text(json, "counter", kr_column_text(row, 2));
        kr_json_u64(json, "value", kr_store_u64(row, 3));
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}
