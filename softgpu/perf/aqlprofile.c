// SPDX-License-Identifier: MIT
// libhsa-amd-aqlprofile64.so of the software GPU: ROCr's HSA_EXTENSION_AMD_AQLPROFILE for performance
// counters, in the interface version that ROCr 5.2 loads (it looks the functions up by name and demands major
// version 2). Stateless: every call plans from the profile alone, memory is the caller's, and nothing of ROCr
// is called. Thread traces, SPM and the enable/disable commands of the interface are refused.
#include <stdbool.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>

#include "softgpu/perf/events.h"
#include "softgpu/perf/packets.h"
#include "softgpu/perf/pm4_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// The header declares these two without a parameter list, which is no prototype in C17.
uint32_t hsa_ven_amd_aqlprofile_version_major(void);
uint32_t hsa_ven_amd_aqlprofile_version_minor(void);

// The three streams lie one behind another in the command buffer, each on a boundary of this many bytes.
#define STREAM_ALIGN_BYTES 256u

struct plan {
    struct sg_armed_counter counters[SG_MAX_COUNTERS];
    size_t count;
    uint32_t start_dwords, read_dwords, stop_dwords;
    uint32_t read_offset, stop_offset; // bytes in the command buffer; the start stream is at 0
    uint32_t command_bytes, output_bytes;
};

static const struct {
    hsa_ven_amd_aqlprofile_block_name_t hsa;
    enum sg_perf_block_id id;
} block_names[] = {
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPC, SG_BLOCK_CPC},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_CPF, SG_BLOCK_CPF},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GRBM, SG_BLOCK_GRBM},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SPI, SG_BLOCK_SPI},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, SG_BLOCK_SQ},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TA, SG_BLOCK_TA},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCA, SG_BLOCK_TCA},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC, SG_BLOCK_TCC},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP, SG_BLOCK_TCP},
    {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TD, SG_BLOCK_TD},
};
#define BLOCK_NAMES (sizeof(block_names) / sizeof(block_names[0]))

static _Thread_local char last_error[256];

__attribute__((format(printf, 2, 3))) static hsa_status_t fail(hsa_status_t status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last_error, sizeof(last_error), format, args);
    va_end(args);
    return status;
}

// SG_BLOCK_COUNT when the block is not modelled.
static enum sg_perf_block_id find_block(unsigned hsa_block)
{
    for (size_t i = 0; i < BLOCK_NAMES; i++) {
        if ((unsigned)block_names[i].hsa == hsa_block)
            return block_names[i].id;
    }
    return SG_BLOCK_COUNT;
}

static hsa_status_t find_event(const hsa_ven_amd_aqlprofile_event_t *event, enum sg_perf_block_id *id)
{
    *id = find_block(event->block_name);
    if (*id == SG_BLOCK_COUNT)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "counter block %u is not modelled", event->block_name);
    if (event->block_index >= sg_perf_blocks[*id].instances)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "block %s has no instance %u",
                    sg_perf_blocks[*id].name, event->block_index);
    if (!sg_perf_event_find(*id, event->counter_id))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "event %u of block %s is not modelled",
                    event->counter_id, sg_perf_blocks[*id].name);
    return HSA_STATUS_SUCCESS;
}

static uint32_t align_stream(size_t dwords)
{
    size_t bytes = dwords * sizeof(uint32_t);

    return (uint32_t)((bytes + STREAM_ALIGN_BYTES - 1) / STREAM_ALIGN_BYTES * STREAM_ALIGN_BYTES);
}

// Sizes and offsets that follow from the counters.
static void lay_out(struct plan *plan)
{
    struct sg_pm4_writer start = {0}, read = {0}, stop = {0};

    sg_pm4_write_start(&start, plan->counters, plan->count);
    sg_pm4_write_read(&read, plan->counters, plan->count, 0);
    sg_pm4_write_stop(&stop, plan->counters, plan->count, 0);
    plan->start_dwords = (uint32_t)start.dwords;
    plan->read_dwords = (uint32_t)read.dwords;
    plan->stop_dwords = (uint32_t)stop.dwords;
    plan->read_offset = align_stream(start.dwords);
    plan->stop_offset = plan->read_offset + align_stream(read.dwords);
    plan->command_bytes = plan->stop_offset + align_stream(stop.dwords);
    plan->output_bytes = 0;
    for (size_t i = 0; i < plan->count; i++)
        plan->output_bytes += sg_perf_blocks[plan->counters[i].block].engines * (uint32_t)sizeof(uint64_t);
}

