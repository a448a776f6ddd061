// SPDX-License-Identifier: MIT
// CUPTI as a table of functions, opened at run time: a process can have one CUPTI only, and frameworks bring
// their own.
#ifndef KR_CUDA_CUPTI_H
#define KR_CUDA_CUPTI_H

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_target.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <stddef.h>

// X(field, function)
#define KR_CUPTI_MAP(X)                                                                                      \
    X(get_version, cuptiGetVersion)                                                                          \
    X(get_result_string, cuptiGetResultString)                                                               \
    X(subscribe, cuptiSubscribe)                                                                             \
    X(unsubscribe, cuptiUnsubscribe)                                                                         \
    X(enable_callback, cuptiEnableCallback)                                                                  \
    X(get_callback_name, cuptiGetCallbackName)                                                               \
    X(get_chip_name, cuptiDeviceGetChipName)                                                                 \
    X(profiler_initialize, cuptiProfilerInitialize)                                                          \
    X(host_initialize, cuptiProfilerHostInitialize)                                                          \
    X(host_deinitialize, cuptiProfilerHostDeinitialize)                                                      \
    X(host_get_base_metrics, cuptiProfilerHostGetBaseMetrics)                                                \
    X(host_get_sub_metrics, cuptiProfilerHostGetSubMetrics)                                                  \
    X(host_get_metric_properties, cuptiProfilerHostGetMetricProperties)                                      \
    X(host_config_add_metrics, cuptiProfilerHostConfigAddMetrics)                                            \
    X(host_get_config_image_size, cuptiProfilerHostGetConfigImageSize)                                       \
    X(host_get_config_image, cuptiProfilerHostGetConfigImage)                                                \
    X(host_get_num_of_passes, cuptiProfilerHostGetNumOfPasses)                                               \
    X(host_evaluate, cuptiProfilerHostEvaluateToGpuValues)                                                   \
    X(range_enable, cuptiRangeProfilerEnable)                                                                \
    X(range_disable, cuptiRangeProfilerDisable)                                                              \
    X(range_get_counter_data_size, cuptiRangeProfilerGetCounterDataSize)                                     \
    X(range_counter_data_initialize, cuptiRangeProfilerCounterDataImageInitialize)                           \
    X(range_set_config, cuptiRangeProfilerSetConfig)                                                         \
    X(range_start, cuptiRangeProfilerStart)                                                                  \
    X(range_stop, cuptiRangeProfilerStop)                                                                    \
    X(range_decode_data, cuptiRangeProfilerDecodeData)

struct kr_cupti {
#define X(field, function) __typeof__(function) *field;
    KR_CUPTI_MAP(X)
#undef X
};

// Fills the table from the CUPTI that is loaded already, else from the usual places. KREPLAY_UNAVAILABLE:
// `error` says that there is none, or that it is too old.
int kr_cupti_open(struct kr_cupti *cupti, char *error, size_t error_bytes);

const char *kr_cupti_text(const struct kr_cupti *cupti, CUptiResult result); // never NULL

#endif
