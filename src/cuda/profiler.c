// SPDX-License-Identifier: MIT
// Owns the sequence of calls of the range profiler. Seen with CUPTI 2025.3.1: a session (enable to disable)
// collects what its first configuration says, whatever is set later; its first start takes 130 ms or more. So
// all groups are in one configuration (joint.h), and a group is armed by setting it again with the index of
// the group's first pass. The size of the counter data must be asked in each session, or its initialisation
// crashes.
#include "cuda/profiler.h"

#include <stdlib.h>

// Each step remembers itself when it fails.
static bool did(struct kr_profiler *profiler, const char *function, CUptiResult result)
{
    if (result == CUPTI_SUCCESS)
        return true;
    profiler->failed = function;
    profiler->result = result;
    return false;
}

static bool enable(const struct kr_cupti *cupti, struct kr_profiler *profiler, CUcontext context)
{
    CUpti_RangeProfiler_Enable_Params params = {.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                                                .ctx = context};
    if (profiler->object)
        return true;
    if (!did(profiler, "cuptiRangeProfilerEnable", cupti->range_enable(&params)))
        return false;
    profiler->object = params.pRangeProfilerObject;
    return true;
}

static void disable(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    CUpti_RangeProfiler_Disable_Params params = {.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                                                 .pRangeProfilerObject = profiler->object};
    if (profiler->object)
        cupti->range_disable(&params);
    profiler->object = NULL;
    free(profiler->data);
    profiler->data = NULL;
}

static bool make_room(const struct kr_cupti *cupti, struct kr_profiler *profiler, size_t ranges)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params params = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = profiler->object,
        .pMetricNames = (const char **)profiler->joint.names,
        .numMetrics = profiler->joint.count,
        .maxNumOfRanges = ranges,
        .maxNumRangeTreeNodes = (uint32_t)ranges};
    if (profiler->data)
        return true;
    if (!did(profiler, "cuptiRangeProfilerGetCounterDataSize", cupti->range_get_counter_data_size(&params)))
        return false;
    profiler->data = malloc(params.counterDataSize);
    profiler->data_bytes = params.counterDataSize;
    profiler->ranges = ranges;
    return did(profiler, "malloc", profiler->data ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY);
}

// The session that is there, if it follows the configuration with the group; else a new one.
static bool open_session(const struct kr_cupti *cupti, struct kr_profiler *profiler, CUcontext context,
                         struct kr_metric_group *group, size_t ranges)
{
    const char *step = NULL;
    CUptiResult result = kr_joint_take(cupti, &profiler->joint, group, &step);
    if (!did(profiler, step, result))
        return false;
    if (profiler->configured != profiler->joint.serial || profiler->ranges != ranges)
        disable(cupti, profiler);
    profiler->configured = profiler->joint.serial;
    return enable(cupti, profiler, context) && make_room(cupti, profiler, ranges);
}

static bool configure(const struct kr_cupti *cupti, struct kr_profiler *profiler,
                      const struct kr_metric_group *group)
{
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params data = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = profiler->object,
        .counterDataSize = profiler->data_bytes,
        .pCounterData = profiler->data};
    CUpti_RangeProfiler_SetConfig_Params config = {.structSize =
                                                       CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                                                   .pRangeProfilerObject = profiler->object,
                                                   .configSize = profiler->joint.config.bytes,
                                                   .pConfig = profiler->joint.config.image,
                                                   .counterDataImageSize = profiler->data_bytes,
                                                   .pCounterDataImage = profiler->data,
                                                   .range = CUPTI_AutoRange,
                                                   .replayMode = CUPTI_UserReplay,
                                                   .maxRangesPerPass = profiler->ranges,
                                                   .numNestingLevels = 1,
                                                   .minNestingLevel = 1,
                                                   .passIndex = group->first,
                                                   .targetNestingLevel = 1};
    return did(profiler, "cuptiRangeProfilerCounterDataImageInitialize",
               cupti->range_counter_data_initialize(&data)) &&
           did(profiler, "cuptiRangeProfilerSetConfig", cupti->range_set_config(&config));
}

static bool start(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    CUpti_RangeProfiler_Start_Params params = {.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                                               .pRangeProfilerObject = profiler->object};
    profiler->started = did(profiler, "cuptiRangeProfilerStart", cupti->range_start(&params));
    return profiler->started;
}

