// SPDX-License-Identifier: MIT
// <prefix>_run: the folder that the processes of a run write their record logs into, with index.json, which
// says what the run was (docs/run-folder.md). With application replay it has a folder pass_N of that kind for
// each run. It stays when asked for, when kreplay is killed, and when its logs could not all be read.
#ifndef KR_RUN_FOLDER_H
#define KR_RUN_FOLDER_H

#include "cli/outputs.h"
#include "counters/groups.h"

#include <stdint.h>

struct kr_run_info {
    uint64_t run_id;
    const char *mode;
    char *const *command;               // argv
    const struct kr_name_group *groups; // asked for
    size_t group_count;
    const struct kr_run_logs *runs; // of application replay; in pass_1, pass_2, ...
    size_t run_count;
    int exit_status; // -1 while running
};

// Makes the folder, absolute in *path (the caller frees), and removes logs of an earlier run from it. 0 or -1
// with errno.
int kr_run_folder_make(const char *prefix, char **path);
// The same for the folder pass_N of a run's folder.
int kr_run_folder_make_pass(const char *folder, unsigned pass, char **path);

// Writes index.json anew: the run, and for each log that is there its process and how that ended. 0 or -1
// with errno.
int kr_run_folder_index(const char *path, const struct kr_run_info *info);

// What convert needs of an index.
struct kr_run_summary {
    uint64_t run_id; // 0 = not known
    char mode[16];
    int exit_status; // -1 = not known
};
// Without an index: a kernel-mode run of which nothing else is known.
void kr_run_folder_read(const char *path, struct kr_run_summary *summary);
// Path of pass_N in the folder, NULL when it is not there; the caller frees.
char *kr_run_folder_pass(const char *path, unsigned pass);

// Removes logs, index, passes and, if then empty, the folder.
void kr_run_folder_remove(const char *path);

#endif
