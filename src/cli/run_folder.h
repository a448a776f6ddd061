// SPDX-License-Identifier: MIT
// <prefix>_run: the folder that the processes of a run write their record logs into, with index.json, which
// says what the run was. It stays when asked for, when kreplay is killed, and when its logs could not all be
// read.
#ifndef KR_RUN_FOLDER_H
#define KR_RUN_FOLDER_H

#include <stdint.h>

struct kr_run_info {
    uint64_t run_id;
    const char *mode;
    char *const *command; // argv
    int exit_status;      // -1 while running
};

// Makes the folder, absolute in *path (the caller frees), and removes logs of an earlier run from it. 0 or -1
// with errno.
int kr_run_folder_make(const char *prefix, char **path);

// Writes index.json anew: run, and the logs that are there. 0 or -1 with errno.
int kr_run_folder_index(const char *path, const struct kr_run_info *info);

// Removes logs, index and, if then empty, the folder.
void kr_run_folder_remove(const char *path);

#endif
