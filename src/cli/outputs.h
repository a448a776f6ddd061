// SPDX-License-Identifier: MIT
// From record logs or a database to files and the table; says on standard error what went wrong and what was
// written.
#ifndef KR_OUTPUTS_H
#define KR_OUTPUTS_H

#include "cli/options.h"

#include <stddef.h>
#include <stdint.h>

struct kr_store_run;

// Paths of the record logs in a folder, in the order in which their processes started; free with
// kr_log_paths_free. count 0 when there are none.
struct kr_log_paths {
    char **paths;
    size_t count;
};
int kr_log_paths_read(const char *folder, struct kr_log_paths *out); // 0, or -1 with errno
void kr_log_paths_free(struct kr_log_paths *logs);

// Logs of one run of the program.
struct kr_run_logs {
    uint64_t run_id;
    int exit_status; // -1 = not known
    struct kr_log_paths logs;
};

// Files are <prefix>_results.json and so on. 0 when everything asked for was written, -1 otherwise. A log
// that cannot be read is named and left out.
int kr_outputs_from_logs(const struct kr_options *options, const struct kr_log_paths *logs,
                         const struct kr_store_run *run, const char *prefix);
// Joins the runs of application replay; what does not match is counted on standard error.
int kr_outputs_from_runs(const struct kr_options *options, const struct kr_run_logs *runs, size_t count,
                         const struct kr_store_run *run, const char *prefix);
int kr_outputs_from_database(const struct kr_options *options, const char *database, const char *prefix);

#endif