// An event that accumulates needs a level in the slot before; others are fine anywhere.
static bool follows_level(const struct plan *plan, enum sg_perf_block_id block, uint32_t slot, uint32_t event)
{
    if (sg_perf_event_find(block, event)->kind != SG_EVENT_ACCUMULATE)
        return true;
    for (size_t i = 0; slot > 0 && i < plan->count; i++) {
        const struct sg_armed_counter *before = &plan->counters[i];

        if (before->block == block && before->slot == slot - 1)
            return sg_perf_event_find(block, before->event)->kind == SG_EVENT_LEVEL;
    }
    return false;
}

// Gives each event of the profile the next slot of its block's instance.
static hsa_status_t make_plan(const hsa_ven_amd_aqlprofile_profile_t *profile, struct plan *plan)
{
    uint32_t used[SG_BLOCK_COUNT][SG_PERF_MAX_INSTANCES] = {{0}};

    *plan = (struct plan){0};
    if (!profile)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no profile");
    if (profile->type != HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "profile type %d: only counters (PMC) are supported",
                    (int)profile->type);
    if (!profile->events || profile->event_count == 0)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "profile without events");

    for (uint32_t i = 0; i < profile->event_count; i++) {
        const hsa_ven_amd_aqlprofile_event_t *event = &profile->events[i];
        enum sg_perf_block_id id;
        hsa_status_t status = find_event(event, &id);

        if (status != HSA_STATUS_SUCCESS)
            return status;
        uint32_t *slot = &used[id][event->block_index];
        if (*slot == sg_perf_blocks[id].slots)
            return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                        "block %s has %u counters, event %u is one too many", sg_perf_blocks[id].name,
                        sg_perf_blocks[id].slots, event->counter_id);
        if (!follows_level(plan, id, *slot, event->counter_id))
            return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                        "event %u of block %s must stand behind the level that it accumulates",
                        event->counter_id, sg_perf_blocks[id].name);
        plan->counters[plan->count++] = (struct sg_armed_counter){
            .block = id, .instance = event->block_index, .slot = (*slot)++, .event = event->counter_id};
    }
    lay_out(plan);
    return HSA_STATUS_SUCCESS;
}

// The largest plan there can be: what get_info answers, whose callers may not have chosen events yet.
static void make_full_plan(struct plan *plan)
{
    *plan = (struct plan){0};
    for (unsigned id = 0; id < SG_BLOCK_COUNT; id++) {
        for (uint32_t i = 0; i < sg_perf_blocks[id].instances * sg_perf_blocks[id].slots; i++)
            plan->counters[plan->count++] =
                (struct sg_armed_counter){.block = (enum sg_perf_block_id)id,
                                          .instance = i / sg_perf_blocks[id].slots,
                                          .slot = i % sg_perf_blocks[id].slots};
    }
    lay_out(plan);
}

static hsa_status_t check_buffers(const hsa_ven_amd_aqlprofile_profile_t *profile, const struct plan *plan)
{
    if (!profile->command_buffer.ptr || profile->command_buffer.size < plan->command_bytes)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "command buffer of %u bytes, %u are needed",
                    profile->command_buffer.ptr ? profile->command_buffer.size : 0, plan->command_bytes);
    if (!profile->output_buffer.ptr || profile->output_buffer.size < plan->output_bytes)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "output buffer of %u bytes, %u are needed",
                    profile->output_buffer.ptr ? profile->output_buffer.size : 0, plan->output_bytes);
    return HSA_STATUS_SUCCESS;
}

// Header and completion signal are the caller's and stay as they are.
static void fill_packet(hsa_ext_amd_aql_pm4_packet_t *packet, const void *stream, uint32_t dwords)
{
    const uint64_t address = (uint64_t)(uintptr_t)stream;
    const uint32_t command[] = {
        SG_PM4_HEADER3(SG_PM4_INDIRECT_BUFFER, 3),
        (uint32_t)address,
        (uint32_t)(address >> 32),
        dwords | SG_PM4_IB_FLAGS,
        SG_AQL_PM4_IB_DWORDS_LEFT,
    };

    memset(packet->pm4_command, 0, sizeof(packet->pm4_command));
    packet->pm4_command[0] = SG_AQL_PM4_IB_FORMAT;
    memcpy(&packet->pm4_command[1], command, sizeof(command));
}

