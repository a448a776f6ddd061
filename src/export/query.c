// SPDX-License-Identifier: MIT
// Reading the store for the exports.
#include "export/query.h"

#include "kreplay/kreplay.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int kr_export_fail(struct kr_export *export, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(export->error, sizeof(export->error), format, args);
    va_end(args);
    return status;
}

int kr_export_check_out(struct kr_export *export)
{
    if (fflush(export->out) == 0 && !ferror(export->out))
        return 0;
    return kr_export_fail(export, KREPLAY_IO, "cannot write: %s", strerror(errno));
}

int kr_query(struct kr_export *export, sqlite3_stmt **statement, const char *format, ...)
{
    *statement = NULL;
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    if (!sql)
        return kr_export_fail(export, KREPLAY_NO_MEMORY, "out of memory");
    sqlite3 *db = kr_store_db(export->store);
    int rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK
               ? 0
               : kr_export_fail(export, KREPLAY_CORRUPT, "cannot read the store: %s", sqlite3_errmsg(db));
}

int kr_query_next(struct kr_export *export, sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc == SQLITE_DONE)
        return 0;
    return kr_export_fail(export, KREPLAY_IO, "cannot read the store: %s",
                          sqlite3_errmsg(kr_store_db(export->store)));
}

int kr_each_process(struct kr_export *export,
                    int (*visit)(struct kr_export *export, const char *guid, void *arg), void *arg)
{
    sqlite3_stmt *statement;
    int status = kr_query(export, &statement, "SELECT guid FROM kreplay_process ORDER BY start_unix_ns, pid");
    if (status)
        return status;
    while ((status = kr_query_next(export, statement)) == 1) {
        char guid[64]; // the text belongs to the statement; `visit` may run long
        snprintf(guid, sizeof(guid), "%s", kr_column_text(statement, 0));
        if ((status = visit(export, guid, arg)))
            break;
    }
    sqlite3_finalize(statement);
    return status;
}
