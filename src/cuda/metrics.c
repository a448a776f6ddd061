// SPDX-License-Identifier: MIT
// Owns names and ids of metrics. A metric is a base name and a suffix, "smsp__inst_executed" and ".sum";
// CUPTI lists 3 650 bases and some 150 000 combinations for GH100, so nothing is kept but the bases. Id of a
// metric: agent, place of the base in the list, place of the suffix.
#include "cuda/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIXES_MOST 256u
#define NAME_BYTES    512u

CUptiResult kr_metrics_chip(const struct kr_cupti *cupti, uint32_t device, char *chip, size_t chip_bytes)
{
    CUpti_Profiler_Initialize_Params initialize = {.structSize =
                                                       CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params params = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                              .deviceIndex = device};
    CUptiResult result = cupti->profiler_initialize(&initialize);
    if (result == CUPTI_SUCCESS)
        result = cupti->get_chip_name(&params);
    snprintf(chip, chip_bytes, "%s", result == CUPTI_SUCCESS ? params.pChipName : "unknown");
    return result;
}

void kr_metrics_init(struct kr_metrics *metrics, const char *chip)
{
    *metrics = (struct kr_metrics){0};
    snprintf(metrics->chip, sizeof metrics->chip, "%s", chip);
    pthread_mutex_init(&metrics->lock, NULL);
}

static void forget_names(const struct kr_cupti *cupti, struct kr_metrics *metrics)
{
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; type++) {
        for (size_t i = 0; i < metrics->base_count[type]; i++)
            free(metrics->bases[type][i]);
        free(metrics->bases[type]);
        metrics->bases[type] = NULL;
        metrics->base_count[type] = 0;
    }
    kr_config_close(cupti, &metrics->names);
}

void kr_metrics_fini(const struct kr_cupti *cupti, struct kr_metrics *metrics)
{
    forget_names(cupti, metrics);
    pthread_mutex_destroy(&metrics->lock);
}

static int learn_bases(const struct kr_cupti *cupti, struct kr_metrics *metrics, int type)
{
    CUpti_Profiler_Host_GetBaseMetrics_Params params = {
        .structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE,
        .pHostObject = metrics->names.host,
        .metricType = (CUpti_MetricType)type};
    if (cupti->host_get_base_metrics(&params) != CUPTI_SUCCESS)
        return KREPLAY_UNAVAILABLE;
    metrics->bases[type] = calloc(params.numMetrics + 1, sizeof *metrics->bases[type]);
    if (!metrics->bases[type])
        return KREPLAY_NO_MEMORY;
    for (size_t i = 0; i < params.numMetrics; i++) {
        metrics->bases[type][i] = strdup(params.ppMetricNames[i]);
        if (!metrics->bases[type][i])
            return KREPLAY_NO_MEMORY;
        metrics->base_count[type]++;
    }
    return 0;
}

// With the lock held.
static int open_metrics(const struct kr_cupti *cupti, struct kr_metrics *metrics)
{
    int status = 0;
    const char *step;
    if (metrics->names.host)
        return 0;
    if (kr_config_open(cupti, metrics->chip, &metrics->names, &step) != CUPTI_SUCCESS)
        return KREPLAY_UNAVAILABLE;
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT && status == 0; type++)
        status = learn_bases(cupti, metrics, type);
    if (status != 0)
        forget_names(cupti, metrics);
    return status;
}

struct suffixes {
    const char **list; // CUPTI's, until the next question
    size_t count;
};

static struct suffixes suffixes_of(const struct kr_cupti *cupti, struct kr_metrics *metrics, int type,
                                   size_t base)
{
    CUpti_Profiler_Host_GetSubMetrics_Params params = {
        .structSize = CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE,
        .pHostObject = metrics->names.host,
        .metricType = (CUpti_MetricType)type,
        .pMetricName = metrics->bases[type][base]};
    if (cupti->host_get_sub_metrics(&params) != CUPTI_SUCCESS)
        return (struct suffixes){0};
    if (params.numOfSubmetrics > SUFFIXES_MOST)
        params.numOfSubmetrics = SUFFIXES_MOST;
    return (struct suffixes){params.ppSubMetrics, params.numOfSubmetrics};
}

