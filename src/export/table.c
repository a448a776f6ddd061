// SPDX-License-Identifier: MIT
// The table for the terminal: a row a dispatch, a column a counter. The rows shown are in memory, nothing
// else.
#include "counters/agreement.h"
#include "export/query.h"
#include "export/text_table.h"

#include "kreplay/kreplay.h"

#include <inttypes.h>
#include <string.h>

enum { C_ID, C_KERNEL, C_GRID, C_WORKGROUP, C_PASSES, C_OUTCOME, C_COUNTERS };
enum { KERNEL_WIDTH = 28 };

struct view {
    const struct kr_table_options *options;
    size_t processes;
    size_t printed; // processes so far
};

static int add_columns(struct kr_export *export, const char *guid, struct kr_text_table *table)
{
    kr_text_table_column(table, "id", true, true);
    kr_text_table_column(table, "kernel", false, true);
    kr_text_table_column(table, "grid", true, false);
    kr_text_table_column(table, "work-group", true, false);
    kr_text_table_column(table, "passes", true, false);
    kr_text_table_column(table, "outcome", false, false);
    sqlite3_stmt *row;
    int status = kr_query(
        export, &row,
        "SELECT i.name FROM kreplay_value v JOIN rocpd_info_pmc i ON i.id = v.counter_id AND i.guid ="
        " v.guid WHERE v.guid = %Q GROUP BY i.name ORDER BY min(v.pass), min(v.position)",
        guid);
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        kr_text_table_column(table, kr_column_text(row, 0), true, false);
    }
    sqlite3_finalize(row);
    return status;
}

// "1024x16" for 1024, 16, 1.
static void put_size(struct kr_text_table *table, size_t column, sqlite3_stmt *row, int first)
{
    uint64_t x = kr_store_u64(row, first), y = kr_store_u64(row, first + 1), z = kr_store_u64(row, first + 2);
    if (z > 1)
        kr_text_table_cell(table, column, "%" PRIu64 "x%" PRIu64 "x%" PRIu64, x, y, z);
    else if (y > 1)
        kr_text_table_cell(table, column, "%" PRIu64 "x%" PRIu64, x, y);
    else
        kr_text_table_cell(table, column, "%" PRIu64, x);
}

static void put_dispatch(struct kr_text_table *table, sqlite3_stmt *row)
{
    kr_text_table_row(table);
    kr_text_table_cell(table, C_ID, "%" PRIu64, kr_store_u64(row, 0));
    const char *name = kr_column_text(row, 1);
    if (strlen(name) > KERNEL_WIDTH)
        kr_text_table_cell(table, C_KERNEL, "%.*s..", KERNEL_WIDTH - 2, name);
    else
        kr_text_table_cell(table, C_KERNEL, "%s", name);
    put_size(table, C_GRID, row, 2);
    put_size(table, C_WORKGROUP, row, 5);

    uint64_t executed = kr_store_u64(row, 8), requested = kr_store_u64(row, 9);
    const char *kind = kr_column_text(row, 10), *reason = kr_column_text(row, 11);
    bool declined = strcmp(reason, "none") != 0;
    if (declined && requested > executed)
        kr_text_table_cell(table, C_PASSES, "%" PRIu64 " of %" PRIu64, executed, requested);
    else
        kr_text_table_cell(table, C_PASSES, "%" PRIu64, executed);
    kr_text_table_cell(table, C_OUTCOME, "%s%s%s%s%s%s", kind, declined ? ": " : "", declined ? reason : "",
                       sqlite3_column_int(row, 12) ? "" : ", not deterministic",
                       sqlite3_column_int(row, 13) ? ", re-entrant" : "",
                       sqlite3_column_int(row, 14) ? ", passes disagree" : "");
}

static size_t column_of(const struct kr_text_table *table, const char *counter)
{
    size_t c = C_COUNTERS;
    while (c < table->column_count && strcmp(table->columns[c].name, counter) != 0)
        c++;
    return c;
}

