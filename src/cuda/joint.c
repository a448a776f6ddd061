// SPDX-License-Identifier: MIT
// Owns configurations. Metrics that are added together are planned together; what is added later gets further
// executions, even if a metric is there already. (Seen with CUPTI 2025.3.1, and checked for each group: where
// it does not hold, groups get a configuration each.)
#include "cuda/joint.h"

#include "cuda/metrics.h"

#include <stdlib.h>
#include <string.h>

CUptiResult kr_config_open(const struct kr_cupti *cupti, const char *chip, struct kr_config *config,
                           const char **step)
{
    CUpti_Profiler_Host_Initialize_Params params = {.structSize =
                                                        CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
                                                    .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
                                                    .pChipName = chip};
    *config = (struct kr_config){0};
    *step = "cuptiProfilerHostInitialize";
    CUptiResult result = cupti->host_initialize(&params);
    if (result == CUPTI_SUCCESS)
        config->host = params.pHostObject;
    return result;
}

static CUptiResult read_image(const struct kr_cupti *cupti, struct kr_config *config, const char **step)
{
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE, .pHostObject = config->host};
    CUpti_Profiler_Host_GetConfigImage_Params image = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE, .pHostObject = config->host};

    *step = "cuptiProfilerHostGetConfigImageSize";
    CUptiResult result = cupti->host_get_config_image_size(&size);
    if (result != CUPTI_SUCCESS)
        return result;
    free(config->image);
    config->bytes = size.configImageSize;
    config->image = malloc(config->bytes);
    if (!config->image)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    image.configImageSize = config->bytes;
    image.pConfigImage = config->image;
    *step = "cuptiProfilerHostGetConfigImage";
    return cupti->host_get_config_image(&image);
}

CUptiResult kr_config_add(const struct kr_cupti *cupti, struct kr_config *config, const char *const *names,
                          size_t count, const char **step)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params add = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
        .pHostObject = config->host,
        .ppMetricNames = (const char **)names,
        .numMetrics = count};
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {
        .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};

    *step = "cuptiProfilerHostConfigAddMetrics";
    CUptiResult result = cupti->host_config_add_metrics(&add);
    if (result == CUPTI_SUCCESS)
        result = read_image(cupti, config, step);
    if (result != CUPTI_SUCCESS)
        return result;
    passes.configImageSize = config->bytes;
    passes.pConfigImage = config->image;
    *step = "cuptiProfilerHostGetNumOfPasses";
    result = cupti->host_get_num_of_passes(&passes);
    config->executions = passes.numOfPasses ? (uint32_t)passes.numOfPasses : 1;
    return result;
}

void kr_config_close(const struct kr_cupti *cupti, struct kr_config *config)
{
    CUpti_Profiler_Host_Deinitialize_Params params = {
        .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, .pHostObject = config->host};
    if (config->host)
        cupti->host_deinitialize(&params);
    free(config->image);
    *config = (struct kr_config){0};
}

static void forget_names(struct kr_joint *joint)
{
    for (size_t i = 0; i < joint->count; i++)
        free(joint->names[i]);
    free(joint->names);
    joint->names = NULL;
    joint->count = 0;
}

void kr_joint_close(const struct kr_cupti *cupti, struct kr_joint *joint)
{
    kr_config_close(cupti, &joint->config);
    forget_names(joint);
}

static bool has_name(const struct kr_joint *joint, const char *name)
{
    for (size_t i = 0; i < joint->count; i++)
        if (strcmp(joint->names[i], name) == 0)
            return true;
    return false;
}

// Groups may go while the configuration stays: the names are copies.
static CUptiResult add_names(struct kr_joint *joint, const struct kr_metric_group *group)
{
    char **grown = realloc(joint->names, (joint->count + group->count) * sizeof *grown);
    if (!grown)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    joint->names = grown;
    for (size_t i = 0; i < group->count; i++) {
        if (has_name(joint, group->names[i]))
            continue;
        joint->names[joint->count] = strdup(group->names[i]);
        if (!joint->names[joint->count])
            return CUPTI_ERROR_OUT_OF_MEMORY;
        joint->count++;
    }
    return CUPTI_SUCCESS;
}

static CUptiResult add_group(const struct kr_cupti *cupti, struct kr_joint *joint,
                             struct kr_metric_group *group, const char **step)
{
    uint32_t before = joint->config.executions;
    CUptiResult result =
        kr_config_add(cupti, &joint->config, (const char *const *)group->names, group->count, step);
    if (result != CUPTI_SUCCESS)
        return result;
    if (joint->config.executions != before + group->base.executions)
        return CUPTI_ERROR_NOT_SUPPORTED; // its executions are not its own
    group->first = before;
    group->serial = joint->serial;
    return add_names(joint, group);
}

// All groups of the GPU, or only the one.
static CUptiResult plan(const struct kr_cupti *cupti, struct kr_joint *joint, struct kr_metric_group *only,
                        const char **step)
{
    const struct kr_metrics *metrics = only->metrics;
    kr_joint_close(cupti, joint);
    joint->serial++;
    CUptiResult result = kr_config_open(cupti, metrics->chip, &joint->config, step);
    if (joint->separate)
        return result == CUPTI_SUCCESS ? add_group(cupti, joint, only, step) : result;
    for (struct kr_metric_group *group = metrics->groups; group && result == CUPTI_SUCCESS;
         group = group->next)
        result = add_group(cupti, joint, group, step);
    return result;
}

CUptiResult kr_joint_take(const struct kr_cupti *cupti, struct kr_joint *joint, struct kr_metric_group *group,
                          const char **step)
{
    if (joint->config.host && group->serial == joint->serial)
        return CUPTI_SUCCESS;
    pthread_mutex_lock(&group->metrics->lock);
    CUptiResult result = plan(cupti, joint, group, step);
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_OUT_OF_MEMORY && !joint->separate) {
        joint->separate = true;
        joint->step = *step;
        joint->result = result;
        result = plan(cupti, joint, group, step);
    }
    pthread_mutex_unlock(&group->metrics->lock);
    if (result != CUPTI_SUCCESS)
        kr_joint_close(cupti, joint);
    return result;
}
