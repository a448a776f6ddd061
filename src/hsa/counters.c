// SPDX-License-Identifier: MIT
// Names to events, events to a profile, profiles to packets and values.
#include "hsa/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "hsa/memory.h"

struct slot {
    hsa_ven_amd_aqlprofile_profile_t profile;
    hsa_ext_amd_aql_pm4_packet_t start, read, stop;
};

struct kr_hsa_group {
    struct kreplay_group base;
    _Atomic unsigned holders; // the tool, and detached dispatches
    struct kr_hsa_agent *agent;
    hsa_ven_amd_aqlprofile_event_t *events;
    uint32_t *event_counter; // index into counter_ids, by event
    uint32_t event_count;
    uint64_t *counter_ids;
    uint32_t *instances_read; // scratch while reading, by counter
    size_t counter_count;
    struct slot *slots;
    size_t slot_count;
};

static pthread_mutex_t extension_lock = PTHREAD_MUTEX_INITIALIZER;
static hsa_ven_amd_aqlprofile_pfn_t extension;
static hsa_status_t extension_status = HSA_STATUS_ERROR_NOT_INITIALIZED;

// The runtime looks for the library on the first call; NULL if it found none.
static const hsa_ven_amd_aqlprofile_pfn_t *aqlprofile(void)
{
    pthread_mutex_lock(&extension_lock);
    if (extension_status == HSA_STATUS_ERROR_NOT_INITIALIZED)
        extension_status = kr_hsa.api.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1,
                                                                           sizeof(extension), &extension);
    pthread_mutex_unlock(&extension_lock);
    return extension_status == HSA_STATUS_SUCCESS ? &extension : NULL;
}

int kr_hsa_counters(void *ctx, uint32_t agent_id, int (*visit)(void *arg, const kreplay_counter *counter),
                    void *arg)
{
    (void)ctx;
    const struct kr_hsa_agent *agent = &kr_hsa.agents[agent_id];
    if (agent_id >= kr_hsa.agent_count)
        return KREPLAY_NOT_FOUND;
    for (size_t i = 0; agent->catalogue && i < agent->catalogue->counter_count; i++) {
        const struct kr_counter_def *def = &agent->catalogue->counters[i];
        const kreplay_counter counter = {
            .size = sizeof(counter),
            .counter_id = agent->first_counter_id + i,
            .agent_id = agent_id,
            .name = def->name,
            .block = def->block ? def->block : "",
            .description = "",
            .expression = def->expression ? def->expression : "",
            .event = def->event,
        };
        int stop = visit(arg, &counter);
        if (stop != 0)
            return stop;
    }
    return KREPLAY_OK;
}

// Adds the events of one counter: one for each instance of its block that is addressed on its own.
static int add_events(struct kr_hsa_group *group, const hsa_ven_amd_aqlprofile_pfn_t *lib,
                      const struct kr_counter_def *def, uint32_t counter, char *error, size_t error_bytes)
{
    const hsa_ven_amd_aqlprofile_profile_t ask = {.agent = group->agent->handle};
    hsa_ven_amd_aqlprofile_id_query_t block = {.name = def->block};
    if (lib->hsa_ven_amd_aqlprofile_get_info(&ask, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &block) !=
        HSA_STATUS_SUCCESS) {
        snprintf(error, error_bytes,
                 "%s: the counter library libhsa-amd-aqlprofile64.so has no block %s on %s", def->name,
                 def->block, group->agent->name);
        return KREPLAY_UNAVAILABLE;
    }
    uint32_t instances = block.instance_count ? block.instance_count : 1;
    hsa_ven_amd_aqlprofile_event_t *events =
        realloc(group->events, (group->event_count + instances) * sizeof(*events));
    if (events)
        group->events = events;
    uint32_t *owner = realloc(group->event_counter, (group->event_count + instances) * sizeof(*owner));
    if (owner)
        group->event_counter = owner;
    if (!events || !owner)
        return KREPLAY_NO_MEMORY;
    for (uint32_t i = 0; i < instances; i++) {
        const hsa_ven_amd_aqlprofile_event_t event = {.block_name =
                                                          (hsa_ven_amd_aqlprofile_block_name_t)block.id,
                                                      .block_index = i,
                                                      .counter_id = def->event};
        bool valid = false;
        hsa_status_t status =
            lib->hsa_ven_amd_aqlprofile_validate_event(group->agent->handle, &event, &valid);
        if (status != HSA_STATUS_SUCCESS || !valid) {
            snprintf(error, error_bytes,
                     "%s: the counter library libhsa-amd-aqlprofile64.so refuses event %u of block %s on %s",
                     def->name, def->event, def->block, group->agent->name);
            return KREPLAY_UNAVAILABLE;
        }
        owner[group->event_count] = counter;
        events[group->event_count++] = event;
    }
    return KREPLAY_OK;
}