// Sums of one dispatch's counters, pass by pass: the first is shown, the others are compared with it.
struct sums {
    struct kr_counter_sum shown, current, least, most;
    int64_t pass;    // of `current`; -1 = none yet
    bool is_witness; // that pass was not asked for the counter
    bool have, have_shown;
};

static bool below(const struct kr_counter_sum *a, const struct kr_counter_sum *b)
{
    return kr_counter_sum_value(a) < kr_counter_sum_value(b);
}

static void end_pass(struct sums *sums)
{
    if (sums->pass < 0)
        return;
    if (!sums->is_witness && !sums->have_shown) {
        sums->shown = sums->current;
        sums->have_shown = true;
    }
    if (!sums->have || below(&sums->current, &sums->least))
        sums->least = sums->current;
    if (!sums->have || !below(&sums->current, &sums->most))
        sums->most = sums->current;
    sums->have = true;
    sums->current = (struct kr_counter_sum){0};
}

static void end_counter(struct kr_text_table *table, size_t column, struct sums *sums, bool *differs)
{
    end_pass(sums);
    if (sums->have_shown && column < table->column_count) {
        double tolerance = kr_counter_tolerance(table->columns[column].name);
        bool agrees = kr_counter_agrees(tolerance, &sums->least, &sums->most);
        const char *mark = agrees ? "" : "*";
        if (sums->shown.real != 0)
            kr_text_table_cell(table, column, "%.4g%s", kr_counter_sum_value(&sums->shown), mark);
        else
            kr_text_table_cell(table, column, "%" PRIu64 "%s", sums->shown.whole, mark);
        *differs = *differs || !agrees;
    }
    *sums = (struct sums){.pass = -1};
}

static int put_counters(struct kr_export *export, const char *guid, uint64_t dispatch_id,
                        struct kr_text_table *table, bool *differs)
{
    sqlite3_stmt *row;
    int status =
        kr_query(export, &row,
                 "SELECT i.name, v.pass, v.value, v.witness FROM"
                 " (SELECT counter_id, pass, value, 0 AS witness FROM kreplay_value WHERE guid = %Q"
                 " AND dispatch_id = %lld UNION ALL SELECT counter_id, pass, value, 1 FROM kreplay_witness"
                 " WHERE guid = %Q AND dispatch_id = %lld) v"
                 " JOIN rocpd_info_pmc i ON i.id = v.counter_id AND i.guid = %Q ORDER BY i.name, v.pass",
                 guid, (long long)dispatch_id, guid, (long long)dispatch_id, guid);
    struct sums sums = {.pass = -1};
    size_t column = table->column_count;
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        size_t this_column = column_of(table, kr_column_text(row, 0));
        if (this_column != column)
            end_counter(table, column, &sums, differs);
        column = this_column;
        if (sqlite3_column_int64(row, 1) != sums.pass)
            end_pass(&sums);
        sums.pass = sqlite3_column_int64(row, 1);
        sums.is_witness = sqlite3_column_int(row, 3) != 0;
        if (sqlite3_column_type(row, 2) == SQLITE_FLOAT)
            sums.current.real += sqlite3_column_double(row, 2);
        else
            sums.current.whole += kr_store_u64(row, 2);
    }
    end_counter(table, column, &sums, differs);
    sqlite3_finalize(row);
    return status;
}

static int put_rows(struct kr_export *export, const char *guid, struct kr_text_table *table,
                    uint64_t max_rows, bool *differs)
{
    sqlite3_stmt *row;
    int status =
        kr_query(export, &row,
                 "SELECT k.dispatch_id, json_extract(s.extdata, '$.truncated_kernel_name'), k.grid_size_x,"
                 " k.grid_size_y, k.grid_size_z, k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z,"
                 " o.executed_passes, o.requested_passes, o.kind, o.reason, o.deterministic, o.reentrant,"
                 " o.disagreements"
                 " FROM rocpd_kernel_dispatch k JOIN kreplay_outcome o ON o.guid = k.guid AND o.dispatch_id ="
                 " k.dispatch_id JOIN rocpd_info_kernel_symbol s ON s.guid = k.guid AND s.id = k.kernel_id"
                 " WHERE k.guid = %Q AND o.reason <> 'not_selected' ORDER BY k.dispatch_id LIMIT %lld",
                 guid, max_rows ? (long long)max_rows : -1ll);
    while (!status && (status = kr_query_next(export, row)) == 1) {
        put_dispatch(table, row);
        status = put_counters(export, guid, kr_store_u64(row, 0), table, differs);
    }
    sqlite3_finalize(row);
    return status;
}

