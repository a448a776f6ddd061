// SPDX-License-Identifier: MIT
// Keeps kernels out of replay by name. It measures nothing itself: kreplay's own tool collects what --pmc asks
// for, and this one, which is asked after it, takes the wish back where the kernel's name contains TOOL_OPT_OUT. Taken
// back in config the wish would do the same, but the dispatch would have waited for its turn to be asked.
#include <kreplay/kreplay.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint kept, left_out; // threads call at the same time

static bool on_filter(void *tool, const kreplay_dispatch *dispatch, bool wanted,
                      union kreplay_user_data *user_data)
{
    const char *name = getenv("TOOL_OPT_OUT");
    (void)tool, (void)user_data;
    if (!wanted)
        return false;
    if (name && strstr(dispatch->kernel_name, name)) {
        left_out++;
        return false; // runs once, untouched
    }
    kept++;
    return true;
}

static void on_fini(void *tool)
{
    (void)tool;
    fprintf(stderr, "opt_out: %u dispatches measured, %u left out\n", kept, left_out);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {.size = sizeof tool, .name = "opt_out", .filter = on_filter, .fini = on_fini};
    return kreplay_register(&tool);
}
