// SPDX-License-Identifier: MIT
// Owns the order of steps of a window. What happens when a step fails, so that each operation is executed
// exactly once as the program sees it:
//
//   step      where      what fails                 what follows                           reason
//   --------  ---------  -------------------------  -------------------------------------  ----------------
//   make      run.c      no memory                  detach, records without detail         snapshot
//   ask       ask.c      open end without continue  plain run                              open_ended
//   inside    window.c   a window of this thread    that one settles; plain run at once    reentrant
//   gate      admit.c    readers stay               plain run as a reader                  agent_drain
//   admit     admit.c    memory, budget, unsafe     plain run under the gate               its own
//   drain     admit.c    this queue                 detach: the back end runs it in order  queue_drain
//                        the agent                  plain run under the gate               agent_drain
//   snapshot  admit.c    room, copy on both paths   plain run under the gate               budget, snapshot
//   live      execute.c  arming                     the same without counters              counters
//                        begin without counters     detach                                 device
//                        an operation is refused    detach: the back end runs the rest     device
//                        not done in time           detach: what runs is the plain run     live_run
//                        reading                    the result stands, no passes           counters
//   compare   restore.c  a comparison               the region counts as changed           none
//   save S1   restore.c  room, copy on both paths   the live result stands, no passes      snapshot
//   restore   restore.c  one path                   the other path                         none
//                        both paths                 message, abort
//   pass      passes.c   arming, reading            finish; done passes are kept           counters
//                        an operation is refused    cancel, finish; done passes are kept   device
//                        not done in time           cancel, finish; done passes are kept   pass_stuck
//                        cancel, then drain         message, abort
//   finish    restore.c  laying S1 over S0          S1 goes to memory directly             none
//                        a comparison               the region is written whole            none
//                        putting back, both paths   message, abort
//   records   finish.c   (the tool's affair)        the window goes on
//
// Where the program launches the live execution itself there is nothing to detach before it: a plain run is
// what the program does anyway.
#include "engine/internal.h"

#include <stdatomic.h>

static void record_unseen(struct kr_engine *engine, const kreplay_dispatch *dispatch, uint64_t window_id,
                          kreplay_reason reason)
{
    const kreplay_outcome outcome = {
        .size = sizeof outcome, .kind = KREPLAY_DECLINED, .reason = reason, .deterministic = true};
    const kreplay_dispatch_record record = {
        .size = sizeof record, .dispatch = dispatch, .window_id = window_id, .outcome = &outcome};
    kr_service_dispatch(&engine->agents[dispatch->agent_id], &record);
    kr_diagnose(engine, &record);
}

void kr_engine_record_unseen(struct kr_engine *engine, const kreplay_dispatch *dispatch,
                             kreplay_reason reason)
{
    record_unseen(engine, dispatch, atomic_fetch_add(&engine->windows, 1) + 1, reason);
}

void kr_engine_record_filtered(struct kr_engine *engine, const kreplay_dispatch *dispatch)
{
    const kreplay_outcome outcome = {.size = sizeof outcome, .kind = KREPLAY_FILTERED, .deterministic = true};
    const kreplay_dispatch_record record = {.size = sizeof record,
                                            .dispatch = dispatch,
                                            .window_id = atomic_fetch_add(&engine->windows, 1) + 1,
                                            .outcome = &outcome};
    if (!kr_fault_on(engine, KR_FAULT_record))
        kr_service_filtered(&record);
}

// No memory even for the window's own state: the back end runs it, the dispatches are still in the output.
static void escape(struct kr_engine *engine, struct kr_window *window)
{
    for (size_t i = 0; i < window->op_count; i++)
        if (window->ops[i].kind == KR_OP_DISPATCH)
            record_unseen(engine, &window->ops[i].dispatch, window->window_id,
                          KREPLAY_REASON_SNAPSHOT_FAILED);
    engine->backend->detach(engine->ctx, window->agent, window);
}

// Everything before the first execution. NULL: out of memory.
static struct kr_run *open_window(struct kr_engine *engine, struct kr_window *window)
{
    struct kr_frame *outer = kr_gate_own_window(engine, window->agent);

    kr_service_lock();
    window->window_id = atomic_fetch_add(&engine->windows, 1) + 1;
    struct kr_run *run = kr_run_make(engine, window);
    window->state = run;
    if (outer)
        kr_run_interrupt(outer->run);
    if (!run)
        return NULL;
    run->outer = outer ? outer->run : NULL;
    if (outer)
        kr_run_decline_all(run, KREPLAY_REASON_REENTRANT_DISPATCH);
    else
        kr_run_ask(run);
    window->wanted = run->plan != KR_PLAN_PLAIN;
    if (window->wanted)
        kr_run_admit(run);
    if (run->frame.gates == 0) {
        kr_gate_enter(engine, window->agent);
        run->reader = true;
    }
    return run;
}

void kr_window_run(struct kr_engine *engine, struct kr_window *window)
{
    struct kr_run *run = open_window(engine, window);
    if (!run) {
        escape(engine, window);
        return;
    }
    switch (run->plan) {
    case KR_PLAN_PLAIN:
        // Inside a window whose own execution never ended the device cannot be used: the back end runs this
        // later.
        run->detached = run->outer && run->outer->detached;
        if (!run->detached)
            kr_run_plain(run);
        break;
    case KR_PLAN_SINGLE:
        kr_run_single(run);
        break;
    case KR_PLAN_REPLAY:
        kr_run_passes(run);
        break;
    }
    kr_run_close(run);
}

void kr_window_open(struct kr_engine *engine, struct kr_window *window)
{
    open_window(engine, window);
}

// Waits for the execution that the program launched. False: no passes can follow.
static bool wait_for_live(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    uint64_t start = kr_clock_ns();
    int status = engine->backend->live_wait(engine->ctx, run->window->agent, run->window,
                                            kr_bound(engine, engine->bounds.live_ns), run->live);
    run->live_ns = run->outcome.live_ns = kr_clock_ns() - start;
    if (status == 0) {
        uint64_t spent = run->op_count ? run->live[run->op_count - 1].end_ns - run->live[0].start_ns : 0;
        if (spent > run->live_ns)
            run->live_ns = spent; // the wait began late
        return true;
    }
    run->detached = status == KREPLAY_TIMEOUT;
    kr_run_stop(run, run->detached ? KREPLAY_REASON_LIVE_RUN_STUCK : KREPLAY_REASON_DEVICE_ERROR);
    return false;
}

void kr_window_close(struct kr_engine *engine, struct kr_window *window)
{
    struct kr_run *run = window->state;
    if (!run) {
        escape(engine, window);
        return;
    }
    if (run->plan == KR_PLAN_REPLAY && wait_for_live(run)) {
        if (run->cut)
            kr_run_stop(run, KREPLAY_REASON_REENTRANT_DISPATCH);
        else if (kr_run_save_live(run))
            kr_run_passes(run);
    }
    kr_run_close(run);
}
