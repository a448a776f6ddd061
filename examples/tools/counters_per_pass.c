// SPDX-License-Identifier: MIT
// Another counter in each pass, chosen among those that the GPU has. What a pass collects is decided when it
// begins: with TOOL_STOP_PASS and TOOL_START_PASS collecting ends and begins again in the middle of a dispatch.
#include <kreplay/kreplay.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES   4
#define MAX_GPUS 64

static const char *const wanted[PASSES] = {"SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "GRBM_COUNT"};

static struct gpu {
    kreplay_group *groups[PASSES];
    uint64_t ids[PASSES]; // of the counters, 0 = the GPU has none of this name
    bool collecting;      // callbacks of one GPU come one at a time
} gpus[MAX_GPUS];

static int number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : -1;
}

static int note_counter(void *arg, const kreplay_counter *counter)
{
    struct gpu *gpu = arg;
    for (int i = 0; i < PASSES; i++)
        if (strcmp(counter->name, wanted[i]) == 0)
            gpu->ids[i] = counter->counter_id;
    return 0;
}

static void on_agent(void *tool, const kreplay_agent *agent)
{
    (void)tool;
    if (agent->agent_id >= MAX_GPUS)
        return;
    struct gpu *gpu = &gpus[agent->agent_id];
    kreplay_counters(agent->agent_id, note_counter, gpu);
    for (int i = 0; i < PASSES; i++)
        if (gpu->ids[i] != 0)
            kreplay_group_create(agent->agent_id, &wanted[i], 1, &gpu->groups[i], NULL, 0);
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_EXIT || config->dispatch->agent_id >= MAX_GPUS)
        return;
    config->want = true;
    config->pass_count = PASSES;
    gpus[config->dispatch->agent_id].collecting = true;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    if (phase == KREPLAY_EXIT)
        return;
    struct gpu *gpu = &gpus[pass->dispatch->agent_id];
    if ((int)pass->current_pass == number("TOOL_STOP_PASS"))
        gpu->collecting = false;
    if ((int)pass->current_pass == number("TOOL_START_PASS"))
        gpu->collecting = true;
    if (gpu->collecting)
        pass->group = gpu->groups[pass->current_pass];
}

static void print_pass(const struct gpu *gpu, const kreplay_dispatch *dispatch,
                       const kreplay_pass_record *pass)
{
    uint64_t count = 0;
    double real = 0;
    for (size_t i = 0; i < pass->value_count; i++) {
        const kreplay_value *value = &pass->values[i];
        if (value->counter_id != gpu->ids[pass->pass])
            continue;
        if (value->kind == KREPLAY_VALUE_COUNT)
            count += value->value; // exact, whatever its size
        else
            real += value->real;
    }
    if (pass->value_count == 0)
        fprintf(stderr, "counters_per_pass: dispatch %" PRIu64 " pass %u: nothing\n", dispatch->dispatch_id,
                pass->pass);
    else
        fprintf(stderr, "counters_per_pass: dispatch %" PRIu64 " pass %u: %s %.17g\n", dispatch->dispatch_id,
                pass->pass, wanted[pass->pass], (double)count + real);
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    (void)tool;
    for (size_t i = 0; i < record->pass_count; i++)
        print_pass(&gpus[record->dispatch->agent_id], record->dispatch, &record->passes[i]);
}

static void on_fini(void *tool)
{
    (void)tool;
    for (int gpu = 0; gpu < MAX_GPUS; gpu++)
        for (int i = 0; i < PASSES; i++)
            kreplay_group_destroy(gpus[gpu].groups[i]);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {
        .size = sizeof tool,
        .name = "counters_per_pass",
        .agent = on_agent,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .fini = on_fini,
    };
    return kreplay_register(&tool);
}
