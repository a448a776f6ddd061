// SPDX-License-Identifier: MIT
// Application replay: joins the logs of later runs of the program with the first run's dispatches. A log is
// streamed like any other; which dispatch is which is kept in temporary tables.
#include "store/rows.h"

#include "log/record.h"

#include <stdio.h>
#include <string.h>

// join_base: the first run's dispatches; matched = the last run that had a counterpart. join_seen: how many
// alike a log has had so far. The other two are what a log's own ids mean.
static const char temporary_tables[] =
    "CREATE TEMP TABLE join_base (guid TEXT, agent_id INTEGER, kernel TEXT, grid TEXT, workgroup TEXT,"
    " occurrence INTEGER, dispatch_id INTEGER, pid INTEGER, matched INTEGER,"
    " PRIMARY KEY (guid, agent_id, kernel, grid, workgroup, occurrence)) WITHOUT ROWID;"
    "CREATE TEMP TABLE join_seen (agent_id INTEGER, kernel TEXT, grid TEXT, workgroup TEXT, number INTEGER,"
    " PRIMARY KEY (agent_id, kernel, grid, workgroup)) WITHOUT ROWID;"
    "CREATE TEMP TABLE join_counter (id INTEGER PRIMARY KEY, base_id INTEGER);"
    "CREATE TEMP TABLE join_kernel (id INTEGER PRIMARY KEY, name TEXT);";

// Of one process; %s is the suffix of its tables.
static const char fill_base[] =
    "INSERT INTO temp.join_base SELECT k.guid, k.agent_id, s.kernel_name,"
    " k.grid_size_x || ',' || k.grid_size_y || ',' || k.grid_size_z,"
    " k.workgroup_size_x || ',' || k.workgroup_size_y || ',' || k.workgroup_size_z, row_number() OVER"
    " (PARTITION BY k.agent_id, s.kernel_name, k.grid_size_x, k.grid_size_y, k.grid_size_z,"
    " k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z ORDER BY k.dispatch_id), k.dispatch_id,"
    " k.pid, 1 FROM \"rocpd_kernel_dispatch%s\" k JOIN \"rocpd_info_kernel_symbol%s\" s ON s.id = "
    "k.kernel_id";

static int exec(struct kr_store *store, const char *format, const char *suffix)
{
    char *sql = sqlite3_mprintf(format, suffix, suffix);
    int status = sql ? kr_store_exec(store, sql) : kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    sqlite3_free(sql);
    return status;
}

