// SPDX-License-Identifier: MIT
// One run of the program with kreplay loaded by its GPU runtime: its environment, its folder for record logs,
// its start and its end. In kernel mode a session is the whole run; application replay has one for each
// group.
#ifndef KR_SESSION_H
#define KR_SESSION_H

#include "cli/setup.h"

#include <stdint.h>
#include <sys/types.h>

struct kr_session {
    const struct kr_setup *setup;
    // Armed in this run; borrowed from the setup. None: kreplay is not loaded.
    const struct kr_name_group *groups;
    size_t group_count;
    const char *mode;
    unsigned pass; // not 0: the files are in a folder pass_N
    // Sets prefix and folder, once the program's process id is known; NULL: <prefix>_run is the folder. 0, or
    // -1 with an error.
    int (*place)(struct kr_session *session, pid_t pid, char *error, size_t error_bytes);
    void *place_arg;

    // What came of it.
    uint64_t id;
    char *prefix; // of the files
    char *folder; // of the logs; absolute
    int exit_status;
    pid_t survivor; // a process of the run that had not ended with the program; 0 = none
    bool used_gpu;  // seen by watching its driver, ...
    bool watched;   // ... if that was possible
};

// Runs the program and waits for it. 0, or -1 with `error` when it was not started.
int kr_session_run(struct kr_session *session, char *error, size_t error_bytes);
// For a run that left no logs: says why, removes its folder, and returns the exit status that follows.
int kr_session_nothing(struct kr_session *session);
// Writes the files of the run and removes its folder, unless it is to be kept. Returns the exit status.
int kr_session_write(struct kr_session *session);
void kr_session_free(struct kr_session *session);

// Words joined by blanks; NULL when out of memory, the caller frees.
char *kr_command_line(char *const *argv);
// Begin of the names of a session's files, in pass_N/ when pass is not 0; their folders are made. NULL with
// an error; the caller frees.
char *kr_session_prefix(const struct kr_session *session, unsigned pass, pid_t pid, char *error,
                        size_t error_bytes);

#endif
