// SPDX-License-Identifier: MIT
// The sample logs, written with the log's own writer.
#include "sample_log.h"

#include "kreplay/kreplay.h"
#include "log/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const counter_names[][2] = {
    {"SQ_WAVES", "SQ"},      {"SQ_INSTS_VALU", "SQ"}, {"GRBM_COUNT", "GRBM"}, {"GRBM_GUI_ACTIVE", "GRBM"},
    {"SQ_INSTS_SALU", "SQ"}, {"SQ_INSTS_SMEM", "SQ"}, {"SQ_INSTS_LDS", "SQ"},
};
enum { COUNTERS = sizeof(counter_names) / sizeof(counter_names[0]), WAVES = 1, VALU = 2, FIRST_UNIQUE = 3 };

static const char *const kernel_names[] = {"_Z6vecaddPKfS0_Pfi", "_Z5saxpyILi4EEvfPKfPfi", "_Z5scalePffi"};
// Derived ones, asked for with .derived: one whose inputs are in two passes, one whose are in each.
static const char *const derived_counters[][2] = {
    {"GPUBusy", "100*reduce(GRBM_GUI_ACTIVE,max)/reduce(GRBM_COUNT,max)"},
    {"VALUInsts", "reduce(SQ_INSTS_VALU,sum)/reduce(SQ_WAVES,sum)"},
};
enum { FIRST_DERIVED = 100, GRBM_COUNT = 3, GRBM_GUI_ACTIVE = 4 };

enum { KERNELS = sizeof(kernel_names) / sizeof(kernel_names[0]) };

static void check(int status)
{
    if (status == 0)
        return;
    fprintf(stderr, "cannot write the sample log: status %d\n", status);
    exit(1);
}

uint64_t sample_waves(uint64_t dispatch_id)
{
    static const uint64_t waves[] = {16384, 4096, 1024, 0};
    return dispatch_id <= SAMPLE_DISPATCHES ? waves[dispatch_id - 1] : 0;
}

static void put_derived(struct kr_log *log, uint64_t shift)
{
    for (unsigned i = 0; i < sizeof(derived_counters) / sizeof(derived_counters[0]); i++) {
        const kreplay_counter counter = {.size = sizeof(counter),
                                         .counter_id = FIRST_DERIVED + i + shift,
                                         .name = derived_counters[i][0],
                                         .block = "",
                                         .description = "",
                                         .expression = derived_counters[i][1]};
        check(kr_log_put_counter(log, &counter));
        const kr_log_counter_role role = {.role = KR_LOG_ROLE_DERIVED,
                                          .counter_id = FIRST_DERIVED + i + shift};
        check(kr_log_put_role(log, &role));
    }
    const uint64_t inputs[] = {GRBM_COUNT, GRBM_GUI_ACTIVE};
    for (unsigned i = 0; i < 2; i++) {
        const kr_log_counter_role role = {.role = KR_LOG_ROLE_INPUT, .counter_id = inputs[i] + shift};
        check(kr_log_put_role(log, &role));
    }
}

static void put_head(struct kr_log *log, const struct sample_log *sample)
{
    const kr_log_process process = {.run_id = 77,
                                    .pid = sample->pid ? sample->pid : 4242,
                                    .ppid = 4000,
                                    .start_ns = 1000000,
                                    .start_unix_ns = 1700000000000000000ull + sample->pid,
                                    .hostname = "testhost",
                                    .command = "./three_kernels 1048576 1",
                                    .backend = "hsa",
                                    .version = "0.1.0"};
    check(kr_log_put_process(log, &process));
    const kreplay_agent agent = {.size = sizeof(agent),
                                 .agent_id = 0,
                                 .node_id = 1,
                                 .name = "gfx90a",
                                 .product = "AMD Instinct MI210",
                                 .vendor = "AMD",
                                 .compute_units = 104,
                                 .shader_engines = 8,
                                 .simds_per_cu = 4,
                                 .wave_size = 64,
                                 .max_waves_per_cu = 32,
                                 .lds_bytes = 65536,
                                 .max_clock_mhz = 1700,
                                 .memory_bytes = 68702699520ull};
    check(kr_log_put_agent(log, &agent));
    const kreplay_code_object object = {.size = sizeof(object),
                                        .code_object_id = 1,
                                        .agent_id = 0,
                                        .uri = "file:///opt/app#offset=4096&size=8192",
                                        .load_base = 0x7f0000000000,
                                        .load_bytes = 8192,
                                        .load_delta = 0x7f0000000000};
    check(kr_log_put_code_object(log, &object));
    for (unsigned i = 0; i < KERNELS; i++) {
        const kreplay_kernel kernel = {.size = sizeof(kernel),
                                       .kernel_id = i + 1,
                                       .code_object_id = 1,
                                       .name = kernel_names[i],
                                       .kernarg_bytes = 32,
                                       .group_segment_bytes = 100 * i,
                                       .arch_vgprs = 8,
                                       .accum_vgprs = 4,
                                       .sgprs = 16};
        check(kr_log_put_kernel(log, &kernel));
    }
    for (unsigned i = 0; i < COUNTERS; i++) {
        const kreplay_counter counter = {.size = sizeof(counter),
                                         .counter_id = i + 1 + sample->counter_shift,
                                         .name = counter_names[i][0],
                                         .block = counter_names[i][1],
                                         .description = "",
                                         .expression = "",
                                         .event = 4 + i,
                                         .instances = SAMPLE_INSTANCES};
        check(kr_log_put_counter(log, &counter));
    }
    if (sample->derived)
        put_derived(log, sample->counter_shift);
    for (unsigned i = 0; i < SAMPLE_PASSES; i++) {
        if (sample->only_group && i != sample->only_group - 1)
            continue;
        uint64_t shift = sample->counter_shift;
        const uint64_t ids[] = {WAVES + shift, VALU + shift, FIRST_UNIQUE + i + shift};
        bool added = sample->witness && i != 1;
        const kr_log_group group = {.index = sample->only_group ? 0 : i,
                                    .agent_id = 0,
                                    .counter_ids = added ? ids + 1 : ids,
                                    .counter_count = added ? 2 : 3,
                                    .witness_id = added ? WAVES : 0};
        check(kr_log_put_group(log, &group));
    }
}