static void write_streams(const hsa_ven_amd_aqlprofile_profile_t *profile, const struct plan *plan)
{
    uint8_t *base = profile->command_buffer.ptr;
    const uint64_t output = (uint64_t)(uintptr_t)profile->output_buffer.ptr;
    struct sg_pm4_writer start = {.code = (uint32_t *)(void *)base};
    struct sg_pm4_writer read = {.code = (uint32_t *)(void *)(base + plan->read_offset)};
    struct sg_pm4_writer stop = {.code = (uint32_t *)(void *)(base + plan->stop_offset)};

    sg_pm4_write_start(&start, plan->counters, plan->count);
    sg_pm4_write_read(&read, plan->counters, plan->count, output);
    sg_pm4_write_stop(&stop, plan->counters, plan->count, output);
}

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_major(void)
{
    return HSA_AQLPROFILE_VERSION_MAJOR;
}

EXPORT uint32_t hsa_ven_amd_aqlprofile_version_minor(void)
{
    return HSA_AQLPROFILE_VERSION_MINOR;
}

// The text of the calling thread's last error, empty when there was none.
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_error_string(const char **str)
{
    if (!str)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *str = last_error;
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_validate_event(hsa_agent_t agent,
                                                          const hsa_ven_amd_aqlprofile_event_t *event,
                                                          bool *result)
{
    enum sg_perf_block_id id;

    (void)agent; // all agents are the same software GPU
    if (!event || !result)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no event or no result");
    *result = find_event(event, &id) == HSA_STATUS_SUCCESS;
    return HSA_STATUS_SUCCESS;
}

// With both buffers NULL it only sets their sizes in the profile.
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_start(hsa_ven_amd_aqlprofile_profile_t *profile,
                                                 hsa_ext_amd_aql_pm4_packet_t *aql_start_packet)
{
    struct plan plan;
    hsa_status_t status = make_plan(profile, &plan);

    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!profile->command_buffer.ptr && !profile->output_buffer.ptr) {
        profile->command_buffer.size = plan.command_bytes;
        profile->output_buffer.size = plan.output_bytes;
        return HSA_STATUS_SUCCESS;
    }
    status = check_buffers(profile, &plan);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!aql_start_packet)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no packet to fill");
    write_streams(profile, &plan);
    fill_packet(aql_start_packet, profile->command_buffer.ptr, plan.start_dwords);
    return HSA_STATUS_SUCCESS;
}

// Points `packet` at a stream that start has written.
static hsa_status_t point_at_stream(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                    hsa_ext_amd_aql_pm4_packet_t *packet, bool stop)
{
    struct plan plan;
    hsa_status_t status = make_plan(profile, &plan);
    const uint8_t *base;

    if (status == HSA_STATUS_SUCCESS)
        status = check_buffers(profile, &plan);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!packet)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no packet to fill");
    base = profile->command_buffer.ptr;
    if (stop)
        fill_packet(packet, base + plan.stop_offset, plan.stop_dwords);
    else
        fill_packet(packet, base + plan.read_offset, plan.read_dwords);
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_stop(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                                hsa_ext_amd_aql_pm4_packet_t *aql_stop_packet)
{
    return point_at_stream(profile, aql_stop_packet, true);
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_read(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                                hsa_ext_amd_aql_pm4_packet_t *aql_read_packet)
{
    return point_at_stream(profile, aql_read_packet, false);
}

// For GPUs before gfx9, whose queues take no vendor packet.
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_legacy_get_pm4(const hsa_ext_amd_aql_pm4_packet_t *aql_packet,
                                                          void *data)
{
    (void)aql_packet;
    (void)data;
    return fail(HSA_STATUS_ERROR, "gfx90a takes the AQL packet itself");
}

static hsa_status_t query_block_id(hsa_ven_amd_aqlprofile_id_query_t *query)
{
    if (!query->name)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no block name");
    for (size_t i = 0; i < BLOCK_NAMES; i++) {
        if (strcmp(query->name, sg_perf_blocks[block_names[i].id].name) == 0) {
            query->id = block_names[i].hsa;
            // That a caller can address; the engines come as samples.
            query->instance_count = sg_perf_blocks[block_names[i].id].instances;
            return HSA_STATUS_SUCCESS;
        }
    }
    return fail(HSA_STATUS_ERROR, "counter block %s is not modelled", query->name);
}

static hsa_status_t query_block_counters(const hsa_ven_amd_aqlprofile_profile_t *profile, uint32_t *counters)
{
    enum sg_perf_block_id id;

    if (!profile || !profile->events || profile->event_count == 0)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "profile without events");
    id = find_block(profile->events[0].block_name);
    if (id == SG_BLOCK_COUNT)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "counter block %u is not modelled",
                    profile->events[0].block_name);
    *counters = sg_perf_blocks[id].slots;
    return HSA_STATUS_SUCCESS;
}

