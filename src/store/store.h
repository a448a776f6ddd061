// SPDX-License-Identifier: MIT
// The store: one SQLite database made from record logs, which every export reads. It holds the tables and
// views of the rocpd schema (rocpd_tables.h), with each counter once per dispatch, and tables of our own with
// everything else:
//
//   kreplay_run              one row: id, version, mode, command, schema
//   kreplay_process          one row a log: guid and suffix of its rocpd tables, how it ended, whether it is
//                            whole
//   kreplay_outcome          one row a dispatch: window, outcome, reason, passes, bytes, times
//   kreplay_window           view: windows, their dispatches, first to last
//   kreplay_pass             one row an executed pass of a dispatch
//   kreplay_value            one row a counter instance of a pass: exact 64-bit values
//   kreplay_role             which counters are derived, and which were measured only for these
//   kreplay_input            values of the latter
//   kreplay_derived          from which passes each derived value comes
//   kreplay_group            the counter groups as asked for
//   kreplay_message          what kreplay said
//   kreplay_application_run  application replay: one row a run of the program
//   kreplay_unmatched        application replay: dispatches that not all runs have
//
// SQLite's INTEGER is signed: values of 2^63 and above are stored as their two's complement and read back
// unchanged with kr_store_u64(). rocpd_pmc_event.value is REAL by its schema, so exact only up to 2^53;
// kreplay_value is exact.
//
// One thread at a time. Functions return 0 or a negative kreplay_status with a one-line text in
// kr_store_error().
#ifndef KR_STORE_H
#define KR_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct kr_store;

// How the run was asked for; strings may be NULL.
struct kr_store_run {
    uint64_t run_id;     // 0 = that of the first process's log, with its command
    const char *mode;    // "kernel", "application"
    const char *command; // of the program
    int exit_status;     // of the program; 128 + signal when a signal ended it; negative = unknown
};

// path NULL: a temporary database that lives until close. An existing file is replaced. On failure *out is
// still set (unless out of memory) so that kr_store_error() can be asked; close it.
int kr_store_create(const char *path, struct kr_store **out);
int kr_store_set_run(struct kr_store *store, const struct kr_store_run *run);
// Adds one process. A log without its last record, or cut in the middle of one, is read as far as it goes and
// marked; one that cannot be read at all is KREPLAY_CORRUPT, _UNSUPPORTED or _IO and adds nothing, and one
// without any record, whose process ended too early, is KREPLAY_END.
int kr_store_add_log(struct kr_store *store, const char *log_path);

// Application replay: the program ran once for each counter group, and the runs are joined. For each run, in
// order and numbered from 1: begin, its logs in the order in which the processes started, end. The first
// run's logs are added with kr_store_add_log(); it says which dispatches there are. A later run's process is
// taken for that of the first run with the same place in this order; its dispatch for the one with the same
// GPU, kernel, grid and work-group and the same place among those that are alike in these. Its values become
// the pass (run - 1) of that dispatch; what has no counterpart is listed in kreplay_unmatched.
int kr_store_join_begin(struct kr_store *store, unsigned run, uint64_t run_id, int exit_status);
int kr_store_join_log(struct kr_store *store, const char *log_path);
int kr_store_join_end(struct kr_store *store);

// Makes the views and indexes and commits. Nothing is visible in a file before.
int kr_store_finish(struct kr_store *store);

// Opens a finished store for reading. KREPLAY_CORRUPT when it is not one.
int kr_store_open(const char *path, struct kr_store **out);

// Writes what an open store holds into a new file; an existing one is replaced.
int kr_store_copy(struct kr_store *store, const char *path);

void kr_store_close(struct kr_store *store); // NULL is fine; without finish the file is removed
sqlite3 *kr_store_db(struct kr_store *store);
const char *kr_store_error(const struct kr_store *store); // never NULL

// The unsigned value of an INTEGER column.
uint64_t kr_store_u64(sqlite3_stmt *statement, int column);
const char *kr_column_text(sqlite3_stmt *statement, int column); // "" for NULL

#endif
