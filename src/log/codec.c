// SPDX-License-Identifier: MIT
// Payloads of the record types. Each struct has one list of fields from which both directions are made, so
// that they cannot differ. The order of a list is the order of the bytes: append, never insert or change
// (docs/log-format.md).
#include "log/codec.h"

#include <stdlib.h>

#define PROCESS_FIELDS(F)                                                                                    \
    F(u64, run_id)                                                                                           \
    F(u32, pid)                                                                                              \
    F(u32, ppid)                                                                                             \
    F(u64, start_ns)                                                                                         \
    F(u64, start_unix_ns)                                                                                    \
    F(string, hostname)                                                                                      \
    F(string, command)                                                                                       \
    F(string, backend)                                                                                       \
    F(string, version)

#define AGENT_FIELDS(F)                                                                                      \
    F(u32, agent_id)                                                                                         \
    F(u32, node_id)                                                                                          \
    F(string, name)                                                                                          \
    F(string, product)                                                                                       \
    F(string, vendor)                                                                                        \
    F(u32, compute_units)                                                                                    \
    F(u32, shader_engines)                                                                                   \
    F(u32, simds_per_cu)                                                                                     \
    F(u32, wave_size)                                                                                        \
    F(u32, max_waves_per_cu)                                                                                 \
    F(u32, lds_bytes)                                                                                        \
    F(u32, max_clock_mhz)                                                                                    \
    F(u64, memory_bytes)

#define CODE_OBJECT_FIELDS(F)                                                                                \
    F(u64, code_object_id)                                                                                   \
    F(u32, agent_id)                                                                                         \
    F(string, uri)                                                                                           \
    F(u64, load_base)                                                                                        \
    F(u64, load_bytes)                                                                                       \
    F(i64, load_delta)

#define KERNEL_FIELDS(F)                                                                                     \
    F(u64, kernel_id)                                                                                        \
    F(u64, code_object_id)                                                                                   \
    F(u32, agent_id)                                                                                         \
    F(string, name)                                                                                          \
    F(u32, kernarg_bytes)                                                                                    \
    F(u32, group_segment_bytes)                                                                              \
    F(u32, private_segment_bytes)                                                                            \
    F(u32, arch_vgprs)                                                                                       \
    F(u32, accum_vgprs)                                                                                      \
    F(u32, sgprs)

#define COUNTER_FIELDS(F)                                                                                    \
    F(u64, counter_id)                                                                                       \
    F(u32, agent_id)                                                                                         \
    F(string, name)                                                                                          \
    F(string, block)                                                                                         \
    F(string, description)                                                                                   \
    F(string, expression)                                                                                    \
    F(u32, event)                                                                                            \
    F(u32, instances)

#define DISPATCH_FIELDS(F)                                                                                   \
    F(u64, dispatch_id)                                                                                      \
    F(u32, agent_id)                                                                                         \
    F(u64, queue_id)                                                                                         \
    F(u64, kernel_id)                                                                                        \
    F(string, kernel_name)                                                                                   \
    F(u64, thread_id)                                                                                        \
    F(u32, workgroup[0])                                                                                     \
    F(u32, workgroup[1])                                                                                     \
    F(u32, workgroup[2])                                                                                     \
    F(u32, grid[0])                                                                                          \
    F(u32, grid[1])                                                                                          \
    F(u32, grid[2])                                                                                          \
    F(u32, private_segment_bytes)                                                                            \
    F(u32, group_segment_bytes)

#define OUTCOME_FIELDS(F)                                                                                    \
    F(u32, kind)                                                                                             \
    F(u32, reason)                                                                                           \
    F(u32, requested_passes)                                                                                 \
    F(u32, executed_passes)                                                                                  \
    F(bool, deterministic)                                                                                   \
    F(bool, reentrant)                                                                                       \
    F(u64, captured_bytes)                                                                                   \
    F(u64, captured_regions)                                                                                 \
    F(u64, untracked_bytes)                                                                                  \
    F(u64, untracked_regions)                                                                                \
    F(u64, compared_bytes)                                                                                   \
    F(u64, write_set_bytes)                                                                                  \
    F(u64, restored_bytes)                                                                                   \
    F(u32, restores)                                                                                         \
    F(u32, restore_retries)                                                                                  \
    F(u64, gate_ns)                                                                                          \
    F(u64, drain_ns)                                                                                         \
    F(u64, snapshot_ns)                                                                                      \
    F(u64, live_ns)                                                                                          \
    F(u64, compare_ns)                                                                                       \
    F(u64, restore_ns)                                                                                       \
    F(u64, passes_ns)                                                                                        \
    F(u64, finish_ns)                                                                                        \
    F(later_u64, untracked_vmem_bytes)                                                                       \
    F(later_u64, untracked_vmem_regions)                                                                     \
    F(later_u32, disagreements)

#define VALUE_FIELDS(F)                                                                                      \
    F(u64, counter_id)                                                                                       \
    F(u32, instance)                                                                                         \
    F(u32, kind)                                                                                             \
    F(u64, value)

