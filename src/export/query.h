// SPDX-License-Identifier: MIT
// Reading the store: prepared statements that note their errors, and the list of processes.
#ifndef KR_EXPORT_QUERY_H
#define KR_EXPORT_QUERY_H

#include "export/export.h"
#include "store/store.h"

// Notes a text (printf) and returns status.
int kr_export_fail(struct kr_export *export, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// After the last write: 0, or KREPLAY_IO when one failed.
int kr_export_check_out(struct kr_export *export);

// sqlite3_mprintf's format (%Q quotes a string). *statement is NULL on failure; sqlite3_finalize takes it
// either way.
int kr_query(struct kr_export *export, sqlite3_stmt **statement, const char *format, ...);

// 1 with a row, 0 at the end, negative on error.
int kr_query_next(struct kr_export *export, sqlite3_stmt *statement);

// Calls `visit` for each process in the order of the logs, with its guid, until it returns non-zero.
int kr_each_process(struct kr_export *export,
                    int (*visit)(struct kr_export *export, const char *guid, void *arg), void *arg);

#endif
