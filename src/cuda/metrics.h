// SPDX-License-Identifier: MIT
// The metrics of a GPU by CUPTI's names, and the schedule of a group of them. Needs no GPU, only the chip's
// name.
#ifndef KR_CUDA_METRICS_H
#define KR_CUDA_METRICS_H

#include "cuda/cupti.h"
#include "cuda/joint.h"
#include "engine/backend.h"

#include <pthread.h>

struct kr_metrics {
    pthread_mutex_t lock;
    char chip[64];
    struct kr_config names; // a host object that knows the names, opened when needed
    char **bases[CUPTI_METRIC_TYPE__COUNT];
    size_t base_count[CUPTI_METRIC_TYPE__COUNT];
    struct kr_metric_group *groups; // that exist, in the order in which they were made
};

// A counter group: metrics that are counted together.
struct kr_metric_group {
    kreplay_group base; // .executions: passes that CUPTI needs
    struct kr_metric_group *next;
    struct kr_metrics *metrics;
    char **names;
    uint64_t *ids;
    double *values; // scratch of one evaluation
    bool *exact;    // a count, not a ratio
    size_t count;
    uint32_t first;  // of its executions in the joint configuration ...
    uint64_t serial; // ... with this serial; 0 = in none yet
};

// The chip of a GPU as CUPTI names it, for example "GH100"; after cuInit, and before anything below.
// Initialises CUPTI's profiler, without which the question crashes.
CUptiResult kr_metrics_chip(const struct kr_cupti *cupti, uint32_t device, char *chip, size_t chip_bytes);

void kr_metrics_init(struct kr_metrics *metrics, const char *chip);
void kr_metrics_fini(const struct kr_cupti *cupti, struct kr_metrics *metrics);

// As in backend.h. Thread-safe.
int kr_metrics_visit(const struct kr_cupti *cupti, struct kr_metrics *metrics, uint32_t agent,
                     int (*visit)(void *arg, const kreplay_counter *counter), void *arg);
int kr_metric_group_create(const struct kr_cupti *cupti, struct kr_metrics *metrics, uint32_t agent,
                           const char *const *names, size_t count, struct kr_metric_group **out, char *error,
                           size_t error_bytes);
void kr_metric_group_destroy(struct kr_metric_group *group);

#endif
