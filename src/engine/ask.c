// SPDX-License-Identifier: MIT
// Owns the questions before a window: what does the tool want of each dispatch, and what plan follows for all
// of them.
#include "engine/internal.h"

#include <string.h>

static void decide(struct kr_op_run *op)
{
    const kreplay_config *config = &op->config;
    if (!config->want)
        return; // filtered, as made
    op->requested = config->pass_count;
    if (config->pass_count == 1) {
        op->kind = KREPLAY_SINGLE;
        op->silent = true;
        op->measured = config->group != NULL;
        return;
    }
    if (config->pass_count == 0 && !config->continue_fn) {
        op->kind = KREPLAY_DECLINED;
        op->reason = KREPLAY_REASON_OPEN_ENDED;
        return;
    }
    op->kind = KREPLAY_REPLAYED;
    op->measured = true;
}

bool kr_engine_screen(struct kr_engine *engine, struct kr_op *op)
{
    (void)engine;
    _Static_assert(sizeof op->tool_data / sizeof op->tool_data[0] == KR_TOOLS, "one for each tool");
    kr_service_lock();
    op->screen = kr_service_filter(&op->dispatch, op->tool_data) ? KR_CANDIDATE : KR_UNWANTED;
    return op->screen == KR_CANDIDATE;
}

void kr_run_ask(struct kr_run *run)
{
    bool live_is_pass0 = run->engine->backend->flags & KR_BACKEND_LIVE_IS_PASS0;

    if (!kr_service_registered())
        return;
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (op->op->kind != KR_OP_DISPATCH)
            continue;
        if (op->op->screen == KR_NOT_SCREENED)
            kr_engine_screen(run->engine, op->op);
        if (op->op->screen == KR_UNWANTED)
            continue; // filtered, as made
        op->config =
            (kreplay_config){.size = sizeof op->config, .dispatch = &op->op->dispatch, .pass_count = 1};
        memcpy(op->config_view.data, op->op->tool_data, sizeof op->config_view.data);
        op->asked = true;
        kr_service_config(run->agent, KREPLAY_ENTER, &op->config, &op->config_view);
        decide(op);
        if (!op->measured)
            continue;
        // A live run that the program launches is unarmed: even one group then needs a run of its own.
        if (!op->silent || !live_is_pass0)
            run->plan = KR_PLAN_REPLAY;
        else if (run->plan == KR_PLAN_PLAIN)
            run->plan = KR_PLAN_SINGLE;
    }
}
