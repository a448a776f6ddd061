// SPDX-License-Identifier: MIT
#include "tool/plan.h"
#include "counters/text.h"
#include "tool/say.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_BYTES 512u
// Counters of a catalogue that are written to the log though nobody asked for them. CUPTI's catalogue has
// 150 000 names, which a log should not carry for each run.
#define UNASKED_MOST 4096u

struct known_counter {
    char *name;
    uint64_t id;
};

// The counters of the GPU, while the plan is made.
struct known_counters {
    struct known_counter *list;
    size_t count, capacity;
    const struct kr_groups *groups; // asked for
    struct kr_log *log;
};

static int learn_counter(void *arg, const kreplay_counter *counter)
{
    struct known_counters *known = arg;
    if (known->count == known->capacity) {
        size_t capacity = known->capacity == 0 ? 256 : 2 * known->capacity;
        struct known_counter *grown = realloc(known->list, capacity * sizeof(*grown));
        if (grown == NULL)
            return KREPLAY_NO_MEMORY;
        known->list = grown;
        known->capacity = capacity;
    }
    char *name = strdup(counter->name);
    if (name == NULL)
        return KREPLAY_NO_MEMORY;
    known->list[known->count++] = (struct known_counter){.name = name, .id = counter->counter_id};
    if (known->count <= UNASKED_MOST || kr_groups_have(known->groups, name))
        (void)kr_log_put_counter(known->log, counter);
    return 0;
}

static void forget_counters(struct known_counters *known)
{
    for (size_t i = 0; i < known->count; i++)
        free(known->list[i].name);
    free(known->list);
}

static const struct known_counter *find_counter(const struct known_counters *known, const char *name)
{
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->list[i].name, name) == 0)
            return &known->list[i];
    return NULL;
}

// The part of a group that the GPU has.
struct selection {
    const char **names;
    uint64_t *ids;
    size_t count;
    char missing[ERROR_BYTES]; // the others, in words
};

static void select_counters(const struct known_counters *known, const struct kr_name_group *group,
                            struct selection *selection)
{
    struct kr_text missing = {.at = selection->missing, .room = sizeof(selection->missing)};
    selection->count = 0;
    selection->missing[0] = '\0';
    for (size_t i = 0; i < group->count; i++) {
        const struct known_counter *counter = find_counter(known, group->names[i]);
        if (counter == NULL) {
            kr_text_add(&missing, "%s%s", selection->missing[0] == '\0' ? "" : ", ", group->names[i]);
            continue;
        }
        selection->names[selection->count] = group->names[i];
        selection->ids[selection->count++] = counter->id;
    }
}

static uint64_t counter_id(const void *arg, const char *name)
{
    const struct known_counter *counter = find_counter(arg, name);
    return counter == NULL ? 0 : counter->id;
}

// Keeps a group while the plan is made, with room for one counter more. False: out of memory.
static bool keep(struct kr_plan_group *kept, uint32_t index, const struct selection *selection,
                 kreplay_group *group)
{
    *kept = (struct kr_plan_group){
        .index = index,
        .names = calloc(selection->count + 1, sizeof(*kept->names)),
        .ids = calloc(selection->count + 1, sizeof(*kept->ids)),
        .count = selection->count,
        .group = group,
    };
    if (kept->names == NULL || kept->ids == NULL)
        return false;
    memcpy(kept->names, selection->names, selection->count * sizeof(*kept->names));
    memcpy(kept->ids, selection->ids, selection->count * sizeof(*kept->ids));
    return true;
}

static void forget_groups(struct kr_plan_group *kept, size_t count)
{
    for (size_t i = 0; kept != NULL && i < count; i++) {
        free(kept[i].names);
        free(kept[i].ids);
    }
    free(kept);
}

// Makes the group, or says why not. NULL: it is not part of the plan.
static kreplay_group *make_group(struct kr_plan *plan, const kreplay_agent *agent, uint32_t index,
                                 const struct selection *selection, struct kr_log *log)
{
    if (selection->count == 0) {
        kr_say(log, "counter group %u is skipped on GPU %u (%s), which has none of its counters: %s",
               index + 1, agent->agent_id, agent->name, selection->missing);
        return NULL;
    }
    if (selection->missing[0] != '\0')
        kr_say(log, "counter group %u lacks on GPU %u (%s): %s", index + 1, agent->agent_id, agent->name,
               selection->missing);

    char error[ERROR_BYTES] = "";
    kreplay_group *group = NULL;
    int rc = kreplay_group_create(agent->agent_id, selection->names, selection->count, &group, error,
                                  sizeof(error));
    if (rc == KREPLAY_OK)
        return group;
    kr_say(log, "counter group %u cannot be collected on GPU %u (%s): %s", index + 1, agent->agent_id,
           agent->name, error[0] != '\0' ? error : kreplay_status_text(rc));
    plan->reason = KREPLAY_REASON_COUNTERS_UNAVAILABLE;
    return NULL;
}