#define END_FIELDS(F)                                                                                        \
    F(u64, end_ns)                                                                                           \
    F(u64, dispatches)                                                                                       \
    F(later_u64, lost)

#define ROLE_FIELDS(F)                                                                                       \
    F(u32, agent_id)                                                                                         \
    F(u32, role)                                                                                             \
    F(u64, counter_id)

// Fields that version 1 did not have from its beginning: where a record or section ends before them, they are
// zero.
#define kr_out_later_u64 kr_out_u64
#define kr_out_later_u32 kr_out_u32

static uint64_t kr_in_later_u64(struct kr_in *in)
{
    return in->left == 0 ? 0 : kr_in_u64(in);
}

static uint32_t kr_in_later_u32(struct kr_in *in)
{
    return in->left == 0 ? 0 : kr_in_u32(in);
}

// Least bytes that one value, one pass (with its section length) and one counter id take: bounds for counts.
#define VALUE_BYTES      24u
#define PASS_BYTES       28u
#define COUNTER_ID_BYTES 8u

#define PUT(kind, field) kr_out_##kind(out, from->field);
#define GET(kind, field) to->field = kr_in_##kind(in);

// The public structs start with their size, the log's own do not.
#define CODEC(name, type, FIELDS, SET_SIZE)                                                                  \
    static void put_##name(struct kr_out *out, const void *value)                                            \
    {                                                                                                        \
        const type *from = value;                                                                            \
        FIELDS(PUT)                                                                                          \
    }                                                                                                        \
    static void get_##name(struct kr_in *in, type *to)                                                       \
    {                                                                                                        \
        SET_SIZE                                                                                             \
        FIELDS(GET)                                                                                          \
    }
#define SIZED to->size = sizeof(*to);

CODEC(process, kr_log_process, PROCESS_FIELDS, )
CODEC(agent, kreplay_agent, AGENT_FIELDS, SIZED)
CODEC(code_object, kreplay_code_object, CODE_OBJECT_FIELDS, SIZED)
CODEC(kernel, kreplay_kernel, KERNEL_FIELDS, SIZED)
CODEC(counter, kreplay_counter, COUNTER_FIELDS, SIZED)
CODEC(dispatch_info, kreplay_dispatch, DISPATCH_FIELDS, SIZED)
CODEC(outcome, kreplay_outcome, OUTCOME_FIELDS, SIZED)
CODEC(value, kreplay_value, VALUE_FIELDS, )
CODEC(end, kr_log_end, END_FIELDS, )
CODEC(role, kr_log_counter_role, ROLE_FIELDS, )

static void put_group(struct kr_out *out, const void *value)
{
    const kr_log_group *from = value;
    kr_out_u32(out, from->index);
    kr_out_u32(out, from->agent_id);
    kr_out_u32(out, (uint32_t)from->counter_count);
    for (size_t i = 0; i < from->counter_count; i++)
        kr_out_u64(out, from->counter_ids[i]);
    kr_out_later_u64(out, from->witness_id);
}

static void put_message(struct kr_out *out, const void *value)
{
    kr_out_string(out, value);
}

static void put_pass(struct kr_out *out, const kreplay_pass_record *pass)
{
    size_t section = kr_out_begin(out);
    kr_out_u32(out, pass->pass);
    kr_out_u64(out, pass->start_ns);
    kr_out_u64(out, pass->end_ns);
    kr_out_u32(out, (uint32_t)pass->value_count);
    for (size_t i = 0; i < pass->value_count; i++)
        put_value(out, &pass->values[i]);
    kr_out_end(out, section);
}

static void put_dispatch(struct kr_out *out, const void *value)
{
    const kreplay_dispatch_record *from = value;
    size_t value_count = 0;
    for (size_t i = 0; i < from->pass_count; i++)
        value_count += from->passes[i].value_count;

    size_t section = kr_out_begin(out);
    put_dispatch_info(out, from->dispatch);
    kr_out_end(out, section);
    section = kr_out_begin(out);
    put_outcome(out, from->outcome);
    kr_out_end(out, section);

    kr_out_u64(out, from->window_id);
    kr_out_u64(out, from->start_ns);
    kr_out_u64(out, from->end_ns);
    kr_out_u32(out, (uint32_t)from->pass_count);
    kr_out_u32(out, (uint32_t)value_count); // of all passes: lets a reader make room once
    for (size_t i = 0; i < from->pass_count; i++)
        put_pass(out, &from->passes[i]);
}

static void (*const encoders[])(struct kr_out *, const void *) = {
    [KR_LOG_PROCESS] = put_process,   [KR_LOG_AGENT] = put_agent,     [KR_LOG_CODE_OBJECT] = put_code_object,
    [KR_LOG_KERNEL] = put_kernel,     [KR_LOG_COUNTER] = put_counter, [KR_LOG_GROUP] = put_group,
    [KR_LOG_DISPATCH] = put_dispatch, [KR_LOG_MESSAGE] = put_message, [KR_LOG_END] = put_end,
    [KR_LOG_ROLE] = put_role,
};

