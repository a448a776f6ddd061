// SPDX-License-Identifier: MIT
// For tests/apps/called_back.cpp: replays `worker` and `hog` and calls the program back from inside their windows; leaves
// everything else alone. With TOOL_ENDLESS all dispatches get passes without end.
#include <kreplay/kreplay.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 5

static void (*from_tool)(int in_hog);

static int always(const kreplay_dispatch *dispatch, uint32_t pass, uint32_t total,
                  union kreplay_user_data data)
{
    (void)dispatch, (void)pass, (void)total, (void)data;
    return 1;
}

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    const char *name = config->dispatch->kernel_name;
    (void)tool;
    if (phase == KREPLAY_EXIT)
        return;
    if (getenv("TOOL_ENDLESS")) {
        config->want = true;
        config->pass_count = 0;
        config->continue_fn = always;
        return;
    }
    config->want = strstr(name, "worker") || strstr(name, "hog");
    config->pass_count = PASSES;
}

static void on_pass(void *tool, kreplay_phase phase, kreplay_pass *pass)
{
    (void)tool;
    if (from_tool && phase == KREPLAY_ENTER && pass->current_pass == 1)
        from_tool(strstr(pass->dispatch->kernel_name, "hog") != NULL);
}

static void on_dispatch(void *tool, const kreplay_dispatch_record *record)
{
    const kreplay_outcome *outcome = record->outcome;
    (void)tool;
    fprintf(stderr, "calling_tool: %s %d %s %u %d\n", record->dispatch->kernel_name, (int)outcome->kind,
            kreplay_reason_key(outcome->reason), outcome->executed_passes, outcome->reentrant);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {.size = sizeof tool,
                               .name = "calling_tool",
                               .config = on_config,
                               .pass = on_pass,
                               .dispatch = on_dispatch};
    void *symbol = dlsym(RTLD_DEFAULT, "from_tool");
    memcpy(&from_tool, &symbol, sizeof from_tool);
    return kreplay_register(&tool);
}