static uint64_t id_of(const struct kr_metrics *metrics, uint32_t agent, int type, size_t base, size_t suffix)
{
    size_t index = base;
    for (int i = 0; i < type; i++)
        index += metrics->base_count[i];
    return ((uint64_t)agent << 32 | index * SUFFIXES_MOST | suffix) + 1;
}

// A base and what CUPTI says of it, kept while the lock is not held: a tool may ask the next question from inside `visit`.
struct described {
    char description[NAME_BYTES], block[64];
    char *names[SUFFIXES_MOST];
    size_t count;
};

static void forget(struct described *base)
{
    for (size_t i = 0; i < base->count; i++)
        free(base->names[i]);
    base->count = 0;
}

// With the lock held.
static int describe(const struct kr_cupti *cupti, struct kr_metrics *metrics, int type, size_t index,
                    struct described *base)
{
    CUpti_Profiler_Host_GetMetricProperties_Params properties = {
        .structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE,
        .pHostObject = metrics->names.host,
        .pMetricName = metrics->bases[type][index]};

    base->description[0] = base->block[0] = '\0';
    base->count = 0;
    if (cupti->host_get_metric_properties(&properties) == CUPTI_SUCCESS) {
        const char *unit = properties.pDimUnit && *properties.pDimUnit ? properties.pDimUnit : NULL;
        snprintf(base->description, sizeof base->description, "%s%s%s%s",
                 properties.pDescription ? properties.pDescription : "", unit ? " (" : "", unit ? unit : "",
                 unit ? ")" : "");
        snprintf(base->block, sizeof base->block, "%s", properties.pHwUnit ? properties.pHwUnit : "");
    }
    struct suffixes suffixes = suffixes_of(cupti, metrics, type, index);
    while (base->count < suffixes.count) {
        char *name = NULL;
        if (asprintf(&name, "%s%s", metrics->bases[type][index], suffixes.list[base->count]) < 0) {
            forget(base);
            return KREPLAY_NO_MEMORY;
        }
        base->names[base->count++] = name;
    }
    return 0;
}

static int visit_base(const struct kr_metrics *metrics, uint32_t agent, int type, size_t index,
                      const struct described *base, int (*visit)(void *arg, const kreplay_counter *counter),
                      void *arg)
{
    int status = 0;
    for (size_t i = 0; i < base->count && status == 0; i++)
        status = visit(arg, &(kreplay_counter){
                                .size = sizeof(kreplay_counter),
                                .counter_id = id_of(metrics, agent, type, index, i),
                                .agent_id = agent,
                                .name = base->names[i],
                                .block = base->block,
                                .description = base->description,
                                .expression = "",
                                .instances = 1,
                            });
    return status;
}

// The bases stay as they are once they are known.
int kr_metrics_visit(const struct kr_cupti *cupti, struct kr_metrics *metrics, uint32_t agent,
                     int (*visit)(void *arg, const kreplay_counter *counter), void *arg)
{
    struct described base;
    pthread_mutex_lock(&metrics->lock);
    int status = open_metrics(cupti, metrics);
    pthread_mutex_unlock(&metrics->lock);
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT && status == 0; type++)
        for (size_t index = 0; index < metrics->base_count[type] && status == 0; index++) {
            pthread_mutex_lock(&metrics->lock);
            status = describe(cupti, metrics, type, index, &base);
            pthread_mutex_unlock(&metrics->lock);
            if (status == 0)
                status = visit_base(metrics, agent, type, index, &base, visit, arg);
            forget(&base);
        }
    return status;
}

// With the lock held. 0 = there is no such metric.
static uint64_t find_metric(const struct kr_cupti *cupti, struct kr_metrics *metrics, uint32_t agent,
                            const char *name)
{
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; type++)
        for (size_t base = 0; base < metrics->base_count[type]; base++) {
            size_t length = strlen(metrics->bases[type][base]);
            if (strncmp(name, metrics->bases[type][base], length) != 0 || name[length] != '.')
                continue;
            struct suffixes suffixes = suffixes_of(cupti, metrics, type, base);
            for (size_t i = 0; i < suffixes.count; i++)
                if (strcmp(name + length, suffixes.list[i]) == 0)
                    return id_of(metrics, agent, type, base, i);
        }
    return 0;
}

