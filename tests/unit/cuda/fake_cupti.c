// SPDX-License-Identifier: MIT
// The CUPTI of the tests: a few callback names, three metrics, and a range profiler that counts launches.
#include "fake_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    NULL, // ids start at 1
    "cuLaunchKernel",
    "cuLaunchKernel_ptsz",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuGraphLaunch",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemAllocManaged",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemAllocFuture",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuMemcpyHtoD_v2",
    "cuMemMap",
    "cuMemUnmap",
    "cuModuleGetGlobal_v2",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuCtxSynchronize",
    "cuMemCreate",
    "cuMemAllocPitch_v2",
    "cuGraphAddNode_v2",
    "cuGreenCtxCreate",
    "cuCtxDestroy_v2",
    "cuLibraryGetGlobal",
    "cuLibraryUnload",
    "cuLaunchCooperativeKernel_ptsz",
    "cuCtxEnablePeerAccess",
    "cuStreamCreate",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuGraphAddKernelNode",
    "cuGraphAddKernelNode_v2",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphKernelNodeSetParams",
    "cuGraphNodeSetParams",
    "cuGraphExecNodeSetParams",
    "cuGraphAddNode",
    "cuIpcOpenMemHandle_v2",
    "cuIpcCloseMemHandle",
    "cuIpcGetMemHandle",
    "cuMemGetHandleForAddressRange",
    "cuPointerSetAttribute",
    "cuMemHostGetDevicePointer_v2",
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

CUpti_CallbackId fake_callback_id(const char *function)
{
    for (CUpti_CallbackId i = 1; i < COUNT(names); i++)
        if (strcmp(names[i], function) == 0)
            return i;
    return 0;
}

static CUptiResult get_result_string(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "success" : "a failure on purpose";
    return CUPTI_SUCCESS;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *data)
{
    (void)callback, (void)data;
    *handle = NULL;
    return CUPTI_SUCCESS;
}

static CUptiResult enable_callback(uint32_t on, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                   CUpti_CallbackId id)
{
    (void)on, (void)handle, (void)domain, (void)id;
    return CUPTI_SUCCESS;
}

static CUptiResult get_callback_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    (void)domain;
    if (id == 0 || id >= COUNT(names))
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = names[id];
    return CUPTI_SUCCESS;
}

static CUptiResult get_chip_name(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "FK100";
    return CUPTI_SUCCESS;
}

static CUptiResult profiler_initialize(CUpti_Profiler_Initialize_Params *p)
{
    (void)p;
    return CUPTI_SUCCESS;
}

// A host object: how many executions its metrics take. The fake takes one for each metric.
struct host {
    size_t executions;
    unsigned adds;
};

static CUptiResult host_initialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    if (strcmp(p->pChipName, "FK100") != 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    p->pHostObject = calloc(1, sizeof(struct host));
    fake.hosts++;
    return CUPTI_SUCCESS;
}

static CUptiResult host_deinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    free(p->pHostObject);
    fake.hosts--;
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_base_metrics(CUpti_Profiler_Host_GetBaseMetrics_Params *p)
{
    static const char *counters[] = {"sm__runs", "sm__runs_more"}, *ratios[] = {"sm__share"};
    p->ppMetricNames = p->metricType == CUPTI_METRIC_TYPE_COUNTER ? counters : ratios;
    p->numMetrics = p->metricType == CUPTI_METRIC_TYPE_COUNTER ? 2
                    : p->metricType == CUPTI_METRIC_TYPE_RATIO ? 1
                                                               : 0;
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_sub_metrics(CUpti_Profiler_Host_GetSubMetrics_Params *p)
{
    static const char *counters[] = {".avg", ".max", ".sum"}, *ratios[] = {".pct", ".ratio"};
    bool counter = p->metricType == CUPTI_METRIC_TYPE_COUNTER;
    p->ppSubMetrics = counter ? counters : ratios;
    p->numOfSubmetrics = counter ? 3 : 2;
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_metric_properties(CUpti_Profiler_Host_GetMetricProperties_Params *p)
{
    p->pDescription = "what it counts";
    p->pHwUnit = "sm";
    p->pDimUnit = "run";
    return CUPTI_SUCCESS;
}

static CUptiResult host_config_add_metrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    struct host *host = (struct host *)p->pHostObject;
    if (host->adds++ > 0 && fake.no_joint)
        return CUPTI_ERROR_INVALID_METRIC_NAME;
    // One that plans what is added later into the executions of what was there before.
    host->executions =
        fake.merges && p->numMetrics < host->executions ? host->executions : host->executions + p->numMetrics;
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_config_image_size(CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    p->configImageSize = sizeof(size_t);
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_config_image(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    memcpy(p->pConfigImage, &((struct host *)p->pHostObject)->executions, sizeof(size_t));
    return CUPTI_SUCCESS;
}

static CUptiResult host_get_num_of_passes(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
    memcpy(&p->numOfPasses, p->pConfigImage, sizeof p->numOfPasses);
    return CUPTI_SUCCESS;
}

static CUptiResult host_evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = fake.undefined                          ? NAN
                              : strstr(p->ppMetricNames[i], ".ratio") ? 0.25
                                                                      : p->pCounterDataImage[p->rangeIndex];
    return fake.evaluate_result;
}

static CUptiResult range_enable(CUpti_RangeProfiler_Enable_Params *p)
{
    static char object;
    fake.sessions++;
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)&object;
    return CUPTI_SUCCESS;
}

static CUptiResult range_disable(CUpti_RangeProfiler_Disable_Params *p)
{
    (void)p;
    fake.configured = fake.sized = false;
    return CUPTI_SUCCESS;
}

static CUptiResult range_get_counter_data_size(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = p->maxNumOfRanges;
    fake.sized = true;
    return CUPTI_SUCCESS;
}

static uint8_t *data;
static size_t data_bytes;

static CUptiResult range_counter_data_initialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    if (!fake.sized)
        return CUPTI_ERROR_UNKNOWN; // the real one crashes
    memset(p->pCounterData, 0, p->counterDataSize);
    return CUPTI_SUCCESS;
}

