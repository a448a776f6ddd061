// SPDX-License-Identifier: MIT
// Where the time of replay goes: each step's number, time and bytes, summed over the run. It joins kreplay's own
// tool, which decides what is replayed.
#include <kreplay/kreplay.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

enum { KINDS = KREPLAY_STEP_FINISH + 1 };

static const char *const words[KINDS] = {"snapshot", "compare", "restore", "finish"};
static struct {
    atomic_uint_fast64_t count, ns, compared, moved; // GPUs call at the same time
} sums[KINDS];

static void on_step(void *tool, kreplay_phase phase, const kreplay_step *step)
{
    (void)tool;
    if (phase == KREPLAY_ENTER || (unsigned)step->kind >= KINDS)
        return;
    sums[step->kind].count++;
    sums[step->kind].ns += step->duration_ns;
    sums[step->kind].compared += step->compared_bytes;
    sums[step->kind].moved += step->moved_bytes;
}

static void on_fini(void *tool)
{
    (void)tool;
    for (int kind = 0; kind < KINDS; kind++)
        fprintf(stderr,
                "phase_timing: %-8s %" PRIuFAST64 " times, %" PRIuFAST64 " ns, %" PRIuFAST64
                " bytes compared, %" PRIuFAST64 " moved\n",
                words[kind], sums[kind].count, sums[kind].ns, sums[kind].compared, sums[kind].moved);
}

int kreplay_tool_start(void)
{
    const kreplay_tool tool = {.size = sizeof tool, .name = "phase_timing", .step = on_step, .fini = on_fini};
    return kreplay_register(&tool);
}
