// SPDX-License-Identifier: MIT
// Derived counters, once all runs are in the store: each dispatch's values are worked out from those measured in
// it, and take their place beside them. Counters that were measured only for this step aside, to kreplay_input.
#include "store/store_impl.h"

#include "counters/catalogue.h"
#include "counters/expression.h"
#include "kreplay/kreplay.h"
#include "log/record.h"

#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Behind the measured values of a pass.
#define FIRST_POSITION 1000000

// One derived counter of one GPU of one process.
struct derived {
    int64_t counter_id;
    char *name;
    struct kr_expression *expression;
};

// The values of one counter in one pass, instances in order.
struct measured {
    char *name;
    int64_t pass;
    double *values;
    size_t count;
};

struct work {
    struct kr_store *store;
    const char *guid, *suffix;
    kreplay_agent agent;
    const struct kr_catalogue *catalogue;
    struct derived *derived;
    size_t derived_count;
    struct measured *measured; // of one dispatch, ordered by pass
    size_t measured_count;
    int64_t prefer;                // the pass to take values from, -1 = the first that has them
    int64_t used_first, used_last; // passes that a value came from
    int64_t position;              // of the next value in its dispatch
    sqlite3_stmt *insert_value, *insert_event, *insert_passes;
};

static int no_memory(struct work *work)
{
    return kr_store_fail(work->store, KREPLAY_NO_MEMORY, "out of memory");
}

