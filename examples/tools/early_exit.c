// SPDX-License-Identifier: MIT
// At most eight passes, at least two, and no more once two passes in a row have counted the same. The question
// after a pass gets the pass's own user data: what it shall know is put there when the pass ends.
#include <kreplay/kreplay.h>

#include <inttypes.h>
#include <stdio.h>

#define MOST     8
#define LEAST    2
#define MAX_GPUS 64

static kreplay_group *groups[MAX_GPUS];
static uint64_t before[MAX_GPUS]; // count of the pass before; callbacks of one GPU come one at a time

static void on_agent(void *tool, const kreplay_agent *agent)
{
    static const char *const names[] = {"SQ_INSTS_VALU"};
    (void)tool;
    if (agent->agent_id < MAX_GPUS)
        kreplay_group_create(agent->agent_id, names, 1, &groups[agent->agent_id], NULL, 0);
}

static int go_on(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total,
                 union kreplay_user_data steady)
{
    (void)dispatch, (void)pass, (void)total;
    return steady.value == 0;
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_EXIT || config->dispatch->agent_id >= MAX_GPUS)
        return;
    config->want = true;
    config->pass_count = MOST;
    config->min_passes = LEAST;
    config->continue_fn = go_on;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    uint32_t gpu = pass->dispatch->agent_id;
    uint64_t count = 0;
    (void)tool;
    if (phase == KREPLAY_ENTER) {
        pass->group = groups[gpu];
        return;
    }
    for (size_t i = 0; pass->record && i < pass->record->value_count; i++)
        count += pass->record->values[i].value;
    pass->user_data.value = pass->current_pass > 0 && count == before[gpu];
    before[gpu] = count;
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    (void)tool;
    fprintf(stderr, "early_exit: dispatch %" PRIu64 ": %u of %u passes\n", record->dispatch->dispatch_id,
            record->outcome->executed_passes, record->outcome->requested_passes);
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
        .name = "early_exit",
        .agent = on_agent,
        .config = on_config,
        .pass = on_pass,
        .dispatch = on_dispatch,
        .fini = on_fini,
    };
    return kreplay_register(&tool);
}