static void put_dispatch(struct kr_log *log, const struct sample_log *sample, uint64_t id, bool declined)
{
    enum { VALUES = 3 * SAMPLE_INSTANCES };
    kreplay_value values[SAMPLE_PASSES][VALUES];
    kreplay_pass_record passes[SAMPLE_PASSES];
    uint64_t start = 2000000 + id * 100000;
    for (unsigned p = 0; p < SAMPLE_PASSES; p++) {
        for (unsigned v = 0; v < VALUES; v++) {
            unsigned column = v / SAMPLE_INSTANCES, instance = v % SAMPLE_INSTANCES;
            uint64_t counter = column < 2 ? column + 1 : FIRST_UNIQUE + p;
            uint64_t value = counter == WAVES ? sample_waves(id) / SAMPLE_INSTANCES : 1000 * counter + id;
            if (sample->huge_value && counter == WAVES && id == 1)
                value = instance == 0 ? sample->huge_value : 0;
            if (sample->drift && counter == WAVES && id == 1 && p == SAMPLE_PASSES - 1)
                value++;
            values[p][v] = (kreplay_value){
                .counter_id = counter + sample->counter_shift, .instance = instance, .value = value};
        }
        passes[p] = (kreplay_pass_record){.size = sizeof(passes[p]),
                                          .pass = p,
                                          .start_ns = start + p * 1000,
                                          .end_ns = start + p * 1000 + 500,
                                          .values = values[p],
                                          .value_count = VALUES};
    }
    unsigned kernel = (unsigned)((id - 1) % KERNELS), size = 1024u >> kernel;
    const kreplay_dispatch dispatch = {.size = sizeof(dispatch),
                                       .dispatch_id = id,
                                       .queue_id = 1,
                                       .kernel_id = kernel + 1,
                                       .kernel_name = kernel_names[kernel],
                                       .thread_id = 4243,
                                       .workgroup = {size, 1, 1},
                                       .grid = {size * size, 1, 1},
                                       .group_segment_bytes = 100 * kernel};
    const kreplay_outcome replayed = {.size = sizeof(replayed),
                                      .kind = KREPLAY_REPLAYED,
                                      .requested_passes = SAMPLE_PASSES,
                                      .executed_passes = SAMPLE_PASSES,
                                      .deterministic = true,
                                      .captured_bytes = 12582912,
                                      .captured_regions = 3,
                                      .restores = 4,
                                      .live_ns = 500,
                                      .disagreements = sample->witness && sample->drift && id == 1};
    const kreplay_outcome refused = {.size = sizeof(refused),
                                     .kind = KREPLAY_DECLINED,
                                     .reason = KREPLAY_REASON_HOST_MEMORY,
                                     .requested_passes = SAMPLE_PASSES,
                                     .executed_passes = 1,
                                     .deterministic = true};
    const kreplay_dispatch_record record = {.size = sizeof(record),
                                            .dispatch = &dispatch,
                                            .window_id = id,
                                            .start_ns = declined && sample->untimed ? 0 : start,
                                            .end_ns = declined && sample->untimed ? 0 : start + 500,
                                            .outcome = declined ? &refused : &replayed,
                                            .passes = passes,
                                            .pass_count = declined ? 0 : SAMPLE_PASSES};
    if (!sample->only_group) {
        check(kr_log_put_dispatch(log, &record));
        return;
    }
    kreplay_pass_record *pass = &passes[sample->only_group - 1];
    pass->pass = 0;
    const kreplay_outcome single = {.size = sizeof(single),
                                    .kind = KREPLAY_SINGLE,
                                    .requested_passes = 1,
                                    .executed_passes = 1,
                                    .deterministic = true};
    kreplay_dispatch_record alone = record;
    alone.outcome = &single;
    alone.passes = pass;
    alone.pass_count = declined ? 0 : 1;
    check(kr_log_put_dispatch(log, &alone));
}

void sample_log_write(const struct sample_log *sample)
{
    remove(sample->path);
    struct kr_log *log = NULL;
    check(kr_log_create(sample->path, &log));
    put_head(log, sample);
    uint64_t dispatches = sample->idle ? 0 : SAMPLE_DISPATCHES;
    for (uint64_t id = 1; id <= dispatches; id++)
        if (id != sample->without)
            put_dispatch(log, sample, id, id == SAMPLE_DISPATCHES);
    for (unsigned i = 0; i < sample->plain_dispatches; i++)
        put_dispatch(log, sample, dispatches + 1 + i, true);
    if (!sample->idle)
        check(kr_log_put_message(log, "dispatch 4 declined: host_memory"));
    const kr_log_end end = {
        .end_ns = 9000000, .dispatches = dispatches + sample->plain_dispatches, .lost = sample->lost};
    if (!sample->killed)
        check(kr_log_put_end(log, &end));
    kr_log_close(log);
}