static void free_slot(struct slot *slot)
{
    kr_hsa_memory_release(slot->profile.command_buffer.ptr);
    kr_hsa_memory_release(slot->profile.output_buffer.ptr);
}

// With the profile's buffers in place: asks the library for the packets, which may be submitted any number of
// times.
static int make_packets(struct slot *slot, const hsa_ven_amd_aqlprofile_pfn_t *lib)
{
    if (lib->hsa_ven_amd_aqlprofile_start(&slot->profile, &slot->start) != HSA_STATUS_SUCCESS ||
        lib->hsa_ven_amd_aqlprofile_read(&slot->profile, &slot->read) != HSA_STATUS_SUCCESS ||
        lib->hsa_ven_amd_aqlprofile_stop(&slot->profile, &slot->stop) != HSA_STATUS_SUCCESS)
        return KREPLAY_UNAVAILABLE;
    slot->start.header = slot->read.header = slot->stop.header =
        KR_HSA_HEADER(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    slot->start.completion_signal.handle = slot->read.completion_signal.handle = 0;
    slot->stop.completion_signal.handle = 0;
    return KREPLAY_OK;
}

static int make_slot(struct kr_hsa_group *group, struct slot *slot)
{
    const hsa_ven_amd_aqlprofile_pfn_t *lib = aqlprofile();
    hsa_ven_amd_aqlprofile_profile_t *profile = &slot->profile;
    uint32_t command_bytes = 0, output_bytes = 0;

    *slot = (struct slot){0};
    profile->agent = group->agent->handle;
    profile->type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
    profile->events = group->events;
    profile->event_count = group->event_count;
    if (lib->hsa_ven_amd_aqlprofile_get_info(profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE,
                                             &command_bytes) != HSA_STATUS_SUCCESS ||
        lib->hsa_ven_amd_aqlprofile_get_info(profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE,
                                             &output_bytes) != HSA_STATUS_SUCCESS)
        return KREPLAY_UNAVAILABLE;
    profile->command_buffer.size = command_bytes;
    profile->output_buffer.size = output_bytes;
    profile->command_buffer.ptr = kr_hsa_memory_host(group->agent, command_bytes);
    profile->output_buffer.ptr = kr_hsa_memory_host(group->agent, output_bytes);
    if (!profile->command_buffer.ptr || !profile->output_buffer.ptr) {
        free_slot(slot);
        return KREPLAY_NO_MEMORY;
    }
    memset(profile->output_buffer.ptr, 0, output_bytes);
    int status = make_packets(slot, lib);
    if (status != KREPLAY_OK)
        free_slot(slot);
    return status;
}

int kr_hsa_group_reserve(struct kr_hsa_group *group, size_t count)
{
    if (count <= group->slot_count)
        return KREPLAY_OK;
    struct slot *slots = realloc(group->slots, count * sizeof(*slots));
    if (!slots)
        return KREPLAY_NO_MEMORY;
    group->slots = slots;
    while (group->slot_count < count) {
        int status = make_slot(group, &slots[group->slot_count]);
        if (status != KREPLAY_OK)
            return status;
        group->slot_count++;
    }
    return KREPLAY_OK;
}

struct kr_hsa_counter_packets kr_hsa_group_packets(const struct kr_hsa_group *group, size_t index)
{
    const struct slot *slot = &group->slots[index];
    return (struct kr_hsa_counter_packets){&slot->start, &slot->read, &slot->stop};
}

static int fill_group(struct kr_hsa_group *group, const char *const *names, size_t count, char *error,
                      size_t error_bytes)
{
    const struct kr_hsa_agent *agent = group->agent;
    const hsa_ven_amd_aqlprofile_pfn_t *lib = aqlprofile();
    if (!agent->catalogue) {
        snprintf(error, error_bytes, "no counters are known for %s", agent->name);
        return KREPLAY_UNAVAILABLE;
    }
    int status = kr_catalogue_check_group(agent->catalogue, names, count, error, error_bytes);
    if (status != KREPLAY_OK)
        return status;
    if (!lib) {
        snprintf(
            error, error_bytes,
            "counters of %s need the library libhsa-amd-aqlprofile64.so, which the HSA runtime did not find",
            agent->name);
        return KREPLAY_UNAVAILABLE;
    }
    group->counter_ids = calloc(count + 1, sizeof(*group->counter_ids));
    group->instances_read = calloc(count + 1, sizeof(*group->instances_read));
    if (!group->counter_ids || !group->instances_read)
        return KREPLAY_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct kr_counter_def *def = kr_catalogue_counter(agent->catalogue, names[i]);
        uint64_t id = agent->first_counter_id + (uint64_t)(def - agent->catalogue->counters);
        bool twice = false;
        for (size_t j = 0; j < group->counter_count; j++)
            twice |= group->counter_ids[j] == id;
        if (twice)
            continue;
        group->counter_ids[group->counter_count] = id;
        status = add_events(group, lib, def, (uint32_t)group->counter_count, error, error_bytes);
        if (status != KREPLAY_OK)
            return status;
        group->counter_count++;
    }
    status = kr_hsa_group_reserve(group, 1);
    if (status != KREPLAY_OK)
        snprintf(error, error_bytes,
                 "the counter library libhsa-amd-aqlprofile64.so cannot program these counters on %s: %s",
                 agent->name, kreplay_status_text(status));
    else
        // Every value takes at least 64 bits of the library's output buffer.
        group->base.value_capacity = group->slots[0].profile.output_buffer.size / sizeof(uint64_t);
    return status;
}

