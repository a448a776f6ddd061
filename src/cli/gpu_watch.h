// SPDX-License-Identifier: MIT
// Did the program use a GPU? Every user of an AMD GPU opens one file, /dev/kfd, and keeps it open. inotify
// tells each open of it without loss, however short; at that moment the opener still runs (ROCr needs many
// milliseconds from there to its first kernel), so it is asked whether it belongs to this run: processes of a
// run carry its id in their environment, or, where a wrapper emptied that, descend from the started one.
// Nothing is done to the program. The software GPU opens a file of its own folder in the same way.
#ifndef KR_GPU_WATCH_H
#define KR_GPU_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kr_gpu_watch {
    const char *path; // borrowed
    uint64_t run_id;
    pid_t root;   // the process that was started; 0 = none yet
    int fd;       // of inotify, for poll; -1 = cannot watch
    bool watched; // false: not known whether a GPU was used
    bool used;
};

void kr_gpu_watch_start(struct kr_gpu_watch *watch, const char *path, uint64_t run_id);
void kr_gpu_watch_read(struct kr_gpu_watch *watch); // when fd is readable, and once after the program's end
void kr_gpu_watch_stop(struct kr_gpu_watch *watch);

// A process of the run that is still there, or 0.
pid_t kr_gpu_watch_survivor(uint64_t run_id);

#endif
