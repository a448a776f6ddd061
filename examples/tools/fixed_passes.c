// SPDX-License-Identifier: MIT
// Every dispatch four times, with the same counter each time: what counts the same in every pass says that each
// pass did the same work.
#include <kreplay/kreplay.h>

#include <inttypes.h>
#include <stdio.h>

#define PASSES   4
#define MAX_GPUS 64

static kreplay_group *groups[MAX_GPUS]; // by agent id; NULL = this GPU lacks the counter

static void on_agent(void *tool, const kreplay_agent *agent)
{
    static const char *const names[] = {"SQ_WAVES"};
    char error[256];
    (void)tool;
    if (agent->agent_id < MAX_GPUS &&
        kreplay_group_create(agent->agent_id, names, 1, &groups[agent->agent_id], error, sizeof error) != 0)
        fprintf(stderr, "fixed_passes: GPU %u: %s\n", agent->agent_id, error);
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_EXIT)
        return;
    config->want = true;
    config->pass_count = PASSES;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    if (phase == KREPLAY_ENTER && pass->dispatch->agent_id < MAX_GPUS)
        pass->group = groups[pass->dispatch->agent_id];
}

// A counter has one value for each instance of its block.
static uint64_t sum(const kreplay_pass_record *pass)
{
    uint64_t total = 0;
    for (size_t i = 0; i < pass->value_count; i++)
        if (pass->values[i].kind == KREPLAY_VALUE_COUNT)
            total += pass->values[i].value;
    return total;
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    char line[256];
    int at = 0;
    (void)tool;
    for (size_t i = 0; i < record->pass_count && at < (int)sizeof line - 32; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %" PRIu64, sum(&record->passes[i]));
    fprintf(stderr, "fixed_passes: dispatch %" PRIu64 " %s: %u passes, reason %s, SQ_WAVES%s\n",
            record->dispatch->dispatch_id, record->dispatch->kernel_name, record->outcome->executed_passes,
            kreplay_reason_key(record->outcome->reason), at > 0 ? line : " -");
}

static void on_fini(void *tool)
{
    (void)tool;
    for (unsigned i = 0; i < MAX_GPUS; i++)
        kreplay_group_destroy(groups[i]);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {
        .size = sizeof tool,
        .name = "fixed_passes",
        .agent = on_agent,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .fini = on_fini,
    };
    return kreplay_register(&tool);
}
