// SPDX-License-Identifier: MIT
// Agent properties that derived counters name. The names are those of the kernel driver's topology files.
#include "counters/expression.h"

#include <string.h>

static double simd_count(const kreplay_agent *agent)
{
    return (double)agent->compute_units * agent->simds_per_cu;
}
static double simd_per_cu(const kreplay_agent *agent)
{
    return agent->simds_per_cu;
}
static double cu_count(const kreplay_agent *agent)
{
    return agent->compute_units;
}
static double wave_front_size(const kreplay_agent *agent)
{
    return agent->wave_size;
}

// An agent is described by its shader engines alone, as if each had one array: the quotient of these two,
// which is all that the tables use, is the number of engines either way.
static double array_count(const kreplay_agent *agent)
{
    return agent->shader_engines;
}
static double simd_arrays_per_engine(const kreplay_agent *agent)
{
    (void)agent;
    return 1;
}

static const struct {
    const char *name;
    double (*get)(const kreplay_agent *agent);
} properties[] = {
    {"simd_count", simd_count},   {"simd_per_cu", simd_per_cu},
    {"cu_count", cu_count},       {"wave_front_size", wave_front_size},
    {"array_count", array_count}, {"simd_arrays_per_engine", simd_arrays_per_engine},
};

int kr_agent_property(const kreplay_agent *agent, const char *name, double *value)
{
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
        if (strcmp(properties[i].name, name) != 0)
            continue;
        if (agent != NULL)
            *value = properties[i].get(agent);
        return KREPLAY_OK;
    }
    return KREPLAY_NOT_FOUND;
}
