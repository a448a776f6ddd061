// SPDX-License-Identifier: MIT
// What the store's files share.
#ifndef KR_STORE_IMPL_H
#define KR_STORE_IMPL_H

#include "store/store.h"

// One process's name in the rocpd tables: "" guid, suffix "_<guid with underscores>".
struct kr_store_ids {
    char guid[37];
    char suffix[38];
};

struct kr_store {
    sqlite3 *db;
    char *path;             // of the file being written; NULL for temporary ones and when reading
    bool writing;           // between create and finish
    unsigned run;           // of application replay, from 1, between join_begin and join_end
    unsigned run_processes; // logs joined in it
    unsigned runs;          // joined so far
    char error[512];
};

// Notes `text` (printf) and, when status is KREPLAY_IO, SQLite's own words. Returns status.
int kr_store_fail(struct kr_store *store, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int kr_store_exec(struct kr_store *store, const char *sql);

// join.c: what is left to do once all runs are joined. Nothing without application replay.
int kr_store_join_finish(struct kr_store *store);

// derive.c: after joining.
int kr_store_derive(struct kr_store *store);

// schema.c
int kr_store_create_own_tables(struct kr_store *store);
int kr_store_create_process_tables(struct kr_store *store, const struct kr_store_ids *ids);
int kr_store_create_views(struct kr_store *store);

#endif