static CUptiResult range_set_config(CUpti_RangeProfiler_SetConfig_Params *p)
{
    if (!fake.configured) // later configurations of a session are accepted and not followed
        memcpy(&fake.passes, p->pConfig, sizeof fake.passes);
    fake.configured = true;
    fake.next_pass = p->passIndex;
    data = p->pCounterDataImage;
    data_bytes = p->counterDataImageSize;
    return p->targetNestingLevel == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult range_start(CUpti_RangeProfiler_Start_Params *p)
{
    (void)p;
    if (fake.start_result != CUPTI_SUCCESS)
        return fake.start_result;
    if (fake.started || fake.next_pass >= fake.passes)
        return CUPTI_ERROR_INVALID_OPERATION;
    fake.started = true;
    fake.runs[fake.next_pass]++;
    fake.starts++;
    fake.ranges = 0;
    return CUPTI_SUCCESS;
}

void fake_cupti_launch(void)
{
    if (fake.started && fake.ranges < data_bytes)
        data[fake.ranges++]++;
}

static CUptiResult range_stop(CUpti_RangeProfiler_Stop_Params *p)
{
    if (!fake.started)
        return CUPTI_ERROR_INVALID_OPERATION;
    fake.started = false;
    fake.next_pass = (fake.next_pass + 1) % fake.passes;
    p->passIndex = fake.next_pass + fake.wrong_number;
    p->isAllPassSubmitted = fake.next_pass == 0;
    return CUPTI_SUCCESS;
}

static CUptiResult range_decode_data(CUpti_RangeProfiler_DecodeData_Params *p)
{
    p->numOfRangeDropped = fake.dropped;
    return fake.decode_result;
}

void fake_cupti_fill(struct kr_cupti *cupti)
{
    *cupti = (struct kr_cupti){
        .get_result_string = get_result_string,
        .subscribe = subscribe,
        .enable_callback = enable_callback,
        .get_callback_name = get_callback_name,
        .get_chip_name = get_chip_name,
        .profiler_initialize = profiler_initialize,
        .host_initialize = host_initialize,
        .host_deinitialize = host_deinitialize,
        .host_get_base_metrics = host_get_base_metrics,
        .host_get_sub_metrics = host_get_sub_metrics,
        .host_get_metric_properties = host_get_metric_properties,
        .host_config_add_metrics = host_config_add_metrics,
        .host_get_config_image_size = host_get_config_image_size,
        .host_get_config_image = host_get_config_image,
        .host_get_num_of_passes = host_get_num_of_passes,
        .host_evaluate = host_evaluate,
        .range_enable = range_enable,
        .range_disable = range_disable,
        .range_get_counter_data_size = range_get_counter_data_size,
        .range_counter_data_initialize = range_counter_data_initialize,
        .range_set_config = range_set_config,
        .range_start = range_start,
        .range_stop = range_stop,
        .range_decode_data = range_decode_data,
    };
}