// *next = the pass that CUPTI would collect next; 0 after the last one.
static bool stop(const struct kr_cupti *cupti, struct kr_profiler *profiler, size_t *next)
{
    CUpti_RangeProfiler_Stop_Params params = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = profiler->object};
    profiler->started = false;
    if (!did(profiler, "cuptiRangeProfilerStop", cupti->range_stop(&params)))
        return false;
    *next = params.isAllPassSubmitted ? 0 : params.passIndex;
    return true;
}

void kr_profiler_cancel(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    size_t next;
    if (profiler->started)
        stop(cupti, profiler, &next);
    if (profiler->group)
        disable(cupti, profiler);
    profiler->group = NULL;
}

int kr_profiler_begin(const struct kr_cupti *cupti, struct kr_profiler *profiler, CUcontext context,
                      struct kr_metric_group *group, size_t op_count)
{
    if (group->base.execution == 0) {
        // A session that ended before its last execution is of no use to the next.
        kr_profiler_cancel(cupti, profiler);
        if (!open_session(cupti, profiler, context, group, op_count) || !configure(cupti, profiler, group))
            goto error;
        profiler->group = group;
    }
    if (profiler->group == group && start(cupti, profiler))
        return 0;
error:
    disable(cupti, profiler);
    profiler->group = NULL;
    return KREPLAY_UNAVAILABLE;
}

static bool decode(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    CUpti_RangeProfiler_DecodeData_Params params = {.structSize =
                                                        CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
                                                    .pRangeProfilerObject = profiler->object};
    if (!did(profiler, "cuptiRangeProfilerDecodeData", cupti->range_decode_data(&params)))
        return false;
    return did(profiler, "cuptiRangeProfilerDecodeData (ranges were dropped)",
               params.numOfRangeDropped == 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN);
}

// CUPTI gives doubles; whole numbers up to 2^53 are exact in them.
static kreplay_value value_of(const struct kr_metric_group *group, size_t i)
{
    kreplay_value value = {.counter_id = group->ids[i]};
    double real = group->values[i];
    if (group->exact[i] && real >= 0 && real <= 0x1p53 && real == (double)(uint64_t)real) {
        value.value = (uint64_t)real;
    } else {
        value.kind = KREPLAY_VALUE_DOUBLE;
        value.real = real;
    }
    return value;
}

static bool evaluate(const struct kr_cupti *cupti, struct kr_profiler *profiler, size_t range,
                     struct kr_op_result *result)
{
    struct kr_metric_group *group = profiler->group;
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params = {
        .structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
        .pHostObject = profiler->joint.config.host,
        .pCounterDataImage = profiler->data,
        .counterDataImageSize = profiler->data_bytes,
        .rangeIndex = range,
        .ppMetricNames = (const char **)group->names,
        .numMetrics = group->count,
        .pMetricValues = group->values};
    if (!did(profiler, "cuptiProfilerHostEvaluateToGpuValues", cupti->host_evaluate(&params)))
        return false;
    for (size_t i = 0; i < group->count; i++) {
        // A ratio of nothing is undefined; a count that is undefined was not counted.
        if (!did(profiler, "cuptiProfilerHostEvaluateToGpuValues (undefined)",
                 group->exact[i] && group->values[i] != group->values[i] ? CUPTI_ERROR_UNKNOWN
                                                                         : CUPTI_SUCCESS))
            return false;
        result->values[i] = value_of(group, i);
    }
    result->value_count = group->count;
    return true;
}

int kr_profiler_end(const struct kr_cupti *cupti, struct kr_profiler *profiler, struct kr_op_result *results,
                    size_t op_count)
{
    struct kr_metric_group *group = profiler->group;
    uint32_t done = group->base.execution + 1;
    size_t next = 0, expected = (group->first + done) % profiler->joint.config.executions;

    if (!stop(cupti, profiler, &next))
        goto error;
    // CUPTI and its plan must agree on which execution this was.
    if (!did(profiler, "cuptiRangeProfilerStop (number of the pass)",
             next == expected ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN))
        goto error;
    if (done < group->base.executions)
        return 0;
    if (!decode(cupti, profiler))
        goto error;
    for (size_t i = 0; i < op_count; i++)
        if (!evaluate(cupti, profiler, i, &results[i]))
            goto error;
    profiler->group = NULL;
    return 0;
error:
    disable(cupti, profiler);
    profiler->group = NULL;
    return KREPLAY_UNAVAILABLE;
}

void kr_profiler_close(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    kr_profiler_cancel(cupti, profiler);
    disable(cupti, profiler);
}

void kr_profiler_fini(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    free(profiler->data);
    profiler->data = NULL;
    kr_joint_close(cupti, &profiler->joint);
}
