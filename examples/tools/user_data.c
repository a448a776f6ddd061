// SPDX-License-Identifier: MIT
// State of a tool's own that lives as long as a dispatch: made when the dispatch is configured, handed to each
// pass by user_data, and freed when the dispatch is over. Here it gathers the shortest and longest of five
// executions.
#include <kreplay/kreplay.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct times {
    unsigned passes;
    uint64_t least_ns, most_ns;
};

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    (void)tool;
    if (phase == KREPLAY_ENTER) {
        config->user_data.pointer = calloc(1, sizeof(struct times));
        config->want = config->user_data.pointer != NULL;
        config->pass_count = 5;
        return;
    }
    const struct times *times = config->user_data.pointer; // as it was at ENTER, whatever passes wrote
    if (times)
        fprintf(stderr, "user_data: dispatch %" PRIu64 ": %u passes, %" PRIu64 " to %" PRIu64 " ns\n",
                config->dispatch->dispatch_id, times->passes, times->least_ns, times->most_ns);
    free(config->user_data.pointer);
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    struct times *times = pass->user_data.pointer;
    (void)tool;
    if (phase == KREPLAY_ENTER || !pass->record)
        return;
    uint64_t ns = pass->record->end_ns - pass->record->start_ns;
    if (times->passes == 0 || ns < times->least_ns)
        times->least_ns = ns;
    if (ns > times->most_ns)
        times->most_ns = ns;
    times->passes++;
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {
        .size = sizeof tool, .name = "user_data", .config = on_config, .pass = on_pass};
    return kreplay_register(&tool);
}
