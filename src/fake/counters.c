// SPDX-License-Identifier: MIT
// Owns the fake device's counters: what a kernel says it did. One of them has two instances.
#include "fake/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_RUNS, FAKE_READS, FAKE_WRITES, FAKE_WORK, FAKE_INSTS, FAKE_COUNTERS };

static const struct {
    const char *name, *description;
    uint32_t instances;
} counters[FAKE_COUNTERS] = {
    [FAKE_RUNS] = {"FAKE_RUNS", "executions", 1},
    [FAKE_READS] = {"FAKE_READS", "reads", 1},
    [FAKE_WRITES] = {"FAKE_WRITES", "writes, low and high half of the count", 2},
    [FAKE_WORK] = {"FAKE_WORK", "work", 1},
    // The name makes it one that repeats exactly.
    [FAKE_INSTS] = {"SQ_INSTS_FAKE", "work again", 1},
};

struct fake_group {
    struct kreplay_group base;
    size_t count;
    unsigned which[FAKE_SLOTS];
};

static uint64_t counter_id(uint32_t agent, unsigned which)
{
    return (uint64_t)agent * FAKE_COUNTERS + which + 1;
}

int fake_counters(void *ctx, uint32_t agent, int (*visit)(void *arg, const kreplay_counter *counter),
                  void *arg)
{
    (void)ctx;
    for (unsigned i = 0; i < FAKE_COUNTERS; i++) {
        kreplay_counter counter = {
            .size = sizeof counter,
            .counter_id = counter_id(agent, i),
            .agent_id = agent,
            .name = counters[i].name,
            .block = "FAKE",
            .description = counters[i].description,
            .expression = "",
            .event = i,
            .instances = counters[i].instances,
        };
        int answer = visit(arg, &counter);
        if (answer != 0)
            return answer;
    }
    return 0;
}

static int find(const char *name)
{
    for (int i = 0; i < FAKE_COUNTERS; i++)
        if (strcmp(counters[i].name, name) == 0)
            return i;
    return -1;
}

int fake_group_create(void *ctx, uint32_t agent, const char *const *names, size_t count, kreplay_group **out,
                      char *error, size_t error_bytes)
{
    (void)ctx;
    if (count > FAKE_SLOTS) {
        snprintf(error, error_bytes, "%zu counters of block FAKE, which has %d registers", count, FAKE_SLOTS);
        return KREPLAY_NO_SLOT;
    }
    struct fake_group *group = calloc(1, sizeof *group);
    if (!group)
        return KREPLAY_NO_MEMORY;
    group->base.agent_id = agent;
    for (size_t i = 0; i < count; i++) {
        int which = find(names[i]);
        if (which < 0) {
            snprintf(error, error_bytes, "no counter \"%s\"", names[i]);
            free(group);
            return KREPLAY_UNKNOWN_COUNTER;
        }
        group->which[group->count++] = (unsigned)which;
        group->base.value_capacity += counters[which].instances;
    }
    *out = &group->base;
    return 0;
}

void fake_group_destroy(void *ctx, kreplay_group *group)
{
    (void)ctx;
    free(group);
}

size_t fake_group_read(const kreplay_group *base, const struct kr_fake_exec *exec, kreplay_value *values)
{
    const struct fake_group *group = (const struct fake_group *)base;
    const uint64_t counted[FAKE_COUNTERS] = {1, exec->reads, exec->writes / 2, exec->work, exec->work};
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        unsigned which = group->which[i];
        values[count++] =
            (kreplay_value){.counter_id = counter_id(base->agent_id, which), .value = counted[which]};
        if (which == FAKE_WRITES)
            values[count++] = (kreplay_value){.counter_id = counter_id(base->agent_id, which),
                                              .instance = 1,
                                              .value = exec->writes - exec->writes / 2};
    }
    return count;
}
