// SPDX-License-Identifier: MIT
// CUPTI's plan for all counter groups of a GPU in one configuration. A profiling session follows one
// configuration only, and a new session costs as much as a dozen executions: so all groups share one, in which
// each keeps executions of its own.
#ifndef KR_CUDA_JOINT_H
#define KR_CUDA_JOINT_H

#include "cuda/cupti.h"

#include <stdbool.h>
#include <stdint.h>

struct kr_metric_group;

struct kr_config {
    CUpti_Profiler_Host_Object *host; // NULL: there is none
    uint8_t *image;
    size_t bytes;
    uint32_t executions;
};

// An empty configuration; then metrics that share executions, which follow those planned before. Closed by
// the caller, also after an error, of which *step is CUPTI's function.
CUptiResult kr_config_open(const struct kr_cupti *cupti, const char *chip, struct kr_config *config,
                           const char **step);
CUptiResult kr_config_add(const struct kr_cupti *cupti, struct kr_config *config, const char *const *names,
                          size_t count, const char **step);
void kr_config_close(const struct kr_cupti *cupti, struct kr_config *config);

// One thread at a time.
struct kr_joint {
    struct kr_config config;
    char **names; // of all metrics in it
    size_t count;
    uint64_t serial;  // of the configuration: groups in it carry the same
    bool separate;    // CUPTI would not plan the groups side by side: each gets a configuration to itself
    const char *step; // the call that said so, with
    CUptiResult result;
};

// Afterwards the configuration holds `group`, as its executions group->first and following; a change of
// joint->serial tells that it was made anew.
CUptiResult kr_joint_take(const struct kr_cupti *cupti, struct kr_joint *joint, struct kr_metric_group *group,
                          const char **step);
void kr_joint_close(const struct kr_cupti *cupti, struct kr_joint *joint);

#endif
