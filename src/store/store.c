// SPDX-License-Identifier: MIT
// Opening, finishing and closing a store. Filling it is load.c, its shape is schema.c.
#include "store/store_impl.h"
#include "store/utf8.h"

#include "kreplay/kreplay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kr_store_fail(struct kr_store *store, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int used = vsnprintf(store->error, sizeof(store->error), format, args);
    va_end(args);
    if (status == KREPLAY_IO && used > 0 && (size_t)used < sizeof(store->error))
        snprintf(store->error + used, sizeof(store->error) - (size_t)used, ": %s",
                 store->db ? sqlite3_errmsg(store->db) : strerror(errno));
    return status;
}

int kr_store_exec(struct kr_store *store, const char *sql)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return kr_store_fail(store, KREPLAY_IO, "the database refused \"%.60s...\"", sql);
}

static struct kr_store *store_new(void)
{
    return calloc(1, sizeof(struct kr_store));
}

int kr_store_create(const char *path, struct kr_store **out)
{
    *out = NULL;
    struct kr_store *store = store_new();
    if (!store)
        return KREPLAY_NO_MEMORY;
    *out = store;

    if (path && unlink(path) != 0 && errno != ENOENT)
        return kr_store_fail(store, KREPLAY_IO, "cannot replace %s", path);
    if (path) {
        store->path = strdup(path);
        if (!store->path)
            return kr_store_fail(store, KREPLAY_NO_MEMORY, "out of memory");
    }
    // "" is SQLite's name for a temporary file that is deleted on close: large runs do not have to fit in
    // memory.
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path ? path : "", &store->db, flags, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot create %s", path ? path : "a temporary database");
    store->writing = true;
    // A database that is not finished is thrown away, so nothing needs to survive a crash half-way.
    int status =
        kr_store_exec(store, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN IMMEDIATE");
    if (status)
        return status;
    return kr_store_create_own_tables(store);
}

int kr_store_set_run(struct kr_store *store, const struct kr_store_run *run)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(
            store->db,
            "INSERT OR REPLACE INTO kreplay_run (run_id, version, schema, mode, command, exit_status)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            -1, &statement, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot write the run");
    sqlite3_bind_int64(statement, 1, (int64_t)run->run_id);
    sqlite3_bind_text(statement, 2, KREPLAY_VERSION, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, "1", -1, SQLITE_STATIC); // of our own tables
    sqlite3_bind_text(statement, 4, run->mode, -1, SQLITE_TRANSIENT);
    kr_bind_text(statement, 5, run->command);
    if (run->exit_status >= 0)
        sqlite3_bind_int(statement, 6, run->exit_status);
    int rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot write the run");
}

int kr_store_finish(struct kr_store *store)
{
    int status = kr_store_join_finish(store);
    if (!status)
        status = kr_store_derive(store);
    if (!status)
        status = kr_store_create_views(store);
    // Logs that are converted later name their run themselves.
    if (!status)
        status =
            kr_store_exec(store, "UPDATE kreplay_run SET (run_id, command) = (SELECT run_id, command FROM"
                                 " kreplay_process ORDER BY start_unix_ns LIMIT 1) WHERE run_id = 0 AND"
                                 " EXISTS (SELECT 1 FROM kreplay_process)");
    if (!status)
        status = kr_store_exec(store, "COMMIT");
    if (!status)
        store->writing = false;
    return status;
}

int kr_store_open(const char *path, struct kr_store **out)
{
    *out = NULL;
    struct kr_store *store = store_new();
    if (!store)
        return KREPLAY_NO_MEMORY;
    *out = store;
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_IO, "cannot open %s", path);
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(store->db, "SELECT run_id FROM kreplay_run", -1, &statement, NULL);
    sqlite3_finalize(statement);
    if (rc == SQLITE_NOTADB)
        return kr_store_fail(store, KREPLAY_CORRUPT, "%s is not a database", path);
    if (rc != SQLITE_OK)
        return kr_store_fail(store, KREPLAY_CORRUPT,
                             "%s was not written by kreplay: it has no kreplay_run table", path);
    return 0;
}

int kr_store_copy(struct kr_store *store, const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return kr_store_fail(store, KREPLAY_IO, "cannot replace %s", path);
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(store->db, "VACUUM INTO ?", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? 0 : kr_store_fail(store, KREPLAY_IO, "cannot copy to %s", path);
}

void kr_store_close(struct kr_store *store)
{
    if (!store)
        return;
    sqlite3_close_v2(store->db);
    if (store->writing && store->path)
        unlink(store->path);
    free(store->path);
    free(store);
}

sqlite3 *kr_store_db(struct kr_store *store)
{
    return store->db;
}

const char *kr_store_error(const struct kr_store *store)
{
    return store ? store->error : "out of memory";
}

uint64_t kr_store_u64(sqlite3_stmt *statement, int column)
{
    return (uint64_t)sqlite3_column_int64(statement, column);
}

const char *kr_column_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}
