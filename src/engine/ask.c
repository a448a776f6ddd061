// SPDX-License-Identifier: MIT
// Owns the questions before a window: what does the tool want of each dispatch, and what plan follows for all
// of them.
#include "engine/internal.h"

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

void kr_run_ask(struct kr_run *run)
{
    bool live_is_pass0 = run->engine->backend->flags & KR_BACKEND_LIVE_IS_PASS0;

    if (!kr_service_registered())
        return;
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (op->op->kind != KR_OP_DISPATCH)
            continue;
        op->config =
            (kreplay_config){.size = sizeof op->config, .dispatch = &op->op->dispatch, .pass_count = 1};
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
