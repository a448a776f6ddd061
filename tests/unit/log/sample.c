// SPDX-License-Identifier: MIT
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

uint64_t sample_random(uint64_t *seed)
{
    // splitmix64, by Sebastiano Vigna, public domain
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// Small, huge and ordinary numbers.
static uint64_t number(uint64_t *seed)
{
    uint64_t bits = sample_random(seed);
    return sample_random(seed) >> (bits & 63);
}

static const char *text(struct sample *sample, unsigned which, uint64_t *seed)
{
    char *to = sample->text[which];
    size_t length = sample_random(seed) % sizeof(sample->text[which]);
    for (size_t i = 0; i < length; i++)
        to[i] = (char)(1 + sample_random(seed) % 255); // any byte but NUL
    to[length] = '\0';
    return to;
}

static void make_process(struct sample *s, uint64_t *r)
{
    s->expected.u.process = (kr_log_process){.run_id = number(r),
                                             .pid = (uint32_t)number(r),
                                             .ppid = (uint32_t)number(r),
                                             .start_ns = number(r),
                                             .start_unix_ns = number(r),
                                             .hostname = text(s, 0, r),
                                             .command = text(s, 1, r),
                                             .backend = text(s, 2, r),
                                             .version = text(s, 3, r)};
}

static void make_agent(struct sample *s, uint64_t *r)
{
    s->expected.u.agent = (kreplay_agent){.size = sizeof(kreplay_agent),
                                          .agent_id = (uint32_t)number(r),
                                          .node_id = (uint32_t)number(r),
                                          .name = text(s, 0, r),
                                          .product = text(s, 1, r),
                                          .vendor = text(s, 2, r),
                                          .compute_units = (uint32_t)number(r),
                                          .shader_engines = (uint32_t)number(r),
                                          .simds_per_cu = (uint32_t)number(r),
                                          .wave_size = (uint32_t)number(r),
                                          .max_waves_per_cu = (uint32_t)number(r),
                                          .lds_bytes = (uint32_t)number(r),
                                          .max_clock_mhz = (uint32_t)number(r),
                                          .memory_bytes = number(r)};
}

static void make_code_object(struct sample *s, uint64_t *r)
{
    s->expected.u.code_object = (kreplay_code_object){.size = sizeof(kreplay_code_object),
                                                      .code_object_id = number(r),
                                                      .agent_id = (uint32_t)number(r),
                                                      .uri = text(s, 0, r),
                                                      .load_base = number(r),
                                                      .load_bytes = number(r),
                                                      .load_delta = (int64_t)sample_random(r)};
}

static void make_kernel(struct sample *s, uint64_t *r)
{
    s->expected.u.kernel = (kreplay_kernel){.size = sizeof(kreplay_kernel),
                                            .kernel_id = number(r),
                                            .code_object_id = number(r),
                                            .agent_id = (uint32_t)number(r),
                                            .name = text(s, 0, r),
                                            .kernarg_bytes = (uint32_t)number(r),
                                            .group_segment_bytes = (uint32_t)number(r),
                                            .private_segment_bytes = (uint32_t)number(r),
                                            .arch_vgprs = (uint32_t)number(r),
                                            .accum_vgprs = (uint32_t)number(r),
                                            .sgprs = (uint32_t)number(r)};
}

static void make_counter(struct sample *s, uint64_t *r)
{
    s->expected.u.counter = (kreplay_counter){.size = sizeof(kreplay_counter),
                                              .counter_id = number(r),
                                              .agent_id = (uint32_t)number(r),
                                              .name = text(s, 0, r),
                                              .block = text(s, 1, r),
                                              .description = text(s, 2, r),
                                              .expression = text(s, 3, r),
                                              .event = (uint32_t)number(r),
                                              .instances = (uint32_t)number(r)};
}

static void make_group(struct sample *s, uint64_t *r)
{
    size_t count = sample_random(r) % (sizeof(s->ids) / sizeof(s->ids[0]));
    for (size_t i = 0; i < count; i++)
        s->ids[i] = number(r);
    s->expected.u.group = (kr_log_group){.index = (uint32_t)number(r),
                                         .agent_id = (uint32_t)number(r),
                                         .counter_ids = s->ids,
                                         .counter_count = count,
                                         .witness_id = number(r)};
}

static void make_passes(struct sample *s, uint64_t *r)
{
    size_t passes = sample_random(r) % 6;
    for (size_t i = 0; i < passes; i++) {
        size_t values = sample_random(r) % 8;
        for (size_t j = 0; j < values; j++)
            s->values[i][j] = (kreplay_value){.counter_id = number(r),
                                              .instance = (uint32_t)number(r),
                                              .kind = (kreplay_value_kind)(number(r) % 2),
                                              .value = number(r)};
        s->passes[i] = (kreplay_pass_record){.size = sizeof(kreplay_pass_record),
                                             .pass = (uint32_t)number(r),
                                             .start_ns = number(r),
                                             .end_ns = number(r),
                                             .values = s->values[i],
                                             .value_count = values};
    }
    s->expected.u.dispatch.record.passes = s->passes;
    s->expected.u.dispatch.record.pass_count = passes;
}

static void make_dispatch(struct sample *s, uint64_t *r)
{
    s->expected.u.dispatch.dispatch =
        (kreplay_dispatch){.size = sizeof(kreplay_dispatch),
                           .dispatch_id = number(r),
                           .agent_id = (uint32_t)number(r),
                           .queue_id = number(r),
                           .kernel_id = number(r),
                           .kernel_name = text(s, 0, r),
                           .thread_id = number(r),
                           .workgroup = {(uint32_t)number(r), (uint32_t)number(r), (uint32_t)number(r)},
                           .grid = {(uint32_t)number(r), (uint32_t)number(r), (uint32_t)number(r)},
                           .private_segment_bytes = (uint32_t)number(r),
                           .group_segment_bytes = (uint32_t)number(r)};
    s->expected.u.dispatch.outcome = (kreplay_outcome){.size = sizeof(kreplay_outcome),
                                                       .kind = (kreplay_outcome_kind)(sample_random(r) % 4),
                                                       .reason = (kreplay_reason)(sample_random(r) % 17),
                                                       .requested_passes = (uint32_t)number(r),
                                                       .executed_passes = (uint32_t)number(r),
                                                       .deterministic = sample_random(r) & 1,
                                                       .reentrant = sample_random(r) & 1,
                                                       .captured_bytes = number(r),
                                                       .captured_regions = number(r),
                                                       .untracked_bytes = number(r),
                                                       .untracked_regions = number(r),
                                                       .compared_bytes = number(r),
                                                       .write_set_bytes = number(r),
                                                       .restored_bytes = number(r),
                                                       .restores = (uint32_t)number(r),
                                                       .restore_retries = (uint32_t)number(r),
                                                       .gate_ns = number(r),
                                                       .drain_ns = number(r),
                                                       .snapshot_ns = number(r),
                                                       .live_ns = number(r),
                                                       .compare_ns = number(r),
                                                       .restore_ns = number(r),
                                                       .passes_ns = number(r),
                                                       .finish_ns = number(r),
                                                       .untracked_vmem_bytes = number(r),
                                                       .untracked_vmem_regions = number(r),
                                                       .disagreements = (uint32_t)number(r)};
    s->expected.u.dispatch.record = (kreplay_dispatch_record){.size = sizeof(kreplay_dispatch_record),
                                                              .dispatch = &s->expected.u.dispatch.dispatch,
                                                              .outcome = &s->expected.u.dispatch.outcome,
                                                              .window_id = number(r),
                                                              .start_ns = number(r),
                                                              .end_ns = number(r)};
    make_passes(s, r);
}

void sample_make(struct sample *s, enum kr_log_type type, uint64_t *r)
{
    memset(s, 0, sizeof(*s));
    s->type = s->expected.type = type;
    switch (type) {
    case KR_LOG_PROCESS:
        make_process(s, r);
        break;
    case KR_LOG_AGENT:
        make_agent(s, r);
        break;
    case KR_LOG_CODE_OBJECT:
        make_code_object(s, r);
        break;
    case KR_LOG_KERNEL:
        make_kernel(s, r);
        break;
    case KR_LOG_COUNTER:
        make_counter(s, r);
        break;
    case KR_LOG_GROUP:
        make_group(s, r);
        break;
    case KR_LOG_DISPATCH:
        make_dispatch(s, r);
        break;
    case KR_LOG_MESSAGE:
        s->expected.u.message = text(s, 0, r);
        break;
    case KR_LOG_END:
        s->expected.u.end = (kr_log_end){.end_ns = number(r), .dispatches = number(r), .lost = number(r)};
        break;
    case KR_LOG_ROLE:
        s->expected.u.role = (kr_log_counter_role){
            .agent_id = (uint32_t)number(r), .role = (uint32_t)number(r), .counter_id = number(r)};
        break;
    }
}

int sample_put(struct kr_log *log, const struct sample *s)
{
    switch (s->type) {
    case KR_LOG_PROCESS:
        return kr_log_put_process(log, &s->expected.u.process);
    case KR_LOG_AGENT:
        return kr_log_put_agent(log, &s->expected.u.agent);
    case KR_LOG_CODE_OBJECT:
        return kr_log_put_code_object(log, &s->expected.u.code_object);
    case KR_LOG_KERNEL:
        return kr_log_put_kernel(log, &s->expected.u.kernel);
    case KR_LOG_COUNTER:
        return kr_log_put_counter(log, &s->expected.u.counter);
    case KR_LOG_GROUP:
        return kr_log_put_group(log, &s->expected.u.group);
    case KR_LOG_DISPATCH:
        return kr_log_put_dispatch(log, &s->expected.u.dispatch.record);
    case KR_LOG_ROLE:
        return kr_log_put_role(log, &s->expected.u.role);
    case KR_LOG_MESSAGE:
        return kr_log_put_message(log, s->expected.u.message);
    case KR_LOG_END:
        return kr_log_put_end(log, &s->expected.u.end);
    }
    return KREPLAY_INVALID;
}

// ---- Comparison, member by member

#define SAME(a, b, member)      assert_int_equal((a)->member, (b)->member)
#define SAME_TEXT(a, b, member) assert_string_equal((a)->member, (b)->member)

static void check_process(const kr_log_process *a, const kr_log_process *b)
{
    SAME(a, b, run_id);
    SAME(a, b, pid);
    SAME(a, b, ppid);
    SAME(a, b, start_ns);
    SAME(a, b, start_unix_ns);
    SAME_TEXT(a, b, hostname);
    SAME_TEXT(a, b, command);
    SAME_TEXT(a, b, backend);
    SAME_TEXT(a, b, version);
}

static void check_agent(const kreplay_agent *a, const kreplay_agent *b)
{
    SAME(a, b, size);
    SAME(a, b, agent_id);
    SAME(a, b, node_id);
    SAME_TEXT(a, b, name);
    SAME_TEXT(a, b, product);
    SAME_TEXT(a, b, vendor);
    SAME(a, b, compute_units);
    SAME(a, b, shader_engines);
    SAME(a, b, simds_per_cu);
    SAME(a, b, wave_size);
    SAME(a, b, max_waves_per_cu);
    SAME(a, b, lds_bytes);
    SAME(a, b, max_clock_mhz);
    SAME(a, b, memory_bytes);
}

static void check_code_object(const kreplay_code_object *a, const kreplay_code_object *b)
{
    SAME(a, b, size);
    SAME(a, b, code_object_id);
    SAME(a, b, agent_id);
    SAME_TEXT(a, b, uri);
    SAME(a, b, load_base);
    SAME(a, b, load_bytes);
    SAME(a, b, load_delta);
}

static void check_kernel(const kreplay_kernel *a, const kreplay_kernel *b)
{
    SAME(a, b, size);
    SAME(a, b, kernel_id);
    SAME(a, b, code_object_id);
    SAME(a, b, agent_id);
    SAME_TEXT(a, b, name);
    SAME(a, b, kernarg_bytes);
    SAME(a, b, group_segment_bytes);
    SAME(a, b, private_segment_bytes);
    SAME(a, b, arch_vgprs);
    SAME(a, b, accum_vgprs);
    SAME(a, b, sgprs);
}

static void check_counter(const kreplay_counter *a, const kreplay_counter *b)
{
    SAME(a, b, size);
    SAME(a, b, counter_id);
    SAME(a, b, agent_id);
    SAME_TEXT(a, b, name);
    SAME_TEXT(a, b, block);
    SAME_TEXT(a, b, description);
    SAME_TEXT(a, b, expression);
    SAME(a, b, event);
    SAME(a, b, instances);
}

static void check_group(const kr_log_group *a, const kr_log_group *b)
{
    SAME(a, b, index);
    SAME(a, b, agent_id);
    SAME(a, b, counter_count);
    SAME(a, b, witness_id);
    for (size_t i = 0; i < a->counter_count; i++)
        SAME(a, b, counter_ids[i]);
}

static void check_dispatch(const kreplay_dispatch *a, const kreplay_dispatch *b)
{
    SAME(a, b, size);
    SAME(a, b, dispatch_id);
    SAME(a, b, agent_id);
    SAME(a, b, queue_id);
    SAME(a, b, kernel_id);
    SAME_TEXT(a, b, kernel_name);
    SAME(a, b, thread_id);
    for (int i = 0; i < 3; i++) {
        SAME(a, b, workgroup[i]);
        SAME(a, b, grid[i]);
    }
    SAME(a, b, private_segment_bytes);
    SAME(a, b, group_segment_bytes);
}

static void check_outcome(const kreplay_outcome *a, const kreplay_outcome *b)
{
    SAME(a, b, size);
    SAME(a, b, kind);
    SAME(a, b, reason);
    SAME(a, b, requested_passes);
    SAME(a, b, executed_passes);
    SAME(a, b, deterministic);
    SAME(a, b, reentrant);
    SAME(a, b, captured_bytes);
    SAME(a, b, captured_regions);
    SAME(a, b, untracked_bytes);
    SAME(a, b, untracked_regions);
    SAME(a, b, compared_bytes);
    SAME(a, b, write_set_bytes);
    SAME(a, b, restored_bytes);
    SAME(a, b, restores);
    SAME(a, b, restore_retries);
    SAME(a, b, gate_ns);
    SAME(a, b, drain_ns);
    SAME(a, b, snapshot_ns);
    SAME(a, b, live_ns);
    SAME(a, b, compare_ns);
    SAME(a, b, restore_ns);
    SAME(a, b, passes_ns);
    SAME(a, b, finish_ns);
    SAME(a, b, untracked_vmem_bytes);
    SAME(a, b, untracked_vmem_regions);
    SAME(a, b, disagreements);
}

static void check_record(const kreplay_dispatch_record *a, const kreplay_dispatch_record *b)
{
    SAME(a, b, size);
    check_dispatch(a->dispatch, b->dispatch);
    check_outcome(a->outcome, b->outcome);
    SAME(a, b, window_id);
    SAME(a, b, start_ns);
    SAME(a, b, end_ns);
    SAME(a, b, pass_count);
    for (size_t i = 0; i < a->pass_count; i++) {
        const kreplay_pass_record *p = &a->passes[i], *q = &b->passes[i];
        SAME(p, q, size);
        SAME(p, q, pass);
        SAME(p, q, start_ns);
        SAME(p, q, end_ns);
        SAME(p, q, value_count);
        for (size_t j = 0; j < p->value_count; j++) {
            SAME(p, q, values[j].counter_id);
            SAME(p, q, values[j].instance);
            SAME(p, q, values[j].kind);
            SAME(p, q, values[j].value);
        }
    }
}

void sample_check(const struct sample *s, const kr_log_record *record)
{
    assert_int_equal(record->type, s->type);
    switch (s->type) {
    case KR_LOG_PROCESS:
        check_process(&s->expected.u.process, &record->u.process);
        break;
    case KR_LOG_AGENT:
        check_agent(&s->expected.u.agent, &record->u.agent);
        break;
    case KR_LOG_CODE_OBJECT:
        check_code_object(&s->expected.u.code_object, &record->u.code_object);
        break;
    case KR_LOG_KERNEL:
        check_kernel(&s->expected.u.kernel, &record->u.kernel);
        break;
    case KR_LOG_COUNTER:
        check_counter(&s->expected.u.counter, &record->u.counter);
        break;
    case KR_LOG_GROUP:
        check_group(&s->expected.u.group, &record->u.group);
        break;
    case KR_LOG_DISPATCH:
        check_record(&s->expected.u.dispatch.record, &record->u.dispatch.record);
        break;
    case KR_LOG_MESSAGE:
        assert_string_equal(s->expected.u.message, record->u.message);
        break;
    case KR_LOG_END:
        SAME(&s->expected.u.end, &record->u.end, end_ns);
        SAME(&s->expected.u.end, &record->u.end, dispatches);
        SAME(&s->expected.u.end, &record->u.end, lost);
        break;
    case KR_LOG_ROLE:
        SAME(&s->expected.u.role, &record->u.role, agent_id);
        SAME(&s->expected.u.role, &record->u.role, role);
        SAME(&s->expected.u.role, &record->u.role, counter_id);
        break;
    }
}
