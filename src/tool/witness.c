// SPDX-License-Identifier: MIT
#include "tool/witness.h"

#include "counters/agreement.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHOICE "SQ_WAVES"

static bool has(const struct kr_plan_group *group, uint64_t counter_id)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->ids[i] == counter_id)
            return true;
    return false;
}

static size_t groups_with(const struct kr_plan_group *groups, size_t count, uint64_t counter_id)
{
    size_t with = 0;
    for (size_t g = 0; g < count; g++)
        with += has(&groups[g], counter_id);
    return with;
}

static bool in_all_groups(const struct kr_plan_group *groups, size_t count)
{
    for (size_t i = 0; i < groups[0].count; i++)
        if (groups_with(groups, count, groups[0].ids[i]) == count)
            return true;
    return false;
}

// Adds the counter to every group that lacks it. False: it does not fit one of them, nothing has changed.
static bool add_to_all(struct kr_plan_group *groups, size_t count, uint32_t agent_id, const char *name,
                       uint64_t id)
{
    kreplay_group **made = calloc(count, sizeof(*made));
    bool fits = made != NULL;
    for (size_t g = 0; fits && g < count; g++) {
        if (has(&groups[g], id))
            continue;
        groups[g].names[groups[g].count] = name;
        fits = kreplay_group_create(agent_id, groups[g].names, groups[g].count + 1, &made[g], NULL, 0) == 0;
    }
    for (size_t g = 0; made != NULL && g < count; g++) {
        if (made[g] == NULL)
            continue;
        if (fits) {
            kreplay_group_destroy(groups[g].group);
            groups[g].group = made[g];
            groups[g].witness = id;
        } else {
            kreplay_group_destroy(made[g]);
        }
    }
    free(made);
    return fits;
}

void kr_witness_add(struct kr_plan_group *groups, size_t count, uint32_t agent_id, kr_find_counter find,
                    const void *arg)
{
    if (count < 2 || in_all_groups(groups, count))
        return;
    // Waves are the best known of all counters; if they do not fit, a count of instructions that is asked for
    // anyway.
    uint64_t waves = find(arg, FIRST_CHOICE);
    bool asked = waves != 0 && groups_with(groups, count, waves) > 0;
    if (asked && add_to_all(groups, count, agent_id, FIRST_CHOICE, waves))
        return;
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            if (groups[g].ids[i] != waves && kr_counter_tolerance(groups[g].names[i]) == 0 &&
                add_to_all(groups, count, agent_id, groups[g].names[i], groups[g].ids[i]))
                return;
    if (waves != 0 && !asked)
        add_to_all(groups, count, agent_id, FIRST_CHOICE, waves);
}

static bool is_listed(const struct kr_repeated *list, size_t count, uint64_t counter_id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].counter_id == counter_id)
            return true;
    return false;
}

int kr_repeated_list(const struct kr_plan_group *groups, size_t count, struct kr_repeated **out,
                     size_t *out_count)
{
    size_t most = 0, used = 0;
    for (size_t g = 0; g < count; g++)
        most += groups[g].count + 1;
    struct kr_repeated *list = calloc(most + 1, sizeof(*list));
    if (list == NULL)
        return -1;
    for (size_t g = 0; g < count; g++) {
        size_t all = groups[g].count + (groups[g].witness != 0);
        for (size_t i = 0; i < all; i++) {
            // The witness's name stands behind those asked for.
            uint64_t id = i < groups[g].count ? groups[g].ids[i] : groups[g].witness;
            size_t with = 0;
            for (size_t other = 0; other < count; other++)
                with += has(&groups[other], id) || groups[other].witness == id;
            if (with > 1 && !is_listed(list, used, id))
                list[used++] = (struct kr_repeated){
                    .counter_id = id,
                    .name = groups[g].names[i],
                    .tolerance = kr_counter_tolerance(groups[g].names[i]),
                };
        }
    }
    if (used == 0) {
        free(list);
        list = NULL;
    }
    *out = list;
    *out_count = used;
    return 0;
}

// False: the pass has no value of the counter, or one that is not defined.
static bool sum_of(const kreplay_pass_record *pass, uint64_t counter_id, struct kr_counter_sum *sum)
{
    bool have = false;
    *sum = (struct kr_counter_sum){0};
    for (size_t v = 0; v < pass->value_count; v++) {
        const kreplay_value *value = &pass->values[v];
        if (value->counter_id != counter_id)
            continue;
        have = true;
        if (value->kind == KREPLAY_VALUE_DOUBLE)
            sum->real += value->real;
        else
            sum->whole += value->value;
    }
    return have && sum->real == sum->real;
}

static bool below(const struct kr_counter_sum *a, const struct kr_counter_sum *b)
{
    double x = kr_counter_sum_value(a), y = kr_counter_sum_value(b);
    return x < y || (x == y && a->whole < b->whole);
}

static bool disagrees(const struct kr_repeated *counter, const kreplay_dispatch_record *record,
                      struct kr_disagreement *found)
{
    struct kr_counter_sum sum, least = {0}, most = {0};
    bool have = false;
    for (size_t p = 0; p < record->pass_count; p++) {
        if (!sum_of(&record->passes[p], counter->counter_id, &sum))
            continue;
        if (!have || below(&sum, &least)) {
            least = sum;
            found->least_pass = record->passes[p].pass;
        }
        if (!have || below(&most, &sum)) {
            most = sum;
            found->most_pass = record->passes[p].pass;
        }
        have = true;
    }
    found->counter = counter;
    found->least = kr_counter_sum_value(&least);
    found->most = kr_counter_sum_value(&most);
    return have && !kr_counter_agrees(counter->tolerance, &least, &most);
}

uint32_t kr_repeated_disagree(const struct kr_repeated *list, size_t count,
                              const kreplay_dispatch_record *record, struct kr_disagreement *first)
{
    uint32_t differing = 0;
    for (size_t i = 0; i < count; i++) {
        struct kr_disagreement found;
        if (disagrees(&list[i], record, &found) && differing++ == 0)
            *first = found;
    }
    return differing;
}