// Sums and extremes of a counter are whole numbers; averages, rates and shares are not.
static bool is_exact(const char *name)
{
    static const char *const suffixes[] = {".sum", ".min", ".max"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (length > 4 && strcmp(name + length - 4, suffixes[i]) == 0)
            return true;
    return false;
}

// How many executions the group takes, and whether CUPTI can plan it at all.
static CUptiResult plan_alone(const struct kr_cupti *cupti, const struct kr_metrics *metrics,
                              struct kr_metric_group *group, const char **step)
{
    struct kr_config config;
    CUptiResult result = kr_config_open(cupti, metrics->chip, &config, step);
    if (result == CUPTI_SUCCESS)
        result = kr_config_add(cupti, &config, (const char *const *)group->names, group->count, step);
    group->base.executions = config.executions;
    kr_config_close(cupti, &config);
    return result;
}

static int fill_group(const struct kr_cupti *cupti, struct kr_metrics *metrics, struct kr_metric_group *group,
                      const char *const *names, size_t count, char *error, size_t error_bytes)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t id = find_metric(cupti, metrics, group->base.agent_id, names[i]);
        if (id == 0) {
            snprintf(error, error_bytes, "%s: %s has no metric of this name (it needs a suffix such as .sum)",
                     names[i], metrics->chip);
            return KREPLAY_UNKNOWN_COUNTER;
        }
        group->names[i] = strdup(names[i]);
        if (!group->names[i])
            return KREPLAY_NO_MEMORY;
        group->ids[i] = id;
        group->exact[i] = is_exact(names[i]);
        group->count = i + 1;
    }
    const char *step;
    CUptiResult result = plan_alone(cupti, metrics, group, &step);
    if (result == CUPTI_SUCCESS)
        return 0;
    snprintf(error, error_bytes, "%s: %s", step, kr_cupti_text(cupti, result));
    return KREPLAY_UNAVAILABLE;
}

// With the lock held.
static void enlist(struct kr_metrics *metrics, struct kr_metric_group *group)
{
    struct kr_metric_group **link = &metrics->groups;
    while (*link)
        link = &(*link)->next;
    *link = group;
}

static void free_group(struct kr_metric_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        free(group->names[i]);
    free(group->names);
    free(group->ids);
    free(group->values);
    free(group->exact);
    free(group);
}

int kr_metric_group_create(const struct kr_cupti *cupti, struct kr_metrics *metrics, uint32_t agent,
                           const char *const *names, size_t count, struct kr_metric_group **out, char *error,
                           size_t error_bytes)
{
    struct kr_metric_group *group = calloc(1, sizeof *group);
    int status = KREPLAY_NO_MEMORY;

    *out = NULL;
    if (!group)
        return status;
    group->base.agent_id = agent;
    group->base.value_capacity = count;
    group->metrics = metrics;
    group->names = calloc(count + 1, sizeof *group->names);
    group->ids = calloc(count + 1, sizeof *group->ids);
    group->values = calloc(count + 1, sizeof *group->values);
    group->exact = calloc(count + 1, sizeof *group->exact);
    if (group->names && group->ids && group->values && group->exact) {
        pthread_mutex_lock(&metrics->lock);
        status = open_metrics(cupti, metrics);
        if (status == 0)
            status = fill_group(cupti, metrics, group, names, count, error, error_bytes);
        else
            snprintf(error, error_bytes, "CUPTI does not know the chip \"%s\"", metrics->chip);
        if (status == 0)
            enlist(metrics, group);
        pthread_mutex_unlock(&metrics->lock);
    }
    if (status != 0) {
        free_group(group);
        return status;
    }
    *out = group;
    return 0;
}

void kr_metric_group_destroy(struct kr_metric_group *group)
{
    struct kr_metrics *metrics = group->metrics;
    pthread_mutex_lock(&metrics->lock);
    for (struct kr_metric_group **link = &metrics->groups; *link; link = &(*link)->next)
        if (*link == group) {
            *link = group->next;
            break;
        }
    pthread_mutex_unlock(&metrics->lock);
    free_group(group);
}
