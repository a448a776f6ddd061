// SPDX-License-Identifier: MIT
// What is written from a finished store: JSON and CSV as rocprofv3's users know them, and a table for the
// terminal. Everything is streamed from the database; nothing grows with the number of dispatches.
//
// Functions return 0, or a negative kreplay_status with a one-line text in `error`. A write error of `out` is
// noticed and returned; the caller opens and closes the file.
#ifndef KR_EXPORT_H
#define KR_EXPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct kr_store;

struct kr_export {
    struct kr_store *store;
    FILE *out;
    char error[256];
};

// rocprofv3's JSON layout, one entry of "rocprofiler-sdk-tool" a process, with replay_pass in each counter
// record and a section "kreplay" with the outcome of each dispatch.
int kr_export_json(struct kr_export *export);

// rocprofv3's columns; counter_collection has Replay_Pass as its last.
int kr_export_counter_csv(struct kr_export *export);
int kr_export_kernel_csv(struct kr_export *export);
int kr_export_agent_csv(struct kr_export *export);

struct kr_table_options {
    unsigned width;    // columns of the terminal; 0 = no limit
    uint64_t max_rows; // dispatches shown of each process; 0 = all
};

// A row a dispatch, a column a counter (sum over its instances, from the first pass that has it).
int kr_export_table(struct kr_export *export, const struct kr_table_options *options);

// A few lines, each with the prefix "kreplay: ", about all processes together. Nothing where no
// dispatch was recorded.
int kr_export_summary(struct kr_export *export);

#endif