// Adds up the samples of one event, or picks one: sample_id UINT32_MAX asks for the sum.
static hsa_status_t collect_sample(hsa_ven_amd_aqlprofile_info_type_t type,
                                   hsa_ven_amd_aqlprofile_info_data_t *sample, void *wanted_data)
{
    hsa_ven_amd_aqlprofile_info_data_t *wanted = wanted_data;

    (void)type;
    if (memcmp(&sample->pmc_data.event, &wanted->pmc_data.event, sizeof(sample->pmc_data.event)) != 0)
        return HSA_STATUS_SUCCESS;
    if (wanted->sample_id == UINT32_MAX) {
        wanted->pmc_data.result += sample->pmc_data.result;
        return HSA_STATUS_SUCCESS;
    }
    if (wanted->sample_id != sample->sample_id)
        return HSA_STATUS_SUCCESS;
    wanted->pmc_data.result = sample->pmc_data.result;
    return HSA_STATUS_INFO_BREAK;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_get_info(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                                    hsa_ven_amd_aqlprofile_info_type_t attribute, void *value)
{
    struct plan plan;

    if (!value)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no place for the value");
    switch (attribute) {
    case HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE:
        make_full_plan(&plan);
        *(uint32_t *)value = plan.command_bytes;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE:
        make_full_plan(&plan);
        *(uint32_t *)value = plan.output_bytes;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA:
        ((hsa_ven_amd_aqlprofile_info_data_t *)value)->pmc_data.result = 0;
        return hsa_ven_amd_aqlprofile_iterate_data(profile, collect_sample, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS:
        return query_block_counters(profile, value);
    case HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID:
        return query_block_id(value);
    default:
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "attribute %d is not supported", (int)attribute);
    }
}

// Calls back with each event in order and, within it, each instance: sample_id 0..7 are the shader engines of
// a block that they have, 0 the only sample of others. HSA_STATUS_INFO_BREAK from the callback ends the iteration
// in success.
EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_data(const hsa_ven_amd_aqlprofile_profile_t *profile,
                                                        hsa_ven_amd_aqlprofile_data_callback_t callback,
                                                        void *data)
{
    struct plan plan;
    hsa_status_t status = make_plan(profile, &plan);
    const uint64_t *sample;

    if (status != HSA_STATUS_SUCCESS)
        return status;
    if (!callback || !profile->output_buffer.ptr || profile->output_buffer.size < plan.output_bytes)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback, or output buffer below %u bytes",
                    plan.output_bytes);

    sample = profile->output_buffer.ptr;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        const uint32_t engines = sg_perf_blocks[plan.counters[i].block].engines;

        for (uint32_t engine = 0; engine < engines; engine++) {
            hsa_ven_amd_aqlprofile_info_data_t info = {.sample_id = engine};

            info.pmc_data.event = profile->events[i];
            info.pmc_data.result = *sample++;
            status = callback(HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &info, data);
            if (status == HSA_STATUS_INFO_BREAK)
                return HSA_STATUS_SUCCESS;
            if (status != HSA_STATUS_SUCCESS)
                return fail(status, "the callback returned 0x%x", (unsigned)status);
        }
    }
    return HSA_STATUS_SUCCESS;
}
