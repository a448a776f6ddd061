// SPDX-License-Identifier: MIT
#include "counters/agreement.h"

#include <stddef.h>
#include <string.h>

// Counters of executed work are the same in each pass: the same waves execute the same instructions. What
// depends on time, caches or clocks varies; a tenth is what rocprofiler-sdk's own validation allows for such
// counters. It is taken of the smaller value, so that a rise and a fall of the same ratio are treated alike.
#define BAND 0.10

static const struct {
    const char *name;
    bool prefix; // of all counters that begin so
    double tolerance;
} tolerances[] = {
    {"SQ_WAVES", false, 0},
    {"SQ_INSTS_", true, 0},
};

double kr_counter_tolerance(const char *name)
{
    for (size_t i = 0; i < sizeof(tolerances) / sizeof(tolerances[0]); i++)
        if (tolerances[i].prefix ? strncmp(name, tolerances[i].name, strlen(tolerances[i].name)) == 0
                                 : strcmp(name, tolerances[i].name) == 0)
            return tolerances[i].tolerance;
    return BAND;
}

double kr_counter_sum_value(const struct kr_counter_sum *sum)
{
    return (double)sum->whole + sum->real;
}

bool kr_counter_agrees(double tolerance, const struct kr_counter_sum *a, const struct kr_counter_sum *b)
{
    if (a->whole == b->whole && a->real == b->real)
        return true;
    double x = kr_counter_sum_value(a), y = kr_counter_sum_value(b);
    double smaller = x < y ? x : y, larger = x < y ? y : x;
    return tolerance > 0 && larger - smaller <= tolerance * smaller;
}