// One number out of a row, `otherwise` when there is none.
static int64_t ask(struct kr_store *store, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *row = NULL;
    int64_t answer = otherwise;
    if (sqlite3_prepare_v2(store->db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        answer = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return answer;
}

// ---- A run

int kr_store_join_begin(struct kr_store *store, unsigned run, uint64_t run_id, int exit_status)
{
    store->run = run;
    store->run_processes = 0;
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(store->db, "INSERT INTO kreplay_application_run VALUES (?, ?, ?, 0, 0, 0, 0)", -1,
                           &row, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot write the runs");
    sqlite3_bind_int64(row, 1, run);
    sqlite3_bind_int64(row, 2, (int64_t)run_id);
    if (exit_status >= 0)
        sqlite3_bind_int(row, 3, exit_status);
    int rc = sqlite3_step(row);
    sqlite3_finalize(row);
    return rc == SQLITE_DONE ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot write the runs");
}

static int end_first(struct kr_store *store)
{
    int status = kr_store_exec(store, temporary_tables);
    sqlite3_stmt *row = NULL;
    if (!status &&
        sqlite3_prepare_v2(store->db, "SELECT suffix FROM kreplay_process", -1, &row, NULL) != SQLITE_OK)
        status = kr_store_fail(store, KREPLAY_IO, "cannot list the processes");
    while (!status && sqlite3_step(row) == SQLITE_ROW)
        status = exec(store, fill_base, (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    if (!status)
        status = kr_store_exec(store, "UPDATE kreplay_application_run SET (dispatches, matched) ="
                                      " (SELECT count(*), count(*) FROM temp.join_base) WHERE run = 1");
    return status;
}

static int end_later(struct kr_store *store)
{
    char sql[1024];
    unsigned run = store->run;
    snprintf(
        sql, sizeof(sql),
        "INSERT INTO kreplay_unmatched SELECT %u, 'missing', guid, pid, dispatch_id, agent_id, kernel, grid,"
        " workgroup, occurrence FROM temp.join_base WHERE matched <> %u ORDER BY guid, dispatch_id;"
        "UPDATE kreplay_application_run SET"
        " matched = (SELECT count(*) FROM temp.join_base WHERE matched = %u),"
        " extra = (SELECT count(*) FROM kreplay_unmatched WHERE run = %u AND side = 'extra'),"
        " missing = (SELECT count(*) FROM kreplay_unmatched WHERE run = %u AND side = 'missing')"
        " WHERE run = %u;"
        "UPDATE kreplay_application_run SET dispatches = matched + extra WHERE run = %u",
        run, run, run, run, run, run, run);
    return kr_store_exec(store, sql);
}

int kr_store_join_end(struct kr_store *store)
{
    int status = store->run == 1 ? end_first(store) : end_later(store);
    store->runs = store->run;
    store->run = 0;
    return status;
}

int kr_store_join_finish(struct kr_store *store)
{
    if (!store->runs)
        return 0;
    char sql[768];
    snprintf(sql, sizeof(sql),
             "UPDATE kreplay_outcome SET requested_passes = %u, executed_passes = (SELECT count(*) FROM"
             " kreplay_pass p WHERE p.guid = kreplay_outcome.guid AND p.dispatch_id ="
             " kreplay_outcome.dispatch_id), kind = 'joined' WHERE kind = 'single';"
             "DROP TABLE temp.join_base; DROP TABLE temp.join_seen; DROP TABLE temp.join_counter;"
             "DROP TABLE temp.join_kernel",
             store->runs);
    int status = kr_store_exec(store, sql);
    sqlite3_stmt *row = NULL;
    if (!status &&
        sqlite3_prepare_v2(store->db, "SELECT suffix FROM kreplay_process", -1, &row, NULL) != SQLITE_OK)
        status = kr_store_fail(store, KREPLAY_IO, "cannot list the processes");
    while (!status && sqlite3_step(row) == SQLITE_ROW)
        status = exec(store,
                      "UPDATE \"rocpd_info_process%s\" SET extdata = json_set(extdata, '$.kreplay.mode',"
                      " 'application')",
                      (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    return status;
}

// ---- A log of a later run. The loader stands for the first run's process: rows are its.

struct joiner {
    struct kr_loader base;
    bool have_base; // false: the first run had no such process
    uint32_t pid;   // of this run's process
};

static int find_base(struct joiner *joiner)
{
    struct kr_store *store = joiner->base.store;
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(
            store->db, "SELECT guid, suffix, pid, ppid FROM kreplay_process ORDER BY rowid LIMIT 1 OFFSET ?",
            -1, &row, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot list the processes");
    sqlite3_bind_int64(row, 1, store->run_processes);
    struct kr_loader *base = &joiner->base;
    if (sqlite3_step(row) == SQLITE_ROW) {
        joiner->have_base = true;
        snprintf(base->ids.guid, sizeof(base->ids.guid), "%s", (const char *)sqlite3_column_text(row, 0));
        snprintf(base->ids.suffix, sizeof(base->ids.suffix), "%s", (const char *)sqlite3_column_text(row, 1));
        base->pid = (uint32_t)sqlite3_column_int64(row, 2);
        base->ppid = (uint32_t)sqlite3_column_int64(row, 3);
    }
    sqlite3_finalize(row);
    if (!joiner->have_base)
        return 0;
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT id FROM \"rocpd_info_node%s\"", base->ids.suffix);
    base->nid = ask(store, sql, 0);
    return 0;
}

// First number of a statement's row; `otherwise` without one. Resets it.
static int64_t take_number(struct kr_row *row, int64_t otherwise)
{
    if (!row->statement)
        return otherwise;
    int64_t number =
        sqlite3_step(row->statement) == SQLITE_ROW ? sqlite3_column_int64(row->statement, 0) : otherwise;
    sqlite3_reset(row->statement);
    sqlite3_clear_bindings(row->statement);
    return number;
}

static int join_counter(struct joiner *joiner, const kreplay_counter *counter)
{
    struct kr_loader *base = &joiner->base;
    struct kr_row row = kr_row_begin(base, S_JOIN_COUNTER);
    kr_row_u64(&row, kr_loader_node(base, counter->agent_id));
    kr_row_text(&row, counter->name);
    int64_t id = take_number(&row, -1);
    if (id < 0) { // the first run did not know it
        row = kr_row_begin(base, S_JOIN_COUNTER_ID);
        kr_row_u64(&row, counter->counter_id);
        id = take_number(&row, (int64_t)counter->counter_id);
        kreplay_counter added = *counter;
        added.counter_id = (uint64_t)id;
        int status = kr_load_counter(base, &added);
        if (status)
            return status;
    }
    row = kr_row_begin(base, S_JOIN_MAP);
    kr_row_u64(&row, counter->counter_id);
    kr_row_u64(&row, (uint64_t)id);
    return kr_row_done(&row);
}

static uint64_t mapped(struct joiner *joiner, uint64_t counter_id)
{
    struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_MAPPED);
    kr_row_u64(&row, counter_id);
    return (uint64_t)take_number(&row, (int64_t)counter_id);
}

static int join_group(struct joiner *joiner, const kr_log_group *group)
{
    for (size_t i = 0; i < group->counter_count; i++) {
        struct kr_row row = kr_row_begin(&joiner->base, S_OWN_GROUP);
        kr_row_guid(&row);
        kr_row_u64(&row, group->agent_id);
        kr_row_u64(&row, joiner->base.store->run - 1);
        kr_row_u64(&row, i);
        kr_row_u64(&row, mapped(joiner, group->counter_ids[i]));
        int status = kr_row_done(&row);
        if (status)
            return status;
    }
    return 0;
}

static int join_kernel(struct joiner *joiner, const kreplay_kernel *kernel)
{
    struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_KERNEL);
    kr_row_u64(&row, kernel->kernel_id);
    kr_row_text(&row, kernel->name);
    return kr_row_done(&row);
}

// By which dispatches of two runs are known to be the same.
struct key {
    uint64_t agent_id;
    char *kernel; // from sqlite3_mprintf
    char grid[64], workgroup[64];
    uint64_t occurrence;
};

static void put_key(struct kr_row *row, const struct key *key)
{
    kr_row_u64(row, key->agent_id);
    kr_row_text(row, key->kernel);
    kr_row_text(row, key->grid);
    kr_row_text(row, key->workgroup);
}

static int make_key(struct joiner *joiner, const kreplay_dispatch *dispatch, struct key *key)
{
    struct kr_loader *base = &joiner->base;
    struct kr_row row = kr_row_begin(base, S_JOIN_KERNEL_NAME);
    const char *name = dispatch->kernel_name ? dispatch->kernel_name : "";
    kr_row_u64(&row, dispatch->kernel_id);
    if (row.statement && sqlite3_step(row.statement) == SQLITE_ROW)
        name = (const char *)sqlite3_column_text(row.statement, 0);
    key->kernel = sqlite3_mprintf("%s", name);
    if (row.statement)
        sqlite3_reset(row.statement);
    if (!key->kernel)
        return kr_store_fail(base->store, KREPLAY_NO_MEMORY, "out of memory");
    key->agent_id = kr_loader_node(base, dispatch->agent_id);
    snprintf(key->grid, sizeof(key->grid), "%llu,%llu,%llu", (unsigned long long)dispatch->grid[0],
             (unsigned long long)dispatch->grid[1], (unsigned long long)dispatch->grid[2]);
    snprintf(key->workgroup, sizeof(key->workgroup), "%llu,%llu,%llu",
             (unsigned long long)dispatch->workgroup[0], (unsigned long long)dispatch->workgroup[1],
             (unsigned long long)dispatch->workgroup[2]);
    row = kr_row_begin(base, S_JOIN_SEEN);
    put_key(&row, key);
    int64_t seen = take_number(&row, -1);
    if (seen < 0)
        return kr_store_fail(base->store, KREPLAY_IO, "cannot count the dispatches of %s", base->log_path);
    key->occurrence = (uint64_t)seen;
    return 0;
}

static int put_unmatched(struct joiner *joiner, const kreplay_dispatch *dispatch, const struct key *key)
{
    struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_UNMATCHED);
    kr_row_u64(&row, joiner->base.store->run);
    kr_row_text(&row, joiner->have_base ? joiner->base.ids.guid : NULL);
    kr_row_u64(&row, joiner->pid);
    kr_row_u64(&row, dispatch->dispatch_id);
    put_key(&row, key);
    kr_row_u64(&row, key->occurrence);
    return kr_row_done(&row);
}

// Each counter stands once per dispatch in the rocpd tables: the first run's value, if that has it. Asked of our own
// table, whose key leads to a dispatch; rocpd's tables get their indices when all rows are there.
static bool have_value(struct joiner *joiner, uint64_t dispatch_id, uint64_t counter_id)
{
    struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_HAVE_VALUE);
    kr_row_guid(&row);
    kr_row_u64(&row, dispatch_id);
    kr_row_u64(&row, joiner->base.store->run - 1);
    kr_row_u64(&row, counter_id);
    return take_number(&row, 0) != 0;
}

static int put_values(struct joiner *joiner, const kreplay_pass_record *pass, uint64_t dispatch_id)
{
    struct kr_loader *base = &joiner->base;
    uint64_t last = 0; // counter; its instances follow each other
    bool have_last = false, wanted = false;
    for (size_t v = 0; v < pass->value_count; v++) {
        const kreplay_value *value = &pass->values[v];
        if (kr_value_undefined(value))
            continue;
        uint64_t id = mapped(joiner, value->counter_id);
        struct kr_row row = kr_row_begin(base, S_OWN_VALUE);
        kr_row_guid(&row);
        kr_row_u64(&row, dispatch_id);
        kr_row_u64(&row, base->store->run - 1);
        kr_row_u64(&row, v);
        kr_row_u64(&row, id);
        kr_row_u64(&row, value->instance);
        kr_row_value(&row, value);
        int status = kr_row_done(&row);
        if (status)
            return status;
        if (!have_last || id != last)
            wanted = !have_value(joiner, dispatch_id, id);
        have_last = true;
        last = id;
        if (!wanted)
            continue;
        row = kr_row_begin(base, S_PMC_EVENT);
        kr_row_u64(&row, dispatch_id);
        kr_row_u64(&row, id);
        kr_row_real(&row, value->kind == KREPLAY_VALUE_DOUBLE ? value->real : (double)value->value);
        kr_row_u64(&row, value->instance);
        if ((status = kr_row_done(&row)))
            return status;
    }
    return 0;
}

static int join_pass(struct joiner *joiner, const kreplay_dispatch_record *record, uint64_t dispatch_id)
{
    if (record->pass_count == 0)
        return 0; // filtered or declined: no counters
    if (record->pass_count > 1)
        return kr_store_fail(joiner->base.store, KREPLAY_CORRUPT,
                             "%s has several passes, so it is no run of one group", joiner->base.log_path);
    const kreplay_pass_record *pass = &record->passes[0];
    struct kr_row row = kr_row_begin(&joiner->base, S_OWN_PASS);
    kr_row_guid(&row);
    kr_row_u64(&row, dispatch_id);
    kr_row_u64(&row, joiner->base.store->run - 1);
    kr_row_u64(&row, pass->start_ns);
    kr_row_u64(&row, pass->end_ns);
    int status = kr_row_done(&row);
    return status ? status : put_values(joiner, pass, dispatch_id);
}

static int join_dispatch(struct joiner *joiner, const kreplay_dispatch_record *record)
{
    struct key key = {0};
    int status = make_key(joiner, record->dispatch, &key);
    int64_t dispatch_id = -1;
    if (!status && joiner->have_base) {
        struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_FIND);
        kr_row_u64(&row, joiner->base.store->run);
        kr_row_guid(&row);
        put_key(&row, &key);
        kr_row_u64(&row, key.occurrence);
        dispatch_id = take_number(&row, -1);
    }
    if (!status && dispatch_id < 0)
        status = put_unmatched(joiner, record->dispatch, &key);
    else if (!status)
        status = join_pass(joiner, record, (uint64_t)dispatch_id);
    sqlite3_free(key.kernel);
    return status;
}

static int join_message(struct joiner *joiner, const char *text)
{
    char *with_run = sqlite3_mprintf("run %u: %s", joiner->base.store->run, text);
    struct kr_row row = kr_row_begin(&joiner->base, S_JOIN_MESSAGE);
    kr_row_guid(&row);
    kr_row_text(&row, with_run);
    int status = kr_row_done(&row);
    sqlite3_free(with_run);
    return status;
}

static int join_record(struct joiner *joiner, const kr_log_record *record)
{
    const kreplay_agent *agent = &record->u.agent;
    switch (record->type) {
    case KR_LOG_PROCESS:
        joiner->pid = record->u.process.pid;
        return find_base(joiner);
    case KR_LOG_AGENT:
        if (agent->agent_id < KR_MAX_AGENTS)
            joiner->base.agent_node[agent->agent_id] = agent->node_id;
        return 0;
    case KR_LOG_KERNEL:
        return join_kernel(joiner, &record->u.kernel);
    case KR_LOG_COUNTER:
        return joiner->have_base ? join_counter(joiner, &record->u.counter) : 0;
    case KR_LOG_GROUP:
        return joiner->have_base ? join_group(joiner, &record->u.group) : 0;
    case KR_LOG_DISPATCH:
        return join_dispatch(joiner, &record->u.dispatch.record);
    case KR_LOG_MESSAGE:
        return joiner->have_base ? join_message(joiner, record->u.message) : 0;
    case KR_LOG_CODE_OBJECT:
    case KR_LOG_ROLE: // the first run has told
    case KR_LOG_END:
        return 0;
    }
    return 0; // a type of a later version
}

static int join_records(struct joiner *joiner, struct kr_log_reader *reader)
{
    struct kr_store *store = joiner->base.store;
    kr_log_record record;
    int status = kr_store_exec(store, "DELETE FROM temp.join_seen; DELETE FROM temp.join_counter;"
                                      "DELETE FROM temp.join_kernel");
    while (!status && (status = kr_log_next(reader, &record)) == 0)
        status = join_record(joiner, &record);
    if (status == KREPLAY_END || (status == KREPLAY_CORRUPT && !store->error[0]))
        return 0; // a log that is cut is read as far as it goes
    if (!store->error[0])
        kr_store_fail(store, status, "cannot read %s", joiner->base.log_path);
    return status;
}

int kr_store_join_log(struct kr_store *store, const char *log_path)
{
    struct kr_log_reader *reader = NULL;
    store->error[0] = '\0';
    int status = kr_log_open(log_path, &reader);
    if (status)
        return kr_store_fail(store, status, "%s cannot be read as a record log", log_path);
    struct joiner joiner = {.base = {.store = store, .log_path = log_path}};
    status = kr_store_exec(store, "SAVEPOINT log");
    if (!status)
        status = join_records(&joiner, reader);
    kr_loader_close(&joiner.base);
    if (status)
        sqlite3_exec(store->db, "ROLLBACK TO log; RELEASE log", NULL, NULL, NULL);
    else
        status = kr_store_exec(store, "RELEASE log");
    store->run_processes += joiner.pid != 0; // a log without records counts in no run
    kr_log_reader_close(reader);
    return status;
}
