// SPDX-License-Identifier: MIT
// Owns the way out of a window: the live result is put back, the records are written, the gates open, the
// program goes on.
#include "engine/internal.h"

void kr_run_settle(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    size_t differing = 0;

    if (!run->replayed)
        return;
    struct kr_step_mark step = kr_step_enter(run, KREPLAY_STEP_FINISH);
    for (uint32_t agent = 0; agent < engine->agent_count; agent++)
        if (run->owners >> agent & 1)
            differing += kr_shadow_finish(engine, &engine->agents[agent].shadow, &run->stats);
    run->replayed = false;
    run->outcome.finish_ns += kr_step_exit(run, &step, KREPLAY_REASON_NONE, 0);
    // After a pass that was cut short memory differs for that reason.
    if (differing == 0 || !run->clean)
        return;
    run->outcome.deterministic = false;
    kr_unsteady_note(engine, run);
}

static void write_records(struct kr_run *run)
{
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (op->op->kind != KR_OP_DISPATCH)
            continue;
        if (op->kind == KREPLAY_SINGLE && !run->detached)
            op->executed = 1;
        kreplay_outcome outcome = kr_run_outcome(run, op);
        kreplay_dispatch_record record = {
            .size = sizeof record,
            .dispatch = &op->op->dispatch,
            .window_id = run->window->window_id,
            .start_ns = run->detached ? 0 : run->live[i].start_ns,
            .end_ns = run->detached ? 0 : run->live[i].end_ns,
            .outcome = &outcome,
            .passes = op->records,
            .pass_count = op->record_count,
        };
        if (!kr_fault_on(run->engine, KR_FAULT_record))
            kr_service_dispatch(run->agent, &record);
        kr_diagnose(run->engine, &record);
        if (op->asked)
            kr_service_config(run->agent, KREPLAY_EXIT, &op->config, &op->config_view);
    }
}

// Under the gate, since the back end's execution is still open.
static void detach(struct kr_run *run)
{
    run->engine->backend->detach(run->engine->ctx, run->window->agent, run->window);
    kr_run_execution_over(run);
}

static void complete(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    struct kr_window *window = run->window;
    const struct kr_op_result *times = kr_fault_on(engine, KR_FAULT_times) ? run->results : run->live;

    if (kr_fault_on(engine, KR_FAULT_complete))
        engine->backend->complete(engine->ctx, window->agent, window, times);
    engine->backend->complete(engine->ctx, window->agent, window, times);
}

void kr_run_close(struct kr_run *run)
{
    bool early = kr_fault_on(run->engine, KR_FAULT_order) && !run->detached;
    uint32_t agent = run->window->agent; // the window may be gone once it is detached

    kr_run_settle(run);
    if (early)
        complete(run);
    write_records(run);
    if (run->detached)
        detach(run);
    if (run->frame.gates)
        kr_gates_open(&run->frame);
    if (run->reader)
        kr_gate_leave(run->engine, agent);
    if (!early && !run->detached)
        complete(run);
    kr_run_done(run);
}
