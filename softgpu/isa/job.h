// SPDX-License-Identifier: MIT
// One launch as the threads share it that run its work-groups, and the pool of threads that help. A thread takes
// the next group when it has room, so groups start in order; what a thread counts it adds when it is done.
#ifndef SG_JOB_H
#define SG_JOB_H

#include "softgpu/isa/isa.h"

#include <pthread.h>
#include <stdbool.h>

struct sg_job {
    const struct sg_launch *launch;
    uint64_t n_groups;
    uint64_t deadline_ns; // 0 = none
    // Changed atomically.
    uint64_t next_group; // the first that nobody has begun; may pass n_groups
    unsigned live;       // groups that have begun and not ended
    int over;            // somebody found a fault: all stop
    // Under `lock`.
    pthread_mutex_t lock;
    struct sg_counts *counts; // of SG_SHADER_ENGINES
    struct sg_fault *fault;
    uint64_t fault_group;
    bool offered, listed; // to the pool; of the launching thread
    // The pool's; under its lock.
    unsigned helpers, wanted;
    struct sg_job *next;
};

// Number of a group that now is the caller's to run. False when none is left.
bool sg_job_take(struct sg_job *job, uint64_t *number);

// True while nobody has begun the last group; soon out of date.
bool sg_job_left(const struct sg_job *job, uint64_t *groups);

// What a thread counted, and its fault, of kind SG_FAULT_NONE when it had none, in group `number`.
void sg_job_report(struct sg_job *job, const struct sg_counts *counts, const struct sg_fault *fault,
                   uint64_t number);

// Threads that a launch may use: as it says, or SOFTGPU_THREADS, or as many as processors are the process's.
unsigned sg_pool_threads(const struct sg_launch *launch);

// Lets threads of the pool, made when missing, run sg_job_help() for this job; nothing when they may already. For the
// launching thread, as is the next one.
void sg_pool_offer(struct sg_job *job);

// No thread joins any more; returns when those that have are done.
void sg_pool_withdraw(struct sg_job *job);

// Runs groups of the job on the calling thread until none is left to take. False when out of memory. In launch.c.
bool sg_job_help(struct sg_job *job);

#endif