static int put_heading(struct kr_export *export, const char *guid)
{
    sqlite3_stmt *row;
    int status = kr_query(export, &row, "SELECT pid, command FROM kreplay_process WHERE guid = %Q", guid);
    if (!status && (status = kr_query_next(export, row)) == 1) {
        fprintf(export->out, "process %s: %s\n", kr_column_text(row, 0), kr_column_text(row, 1));
        status = 0;
    }
    sqlite3_finalize(row);
    return status;
}

// A blank line stands between the rows and the first note.
static void begin_note(FILE *out, bool *noted)
{
    if (!*noted)
        putc('\n', out);
    *noted = true;
}

// What the rows do not say: why dispatches were declined, what was left out, that the program was killed.
static int put_notes(struct kr_export *export, const char *guid, uint64_t shown, bool differs)
{
    FILE *out = export->out;
    bool noted = false;
    if (differs) {
        begin_note(out, &noted);
        fputs("* differs between passes by more than this counter may; the first of them is shown\n", out);
    }
    sqlite3_stmt *row;
    int status = kr_query(
        export, &row,
        "SELECT reason, reason_text, count(*) FROM kreplay_outcome WHERE guid = %Q AND reason <> 'none'"
        " GROUP BY reason ORDER BY min(dispatch_id)",
        guid);
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        begin_note(out, &noted);
        fprintf(out, "%s (%s): %s\n", kr_column_text(row, 0), kr_column_text(row, 2), kr_column_text(row, 1));
    }
    sqlite3_finalize(row);
    if (status)
        return status;

    status = kr_query(export, &row,
                      "SELECT count(o.dispatch_id), p.complete FROM kreplay_process p LEFT JOIN "
                      "kreplay_outcome o ON o.guid = p.guid"
                      " AND o.reason <> 'not_selected'"
                      " WHERE p.guid = %Q",
                      guid);
    if (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        uint64_t all = kr_store_u64(row, 0);
        if (all > shown && shown) {
            begin_note(out, &noted);
            fprintf(out, "... and %" PRIu64 " more dispatches, not shown here\n", all - shown);
        }
        if (!sqlite3_column_int(row, 1)) {
            begin_note(out, &noted);
            fputs(
                "the record has no end: the program was killed, left without its exit handlers, or still had "
                "work running; its complete dispatches are all here\n",
                out);
        }
    }
    sqlite3_finalize(row);
    return status;
}

static int put_process(struct kr_export *export, const char *guid, void *arg)
{
    struct view *view = arg;
    struct kr_text_table table = {0};
    bool differs = false;
    if (view->printed++)
        putc('\n', export->out);
    int status = view->processes > 1 ? put_heading(export, guid) : 0;
    if (!status)
        status = add_columns(export, guid, &table);
    if (!status)
        status = put_rows(export, guid, &table, view->options->max_rows, &differs);
    if (!status && table.no_memory)
        status = kr_export_fail(export, KREPLAY_NO_MEMORY, "out of memory");
    if (!status) {
        if (table.row_count)
            kr_text_table_print(&table, export->out, view->options->width);
        else
            fputs("no dispatch to show\n", export->out);
        status = put_notes(export, guid, table.row_count, differs);
    }
    kr_text_table_free(&table);
    return status;
}

static int count_process(struct kr_export *export, const char *guid, void *arg)
{
    (void)export;
    (void)guid;
    ((struct view *)arg)->processes++;
    return 0;
}

int kr_export_table(struct kr_export *export, const struct kr_table_options *options)
{
    struct view view = {.options = options};
    int status = kr_each_process(export, count_process, &view);
    if (!status)
        status = kr_each_process(export, put_process, &view);
    return status ? status : kr_export_check_out(export);
}
