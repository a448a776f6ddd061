// SPDX-License-Identifier: MIT
// Statements and rows of one process.
#include "store/rows.h"

#include "store/utf8.h"

#include <stdlib.h>

// %s is the suffix of the process's rocpd tables; our own statements have none.
static const char *const statement_sql[S_COUNT] = {
#define X(name, sql) [S_##name] = sql,
    STATEMENT_MAP(X) OWN_STATEMENT_MAP(X) JOIN_STATEMENT_MAP(X)
#undef X
};

void kr_loader_close(struct kr_loader *loader)
{
    for (int i = 0; i < S_COUNT; i++)
        sqlite3_finalize(loader->statements[i]);
    free(loader->witnesses);
}

uint32_t kr_loader_node(const struct kr_loader *loader, uint32_t agent_id)
{
    return agent_id < KR_MAX_AGENTS ? loader->agent_node[agent_id] : agent_id;
}

sqlite3_stmt *kr_loader_statement(struct kr_loader *loader, enum kr_statement which)
{
    if (loader->statements[which])
        return loader->statements[which];
    char *sql = sqlite3_mprintf(statement_sql[which], loader->ids.suffix, loader->ids.suffix);
    int rc =
        sql ? sqlite3_prepare_v2(loader->store->db, sql, -1, &loader->statements[which], NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (rc != SQLITE_OK)
        kr_store_fail(loader->store, KREPLAY_IO, "cannot prepare a statement");
    return loader->statements[which];
}

struct kr_row kr_row_begin(struct kr_loader *loader, enum kr_statement which)
{
    return (struct kr_row){.loader = loader, .statement = kr_loader_statement(loader, which), .next = 1};
}

struct kr_row kr_row_begin_info(struct kr_loader *loader, enum kr_statement which, uint64_t id)
{
    struct kr_row row = kr_row_begin(loader, which);
    kr_row_u64(&row, id);
    kr_row_u64(&row, (uint64_t)loader->nid);
    kr_row_u64(&row, loader->pid);
    return row;
}

void kr_row_u64(struct kr_row *row, uint64_t value)
{
    sqlite3_bind_int64(row->statement, row->next++, (int64_t)value);
}

void kr_row_real(struct kr_row *row, double value)
{
    sqlite3_bind_double(row->statement, row->next++, value);
}

void kr_row_text(struct kr_row *row, const char *text)
{
    kr_bind_text(row->statement, row->next++, text);
}

void kr_row_guid(struct kr_row *row)
{
    kr_row_text(row, row->loader->ids.guid);
}

int kr_row_done(struct kr_row *row)
{
    if (!row->statement)
        return KREPLAY_IO; // said when it could not be prepared
    int rc = sqlite3_step(row->statement);
    sqlite3_reset(row->statement);
    sqlite3_clear_bindings(row->statement);
    if (rc == SQLITE_DONE)
        return 0;
    struct kr_store *store = row->loader->store;
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return kr_store_fail(store, KREPLAY_CORRUPT, "%s holds a record twice: %s", row->loader->log_path,
                             sqlite3_errmsg(store->db));
    return kr_store_fail(store, KREPLAY_IO, "cannot write to the database");
}
