// SPDX-License-Identifier: MIT
// Counting with CUPTI's range profiler: automatic ranges (one a launch) and user replay (kreplay restores and
// relaunches, CUPTI schedules its passes).
#ifndef KR_CUDA_PROFILER_H
#define KR_CUDA_PROFILER_H

#include "cuda/metrics.h"

// Of one context. One thread at a time.
struct kr_profiler {
    CUpti_RangeProfiler_Object *object; // NULL: no session
    struct kr_joint joint;              // what sessions are configured with
    uint64_t configured;                // serial of the configuration that the session follows
    uint8_t *data;                      // of the session: counters of all groups
    size_t data_bytes, ranges;          // `data` has room for this many ranges
    struct kr_metric_group *group;      // between its first and its last execution
    bool started;
    const char *failed; // the CUPTI function that failed last
    CUptiResult result;
    const char *said; // of which the program's user was told, with
    CUptiResult said_result;
};

// Begins one execution of the group: launches from here to kr_profiler_end are `op_count` ranges. On the
// first one (group->base.execution 0) all counters are reset. With the context current, as below.
int kr_profiler_begin(const struct kr_cupti *cupti, struct kr_profiler *profiler, CUcontext context,
                      struct kr_metric_group *group, size_t op_count);
// Ends it; after the last execution the values are written to `results`. KREPLAY_UNAVAILABLE: see `failed`.
int kr_profiler_end(const struct kr_cupti *cupti, struct kr_profiler *profiler, struct kr_op_result *results,
                    size_t op_count);
// Ends it without values, if it has begun; the next begin starts from nothing.
void kr_profiler_cancel(const struct kr_cupti *cupti, struct kr_profiler *profiler);
// Ends the session, if there is one.
void kr_profiler_close(const struct kr_cupti *cupti, struct kr_profiler *profiler);
// Frees what outlives sessions. Needs no context.
void kr_profiler_fini(const struct kr_cupti *cupti, struct kr_profiler *profiler);

#endif