int kr_hsa_group_create(void *ctx, uint32_t agent_id, const char *const *names, size_t count,
                        kreplay_group **out, char *error, size_t error_bytes)
{
    *out = NULL;
    if (agent_id >= kr_hsa.agent_count || count == 0) {
        snprintf(error, error_bytes, "%s", count == 0 ? "a group needs a counter" : "no such GPU");
        return KREPLAY_INVALID;
    }
    struct kr_hsa_group *group = calloc(1, sizeof(*group));
    if (!group) {
        snprintf(error, error_bytes, "%s", kreplay_status_text(KREPLAY_NO_MEMORY));
        return KREPLAY_NO_MEMORY;
    }
    group->agent = &kr_hsa.agents[agent_id];
    group->holders = 1;
    group->base.agent_id = agent_id;
    if (error_bytes > 0)
        error[0] = '\0';
    int status = fill_group(group, names, count, error, error_bytes);
    if (status != KREPLAY_OK) {
        if (error_bytes > 0 && error[0] == '\0')
            snprintf(error, error_bytes, "%s", kreplay_status_text(status));
        kr_hsa_group_destroy(ctx, &group->base);
        return status;
    }
    *out = &group->base;
    return KREPLAY_OK;
}

void kr_hsa_group_hold(struct kr_hsa_group *group)
{
    atomic_fetch_add(&group->holders, 1);
}

void kr_hsa_group_let_go(struct kr_hsa_group *group)
{
    if (!group || atomic_fetch_sub(&group->holders, 1) > 1)
        return;
    for (size_t i = 0; i < group->slot_count; i++)
        free_slot(&group->slots[i]);
    free(group->slots);
    free(group->events);
    free(group->event_counter);
    free(group->counter_ids);
    free(group->instances_read);
    free(group);
}

void kr_hsa_group_destroy(void *ctx, kreplay_group *base)
{
    (void)ctx;
    if (atomic_load(&kr_hsa.going_down)) // the runtime that its memory is from may be gone
        return;
    kr_hsa_group_let_go((struct kr_hsa_group *)base);
}

struct reading {
    struct kr_hsa_group *group;
    kreplay_value *values;
    size_t count;
    bool foreign; // a value that belongs to no event of the group
    bool overflow;
};

static hsa_status_t take(hsa_ven_amd_aqlprofile_info_type_t type, hsa_ven_amd_aqlprofile_info_data_t *data,
                         void *arg)
{
    struct reading *r = arg;
    struct kr_hsa_group *group = r->group;
    if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
        return HSA_STATUS_SUCCESS;
    uint32_t event = 0;
    while (event < group->event_count &&
           memcmp(&group->events[event], &data->pmc_data.event, sizeof(data->pmc_data.event)))
        event++;
    if (event == group->event_count) {
        r->foreign = true;
        return HSA_STATUS_SUCCESS;
    }
    if (r->count == group->base.value_capacity) {
        r->overflow = true;
        return HSA_STATUS_SUCCESS;
    }
    // The library gives the instances of a counter in order: by block instance, then by shader engine.
    uint32_t counter = group->event_counter[event];
    r->values[r->count++] = (kreplay_value){
        .counter_id = group->counter_ids[counter],
        .instance = group->instances_read[counter]++,
        .value = data->pmc_data.result,
    };
    return HSA_STATUS_SUCCESS;
}

int kr_hsa_group_read(struct kr_hsa_group *group, size_t index, kreplay_value *values, size_t *value_count)
{
    struct reading r = {.group = group, .values = values};
    *value_count = 0;
    memset(group->instances_read, 0, group->counter_count * sizeof(*group->instances_read));
    hsa_status_t status =
        aqlprofile()->hsa_ven_amd_aqlprofile_iterate_data(&group->slots[index].profile, take, &r);
    if (status != HSA_STATUS_SUCCESS || r.foreign || r.overflow)
        return KREPLAY_UNAVAILABLE;
    for (size_t i = 0; i < group->counter_count; i++)
        if (group->instances_read[i] == 0)
            return KREPLAY_UNAVAILABLE;
    *value_count = r.count;
    return KREPLAY_OK;
}
