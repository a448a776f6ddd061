// SPDX-License-Identifier: MIT
// Owns the sequence of calls of the range profiler. Seen with CUPTI 2025.3.1: a session (enable to disable)
// collects what its first configuration says, whatever is set later, so another group needs a session of its
// own, whose first start takes 130 ms; and the size of the counter data must be asked in each session, or its
// initialisation crashes.
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
    profiler->configured = NULL;
}

static bool make_room(const struct kr_cupti *cupti, struct kr_profiler *profiler,
                      struct kr_metric_group *group, size_t ranges)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params params = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = profiler->object,
        .pMetricNames = (const char **)group->names,
        .numMetrics = group->count,
        .maxNumOfRanges = ranges,
        .maxNumRangeTreeNodes = (uint32_t)ranges};
    if (profiler->configured == group && group->ranges == ranges)
        return true;
    if (!did(profiler, "cuptiRangeProfilerGetCounterDataSize", cupti->range_get_counter_data_size(&params)))
        return false;
    free(group->data);
    group->data = malloc(params.counterDataSize);
    group->data_bytes = params.counterDataSize;
    group->ranges = ranges;
    return did(profiler, "malloc", group->data ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY);
}

static bool configure(const struct kr_cupti *cupti, struct kr_profiler *profiler,
                      struct kr_metric_group *group)
{
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params data = {
        .structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = profiler->object,
        .counterDataSize = group->data_bytes,
        .pCounterData = group->data};
    CUpti_RangeProfiler_SetConfig_Params config = {.structSize =
                                                       CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                                                   .pRangeProfilerObject = profiler->object,
                                                   .configSize = group->config_bytes,
                                                   .pConfig = group->config,
                                                   .counterDataImageSize = group->data_bytes,
                                                   .pCounterDataImage = group->data,
                                                   .range = CUPTI_AutoRange,
                                                   .replayMode = CUPTI_UserReplay,
                                                   .maxRangesPerPass = group->ranges,
                                                   .numNestingLevels = 1,
                                                   .minNestingLevel = 1,
                                                   .passIndex = 0,
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

static bool stop(const struct kr_cupti *cupti, struct kr_profiler *profiler, bool *last)
{
    CUpti_RangeProfiler_Stop_Params params = {.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                                              .pRangeProfilerObject = profiler->object};
    profiler->started = false;
    if (!did(profiler, "cuptiRangeProfilerStop", cupti->range_stop(&params)))
        return false;
    *last = params.isAllPassSubmitted;
    return true;
}

void kr_profiler_cancel(const struct kr_cupti *cupti, struct kr_profiler *profiler)
{
    bool last;
    if (profiler->started)
        stop(cupti, profiler, &last);
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
        if (profiler->configured != group || group->ranges != op_count)
            disable(cupti, profiler);
        if (!enable(cupti, profiler, context) || !make_room(cupti, profiler, group, op_count) ||
            !configure(cupti, profiler, group))
            goto error;
        profiler->configured = profiler->group = group;
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
        .pHostObject = group->host,
        .pCounterDataImage = group->data,
        .counterDataImageSize = group->data_bytes,
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
    bool last = false, is_last = group->base.execution + 1 >= group->base.executions;

    if (!stop(cupti, profiler, &last))
        goto error;
    // CUPTI and its plan must agree on which execution is the last.
    if (!did(profiler, "cuptiRangeProfilerStop (number of passes)",
             last == is_last ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN))
        goto error;
    if (!is_last)
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