// The plan takes the groups over, each with a record in the log.
static void take_groups(struct kr_plan *plan, const struct kr_plan_group *kept, size_t count,
                        struct kr_log *log)
{
    for (size_t i = 0; i < count; i++) {
        plan->groups[plan->count++] = kept[i].group;
        const kr_log_group record = {.index = kept[i].index,
                                     .agent_id = plan->agent_id,
                                     .counter_ids = kept[i].ids,
                                     .counter_count = kept[i].count,
                                     .witness_id = kept[i].witness};
        (void)kr_log_put_group(log, &record);
    }
}

static size_t largest_group(const struct kr_groups *groups)
{
    size_t largest = 0;
    for (size_t i = 0; i < groups->count; i++)
        largest = groups->groups[i].count > largest ? groups->groups[i].count : largest;
    return largest;
}

// Notes the role of each of the names that the GPU has.
static void put_roles(const struct known_counters *known, const char *names, uint32_t agent_id, uint32_t role)
{
    struct kr_groups list;
    char error[ERROR_BYTES];
    if (kr_groups_parse(names, &list, error, sizeof(error)) != KREPLAY_OK) {
        kr_say(known->log, "%s", error);
        return;
    }
    for (size_t i = 0; list.count > 0 && i < list.groups[0].count; i++) {
        const struct known_counter *counter = find_counter(known, list.groups[0].names[i]);
        if (counter == NULL)
            continue;
        const kr_log_counter_role record = {.agent_id = agent_id, .role = role, .counter_id = counter->id};
        (void)kr_log_put_role(known->log, &record);
    }
    kr_groups_free(&list);
}

struct kr_plan *kr_plan_create(const kreplay_agent *agent, const struct kr_plan_wish *wish,
                               struct kr_log *log)
{
    const struct kr_groups *groups = wish->groups;
    struct known_counters known = {.groups = groups, .log = log};
    struct selection selection = {0};
    size_t largest = largest_group(groups), kept_count = 0;
    struct kr_plan *plan = calloc(1, sizeof(*plan));
    kreplay_group **made = calloc(groups->count + 1, sizeof(*made));
    struct kr_plan_group *kept = calloc(groups->count + 1, sizeof(*kept));
    selection.names = calloc(largest + 1, sizeof(*selection.names));
    selection.ids = calloc(largest + 1, sizeof(*selection.ids));
    if (plan == NULL || made == NULL || kept == NULL || selection.names == NULL || selection.ids == NULL)
        goto no_memory;
    *plan = (struct kr_plan){
        .agent_id = agent->agent_id, .groups = made, .reason = KREPLAY_REASON_NO_COUNTERS_FOR_AGENT};

    int rc = kreplay_counters(agent->agent_id, learn_counter, &known);
    if (rc == KREPLAY_NO_MEMORY)
        goto no_memory;
    if (rc != KREPLAY_OK) {
        kr_say(log, "GPU %u (%s) offers no counters: %s", agent->agent_id, agent->name,
               kreplay_status_text(rc));
        plan->reason = KREPLAY_REASON_COUNTERS_UNAVAILABLE;
    }
    for (size_t i = 0; rc == KREPLAY_OK && i < groups->count; i++) {
        select_counters(&known, &groups->groups[i], &selection);
        kreplay_group *group = make_group(plan, agent, (uint32_t)i, &selection, log);
        if (group != NULL && !keep(&kept[kept_count++], (uint32_t)i, &selection, group))
            goto no_memory;
    }
    put_roles(&known, wish->derived, agent->agent_id, KR_LOG_ROLE_DERIVED);
    put_roles(&known, wish->inputs, agent->agent_id, KR_LOG_ROLE_INPUT);
    if (wish->witness)
        kr_witness_add(kept, kept_count, agent->agent_id, counter_id, &known);
    if (kr_repeated_list(kept, kept_count, &plan->repeated, &plan->repeated_count) != 0)
        goto no_memory;
    take_groups(plan, kept, kept_count, log);
    if (plan->count == 0 && groups->count > 0)
        kr_say(log, "nothing can be collected on GPU %u (%s): its kernels run once, without counters",
               agent->agent_id, agent->name);
    else
        plan->reason = KREPLAY_REASON_NONE;
    goto done;

no_memory:
    kr_say(log, "out of memory: nothing is collected on GPU %u (%s)", agent->agent_id, agent->name);
    for (size_t i = 0; i < kept_count; i++)
        kreplay_group_destroy(kept[i].group);
    free(plan);
    free(made);
    plan = NULL;
done:
    forget_groups(kept, kept_count);
    forget_counters(&known);
    free(selection.names);
    free(selection.ids);
    return plan;
}

void kr_plan_destroy(struct kr_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        kreplay_group_destroy(plan->groups[i]);
    free(plan->groups);
    free(plan->repeated);
    free(plan);
}
