// SPDX-License-Identifier: MIT
// Owns the STEP callbacks: what a window does with memory, with its time and its bytes.
#include "engine/internal.h"

static const kreplay_dispatch *first_dispatch(const struct kr_run *run)
{
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].op->kind == KR_OP_DISPATCH)
            return &run->ops[i].op->dispatch;
    return NULL;
}

static kreplay_step describe(const struct kr_run *run, kreplay_step_kind kind)
{
    return (kreplay_step){
        .size = sizeof(kreplay_step),
        .dispatch = first_dispatch(run),
        .window_id = run->window->window_id,
        .kind = kind,
        .pass = kind == KREPLAY_STEP_RESTORE ? run->pass : 0,
    };
}

struct kr_step_mark kr_step_enter(struct kr_run *run, kreplay_step_kind kind)
{
    const kreplay_step step = describe(run, kind);
    kr_service_step(run->agent, KREPLAY_ENTER, &step);
    return (struct kr_step_mark){kind, kr_clock_ns(), run->stats.compared_bytes, run->stats.restored_bytes};
}

uint64_t kr_step_exit(struct kr_run *run, const struct kr_step_mark *mark, kreplay_reason reason,
                      uint64_t moved_bytes)
{
    uint64_t duration_ns = kr_clock_ns() - mark->start_ns;
    kreplay_step step = describe(run, mark->kind);
    step.reason = reason;
    step.duration_ns = duration_ns;
    step.compared_bytes = run->stats.compared_bytes - mark->compared_bytes;
    step.moved_bytes = run->stats.restored_bytes - mark->moved_bytes + moved_bytes;
    kr_service_step(run->agent, KREPLAY_EXIT, &step);
    return duration_ns;
}