void kr_log_encode(struct kr_out *out, enum kr_log_type type, const void *value)
{
    encoders[type](out, value);
}

static void *make_room(struct kr_log_arrays *arrays, size_t bytes)
{
    if (bytes <= arrays->capacity && arrays->bytes != NULL)
        return arrays->bytes;
    void *grown = realloc(arrays->bytes, bytes != 0 ? bytes : 1);
    if (grown == NULL)
        return NULL;
    arrays->bytes = grown;
    arrays->capacity = bytes;
    return grown;
}

static int get_group(struct kr_in *in, kr_log_group *to, struct kr_log_arrays *arrays)
{
    to->index = kr_in_u32(in);
    to->agent_id = kr_in_u32(in);
    to->counter_count = kr_in_u32(in);
    if (in->failed || to->counter_count > in->left / COUNTER_ID_BYTES)
        return KREPLAY_CORRUPT;
    uint64_t *ids = make_room(arrays, to->counter_count * sizeof(*ids));
    if (ids == NULL)
        return KREPLAY_NO_MEMORY;
    for (size_t i = 0; i < to->counter_count; i++)
        ids[i] = kr_in_u64(in);
    to->counter_ids = ids;
    to->witness_id = kr_in_later_u64(in);
    return KREPLAY_OK;
}

// Takes at most `room` values; *in fails when the pass has more.
static void get_pass(struct kr_in *in, kreplay_pass_record *to, kreplay_value *values, size_t room)
{
    struct kr_in section = kr_in_section(in);
    to->size = sizeof(*to);
    to->pass = kr_in_u32(&section);
    to->start_ns = kr_in_u64(&section);
    to->end_ns = kr_in_u64(&section);
    to->value_count = kr_in_u32(&section);
    to->values = values;
    if (section.failed || to->value_count > room) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < to->value_count; i++)
        get_value(&section, &values[i]);
    in->failed = in->failed || section.failed;
}

static int get_dispatch(struct kr_in *in, kr_log_record *record, struct kr_log_arrays *arrays)
{
    kreplay_dispatch_record *to = &record->u.dispatch.record;
    struct kr_in section = kr_in_section(in);
    get_dispatch_info(&section, &record->u.dispatch.dispatch);
    if (section.failed)
        return KREPLAY_CORRUPT;
    section = kr_in_section(in);
    get_outcome(&section, &record->u.dispatch.outcome);
    if (section.failed)
        return KREPLAY_CORRUPT;

    to->size = sizeof(*to);
    to->dispatch = &record->u.dispatch.dispatch;
    to->outcome = &record->u.dispatch.outcome;
    to->window_id = kr_in_u64(in);
    to->start_ns = kr_in_u64(in);
    to->end_ns = kr_in_u64(in);
    to->pass_count = kr_in_u32(in);
    size_t value_count = kr_in_u32(in);
    if (in->failed || to->pass_count > in->left / PASS_BYTES || value_count > in->left / VALUE_BYTES)
        return KREPLAY_CORRUPT;

    kreplay_pass_record *passes =
        make_room(arrays, to->pass_count * sizeof(*passes) + value_count * sizeof(kreplay_value));
    if (passes == NULL)
        return KREPLAY_NO_MEMORY;
    kreplay_value *values = (kreplay_value *)(passes + to->pass_count);
    for (size_t i = 0; i < to->pass_count; i++) {
        get_pass(in, &passes[i], values, value_count);
        if (in->failed)
            return KREPLAY_CORRUPT;
        values += passes[i].value_count;
        value_count -= passes[i].value_count;
    }
    to->passes = passes;
    return KREPLAY_OK;
}

int kr_log_decode(const uint8_t *payload, size_t bytes, uint32_t type, kr_log_record *record,
                  struct kr_log_arrays *arrays)
{
    struct kr_in in = {.bytes = payload, .left = bytes};
    int rc = KREPLAY_OK;
    switch (type) {
    case KR_LOG_PROCESS:
        get_process(&in, &record->u.process);
        break;
    case KR_LOG_AGENT:
        get_agent(&in, &record->u.agent);
        break;
    case KR_LOG_CODE_OBJECT:
        get_code_object(&in, &record->u.code_object);
        break;
    case KR_LOG_KERNEL:
        get_kernel(&in, &record->u.kernel);
        break;
    case KR_LOG_COUNTER:
        get_counter(&in, &record->u.counter);
        break;
    case KR_LOG_GROUP:
        rc = get_group(&in, &record->u.group, arrays);
        break;
    case KR_LOG_DISPATCH:
        rc = get_dispatch(&in, record, arrays);
        break;
    case KR_LOG_MESSAGE:
        record->u.message = kr_in_string(&in);
        break;
    case KR_LOG_END:
        get_end(&in, &record->u.end);
        break;
    case KR_LOG_ROLE:
        get_role(&in, &record->u.role);
        break;
    default:
        return KREPLAY_NOT_FOUND;
    }
    record->type = (enum kr_log_type)type;
    if (rc == KREPLAY_OK && in.failed)
        rc = KREPLAY_CORRUPT;
    return rc;
}
