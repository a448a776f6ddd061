// SPDX-License-Identifier: MIT
// Starts the program and waits for it. The process exists before the program runs in it, so that its id can
// be part of the output's name and the output's folder can be checked before anything of the program has
// happened.
#ifndef KR_LAUNCH_H
#define KR_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct kr_gpu_watch;

struct kr_launch {
    pid_t pid;
    int go;      // write end: the child waits for it
    int failure; // read end: the child's errno if it cannot run the program
};

// Makes the process. 0 or -1 with errno. Signals that end a process are held back from here to
// kr_launch_wait().
int kr_launch_prepare(struct kr_launch *launch, const char *path, char **argv);

// Sets one variable of the program's environment; call before kr_launch_start. 0 or -1 with errno.
int kr_launch_setenv(struct kr_launch *launch, const char *name, const char *value);

// Lets the program run. 0, or -1 with errno when it could not be executed; then the process is gone.
int kr_launch_start(struct kr_launch *launch);

// Ends a prepared process that was not started.
void kr_launch_cancel(struct kr_launch *launch);

// Waits for the program and passes SIGTERM, SIGHUP, SIGINT and SIGQUIT on to it; from the keyboard it gets
// the last two itself, and kreplay stays to write its files: from then on the first of each of these signals
// is only answered in words. `watch` may be NULL. 0 with wait()'s status in *status, or -1 with errno when
// how it ended is not to be had; it has ended then, too.
int kr_launch_wait(struct kr_launch *launch, struct kr_gpu_watch *watch, int *status);

// Whether one of these signals has come, to the program or since it ended: no further run is wanted.
bool kr_launch_asked_to_end(void);

#endif