static int prepare(struct kr_store *store, sqlite3_stmt **row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    *row = NULL;
    int rc = sql ? sqlite3_prepare_v2(store->db, sql, -1, row, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc == SQLITE_OK ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot work out derived counters");
}

// 0 = no more rows, 1 = a row.
static int step(struct kr_store *store, sqlite3_stmt *row)
{
    int rc = sqlite3_step(row);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot work out derived counters");
}

// Runs an insertion whose values are bound, and makes it ready for the next.
static int insert(struct kr_store *store, sqlite3_stmt *row)
{
    int rc = sqlite3_step(row);
    sqlite3_reset(row);
    return rc == SQLITE_DONE ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot store derived counters");
}

// ---- What is to be worked out on one GPU

static int add_derived(struct work *work, sqlite3_stmt *row)
{
    struct derived *grown = realloc(work->derived, (work->derived_count + 1) * sizeof(*grown));
    if (!grown)
        return no_memory(work);
    work->derived = grown;
    struct derived *derived = &grown[work->derived_count];
    *derived =
        (struct derived){.counter_id = sqlite3_column_int64(row, 0), .name = strdup(kr_column_text(row, 1))};
    if (!derived->name)
        return no_memory(work);
    work->derived_count++;
    char error[256];
    int status = kr_expression_parse(kr_column_text(row, 2), &derived->expression, error, sizeof(error));
    return status ? kr_store_fail(work->store, status, "derived counter %s: %s", derived->name, error) : 0;
}

static int read_derived(struct work *work, int64_t agent_id)
{
    sqlite3_stmt *row;
    int status = prepare(work->store, &row,
                         "SELECT i.id, i.name, i.expression FROM kreplay_role r JOIN \"rocpd_info_pmc%s\" i"
                         " ON i.id = r.counter_id WHERE r.guid = %Q AND r.agent_id = %lld AND r.role = %d"
                         " ORDER BY r.rowid",
                         work->suffix, work->guid, (long long)agent_id, KR_LOG_ROLE_DERIVED);
    while (!status && (status = step(work->store, row)) == 1)
        status = add_derived(work, row);
    sqlite3_finalize(row);
    return status;
}

static void forget_derived(struct work *work)
{
    for (size_t i = 0; i < work->derived_count; i++) {
        kr_expression_free(work->derived[i].expression);
        free(work->derived[i].name);
    }
    free(work->derived);
    work->derived = NULL;
    work->derived_count = 0;
}

// ---- What was measured in one dispatch

static void forget_measured(struct work *work)
{
    for (size_t i = 0; i < work->measured_count; i++) {
        free(work->measured[i].name);
        free(work->measured[i].values);
    }
    work->measured_count = 0;
}

static int add_value(struct work *work, const char *name, int64_t pass, double value)
{
    struct measured *last = work->measured_count ? &work->measured[work->measured_count - 1] : NULL;
    if (!last || last->pass != pass || strcmp(last->name, name) != 0) {
        struct measured *grown = realloc(work->measured, (work->measured_count + 1) * sizeof(*grown));
        if (!grown)
            return no_memory(work);
        work->measured = grown;
        last = &grown[work->measured_count];
        *last = (struct measured){.name = strdup(name), .pass = pass};
        if (!last->name)
            return no_memory(work);
        work->measured_count++;
    }
    double *values = realloc(last->values, (last->count + 1) * sizeof(*values));
    if (!values)
        return no_memory(work);
    last->values = values;
    last->values[last->count++] = value;
    return 0;
}

static const struct measured *find(const struct work *work, const char *name, int64_t pass)
{
    for (size_t i = 0; i < work->measured_count; i++)
        if ((pass < 0 || work->measured[i].pass == pass) && strcmp(work->measured[i].name, name) == 0)
            return &work->measured[i];
    return NULL;
}

static int give(void *arg, const struct kr_counter_input *input, const double **values, size_t *count)
{
    struct work *work = arg;
    const struct measured *measured = find(work, input->name, work->prefer);
    if (!measured)
        return KREPLAY_NOT_FOUND;
    if (work->used_first < 0 || measured->pass < work->used_first)
        work->used_first = measured->pass;
    if (measured->pass > work->used_last)
        work->used_last = measured->pass;
    *values = measured->values;
    *count = measured->count;
    return 0;
}

// ---- Values of one dispatch

static int prepare_inserts(struct work *work)
{
    int status = prepare(work->store, &work->insert_value,
                         "INSERT INTO kreplay_value VALUES (%Q, ?, ?, ?, ?, ?, ?)", work->guid);
    if (!status)
        status = prepare(work->store, &work->insert_event,
                         "INSERT INTO \"rocpd_pmc_event%s\" (event_id, pmc_id, value, instance)"
                         " VALUES (?, ?, ?, ?)",
                         work->suffix);
    if (!status)
        status = prepare(work->store, &work->insert_passes,
                         "INSERT INTO kreplay_derived VALUES (%Q, ?, ?, ?, ?)", work->guid);
    return status;
}

static int put_value(struct work *work, int64_t dispatch_id, int64_t counter_id, size_t instance,
                     double value)
{
    sqlite3_stmt *row = work->insert_value;
    sqlite3_bind_int64(row, 1, dispatch_id);
    sqlite3_bind_int64(row, 2, work->used_last);
    sqlite3_bind_int64(row, 3, work->position++);
    sqlite3_bind_int64(row, 4, counter_id);
    sqlite3_bind_int64(row, 5, (int64_t)instance);
    sqlite3_bind_double(row, 6, value);
    int status = insert(work->store, row);
    row = work->insert_event;
    sqlite3_bind_int64(row, 1, dispatch_id);
    sqlite3_bind_int64(row, 2, counter_id);
    sqlite3_bind_double(row, 3, value);
    sqlite3_bind_int64(row, 4, (int64_t)instance);
    return status ? status : insert(work->store, row);
}

static int put_derived(struct work *work, int64_t dispatch_id, int64_t counter_id, const double *values,
                       size_t count)
{
    size_t put = 0;
    int status = 0;
    for (size_t i = 0; !status && i < count; i++) {
        if (!isfinite(values[i]))
            continue; // a share of nothing: there is no number to store
        put++;
        status = put_value(work, dispatch_id, counter_id, i, values[i]);
    }
    if (status || put == 0)
        return status;
    sqlite3_stmt *row = work->insert_passes;
    sqlite3_bind_int64(row, 1, dispatch_id);
    sqlite3_bind_int64(row, 2, counter_id);
    sqlite3_bind_int64(row, 3, work->used_first);
    sqlite3_bind_int64(row, 4, work->used_last);
    return insert(work->store, row);
}

// From one pass if there is one that has everything, else from the first that has each input. One that lacks an
// input has no value.
static int derive_one(struct work *work, int64_t dispatch_id, size_t which)
{
    const struct kr_expression_scope scope = {
        .catalogue = work->catalogue, .agent = &work->agent, .measured = give, .arg = work};
    double *values = NULL;
    size_t count = 0;
    char error[256];
    int status = KREPLAY_NOT_FOUND;
    int64_t last_pass = work->measured_count ? work->measured[work->measured_count - 1].pass : -1;
    for (int64_t pass = 0; status == KREPLAY_NOT_FOUND && pass <= last_pass + 1; pass++) {
        work->prefer = pass <= last_pass ? pass : -1;
        work->used_first = work->used_last = -1;
        status = kr_expression_evaluate(work->derived[which].expression, &scope, &values, &count, error,
                                        sizeof(error));
    }
    if (status == KREPLAY_NO_MEMORY)
        return no_memory(work);
    if (status == 0 && work->used_last >= 0)
        status = put_derived(work, dispatch_id, work->derived[which].counter_id, values, count);
    else
        status = 0;
    free(values);
    return status;
}

static int derive_dispatch(struct work *work, int64_t dispatch_id)
{
    int status = 0;
    work->position = FIRST_POSITION;
    for (size_t i = 0; !status && i < work->derived_count; i++)
        status = derive_one(work, dispatch_id, i);
    forget_measured(work);
    return status;
}

static int derive_dispatches(struct work *work, int64_t node)
{
    sqlite3_stmt *row;
    int status = prepare(work->store, &row,
                         "SELECT v.dispatch_id, v.pass, i.name, v.value FROM kreplay_value v"
                         " JOIN \"rocpd_kernel_dispatch%s\" k ON k.id = v.dispatch_id"
                         " JOIN \"rocpd_info_pmc%s\" i ON i.id = v.counter_id"
                         " WHERE v.guid = %Q AND k.agent_id = %lld AND v.position < %d"
                         " ORDER BY v.dispatch_id, v.pass, v.counter_id, v.instance",
                         work->suffix, work->suffix, work->guid, (long long)node, FIRST_POSITION);
    int64_t dispatch_id = -1;
    while (!status && (status = step(work->store, row)) == 1) {
        status = 0;
        if (work->measured_count && sqlite3_column_int64(row, 0) != dispatch_id)
            status = derive_dispatch(work, dispatch_id);
        dispatch_id = sqlite3_column_int64(row, 0);
        if (!status)
            status = add_value(work, kr_column_text(row, 2), sqlite3_column_int64(row, 1),
                               sqlite3_column_double(row, 3));
    }
    if (!status && work->measured_count)
        status = derive_dispatch(work, dispatch_id);
    sqlite3_finalize(row);
    return status;
}

// ---- All of them

// One GPU of one process: its columns are guid, suffix, agent id, node and what expressions may name of it.
static int derive_agent(struct kr_store *store, sqlite3_stmt *row)
{
    struct work work = {.store = store, .guid = kr_column_text(row, 0), .suffix = kr_column_text(row, 1)};
    work.agent = (kreplay_agent){.size = sizeof(work.agent),
                                 .compute_units = (uint32_t)sqlite3_column_int64(row, 5),
                                 .simds_per_cu = (uint32_t)sqlite3_column_int64(row, 6),
                                 .wave_size = (uint32_t)sqlite3_column_int64(row, 7),
                                 .shader_engines = (uint32_t)sqlite3_column_int64(row, 8)};
    work.catalogue = kr_catalogue_find(kr_column_text(row, 4));
    int status = work.catalogue ? read_derived(&work, sqlite3_column_int64(row, 2)) : 0;
    if (!status && work.derived_count)
        status = prepare_inserts(&work);
    if (!status && work.derived_count)
        status = derive_dispatches(&work, sqlite3_column_int64(row, 3));
    sqlite3_finalize(work.insert_value);
    sqlite3_finalize(work.insert_event);
    sqlite3_finalize(work.insert_passes);
    forget_measured(&work);
    free(work.measured);
    forget_derived(&work);
    return status;
}

static int derive_process(struct kr_store *store, const char *guid, const char *suffix)
{
    sqlite3_stmt *row;
    int status = prepare(
        store, &row,
        "SELECT %Q, %Q, type_index, id, name, json_extract(extdata, '$.cu_count'), json_extract(extdata,"
        " '$.simd_per_cu'), json_extract(extdata, '$.wave_front_size'), json_extract(extdata,"
        " '$.array_count') FROM \"rocpd_info_agent%s\"",
        guid, suffix, suffix);
    while (!status && (status = step(store, row)) == 1)
        status = derive_agent(store, row);
    sqlite3_finalize(row);
    if (status)
        return status;
    char *sql = sqlite3_mprintf(
        "INSERT INTO kreplay_input SELECT guid, dispatch_id, pass, counter_id, instance, value FROM "
        "kreplay_value"
        " WHERE guid = %Q AND counter_id IN (SELECT counter_id FROM kreplay_role WHERE guid = %Q AND role = "
        "%d);"
        "DELETE FROM kreplay_value WHERE guid = %Q AND counter_id IN (SELECT counter_id FROM kreplay_role"
        " WHERE guid = %Q AND role = %d);"
        "DELETE FROM \"rocpd_pmc_event%s\" WHERE pmc_id IN (SELECT counter_id FROM kreplay_role WHERE"
        " guid = %Q AND role = %d)",
        guid, guid, KR_LOG_ROLE_INPUT, guid, guid, KR_LOG_ROLE_INPUT, suffix, guid, KR_LOG_ROLE_INPUT);
    status = sql ? kr_store_exec(store, sql) : kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    sqlite3_free(sql);
    return status;
}

int kr_store_derive(struct kr_store *store)
{
    sqlite3_stmt *row;
    int status =
        prepare(store, &row,
                "SELECT guid, suffix FROM kreplay_process p WHERE EXISTS (SELECT 1 FROM kreplay_role r"
                " WHERE r.guid = p.guid)");
    while (!status && (status = step(store, row)) == 1)
        status = derive_process(store, kr_column_text(row, 0), kr_column_text(row, 1));
    sqlite3_finalize(row);
    return status;
}
