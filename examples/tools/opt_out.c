// SPDX-License-Identifier: MIT
// Keeps kernels out of replay by name. It measures nothing itself: kreplay's own tool collects what --pmc asks
// for, and this one, which is asked after it, takes the wish back where the kernel's name contains TOOL_OPT_OUT.
#include <kreplay/kreplay.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint kept, left_out; // GPUs call at the same time

static void on_config(void *tool, kreplay_phase phase, kreplay_config *config)
{
    const char *name = getenv("TOOL_OPT_OUT");
    (void)tool;
    if (phase == KREPLAY_EXIT || !config->want)
        return;
    if (name && strstr(config->dispatch->kernel_name, name)) {
        config->want = false; // runs once, untouched
        left_out++;
        return;
    }
    kept++;
}

static void on_fini(void *tool)
{
    (void)tool;
    fprintf(stderr, "opt_out: %u dispatches measured, %u left out\n", kept, left_out);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {.size = sizeof tool, .name = "opt_out", .config = on_config, .fini = on_fini};
    return kreplay_register(&tool);
}
