// SPDX-License-Identifier: MIT
// Owns the loop over passes: what the tool is told and asked, what is restored, and when it ends.
#include "engine/internal.h"

#include <stdlib.h>

// PASS ENTER of every operation that takes part; returns the group to arm: the first one asked for.
static kreplay_group *enter_pass(struct kr_run *run, uint32_t pass)
{
    kreplay_group *armed = NULL;
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        op->group = NULL;
        if (!op->measured)
            continue;
        op->pass = (kreplay_pass){
            .size = sizeof op->pass,
            .dispatch = &op->op->dispatch,
            .current_pass = pass,
            .total_passes = op->requested,
            .group = op->silent ? op->config.group : NULL,
            .continue_fn = op->config.continue_fn,
        };
        op->pass_view = op->config_view; // each pass starts from CONFIG's values
        if (!op->silent) {
            op->entered = true;
            kr_service_pass(run->agent, KREPLAY_ENTER, &op->pass, &op->pass_view);
        }
        op->group = op->pass.group;
        if (!armed)
            armed = op->group;
    }
    return armed;
}

// `done`: the pass came about and has its records.
static void exit_pass(struct kr_run *run, bool done)
{
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (!op->entered)
            continue;
        op->entered = false;
        op->pass.record = done && op->record_count > 0 ? &op->records[op->record_count - 1] : NULL;
        kr_service_pass(run->agent, KREPLAY_EXIT, &op->pass, &op->pass_view);
    }
}

static bool wants_more(struct kr_run *run, struct kr_op_run *op, uint32_t pass)
{
    uint64_t done = (uint64_t)pass + 1;
    if (op->silent || (op->requested > 0 && done >= op->requested))
        return false;
    if (op->requested == 0 && done >= run->engine->bounds.open_passes) {
        kr_engine_message(run->engine,
                          "dispatch %llu: stopped after %llu passes; KREPLAY_OPEN_PASSES sets the limit",
                          (unsigned long long)op->op->dispatch.dispatch_id, (unsigned long long)done);
        return false;
    }
    if (done < op->config.min_passes)
        return true;
    if (!op->pass.continue_fn)
        return op->requested > 0;
    return kr_service_continue(run->agent, &op->pass, &op->pass_view);
}

static bool more_passes(struct kr_run *run, uint32_t pass)
{
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].measured)
            run->ops[i].measured = wants_more(run, &run->ops[i], pass);
    if (run->cut)
        kr_run_stop(run, KREPLAY_REASON_REENTRANT_DISPATCH);
    return kr_run_any_measured(run);
}

bool kr_run_save_live(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    struct kr_step_mark step = kr_step_enter(run, KREPLAY_STEP_COMPARE);
    int status = 0;

    for (uint32_t agent = 0; agent < engine->agent_count && status == 0; agent++) {
        struct kr_shadow *shadow = &engine->agents[agent].shadow;
        if (!(run->owners >> agent & 1))
            continue;
        status = kr_shadow_save_live(engine, shadow, engine->restore_full, &run->stats);
        run->outcome.write_set_bytes += status == 0 ? shadow->write_set_bytes : 0;
    }
    kreplay_reason reason = KREPLAY_REASON_SNAPSHOT_FAILED;
    if (status == 0)
        reason = engine->backend->object ? engine->backend->object(engine->ctx, run->window->agent)
                                         : KREPLAY_REASON_NONE;
    run->outcome.compare_ns = kr_step_exit(run, &step, reason, run->outcome.write_set_bytes);
    if (reason == KREPLAY_REASON_NONE)
        return true;
    kr_run_stop(run, reason); // memory is the live run's: that stands
    return false;
}

static void restore(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    struct kr_step_mark step = kr_step_enter(run, KREPLAY_STEP_RESTORE);

    run->replayed = true;
    run->clean = false;
    for (uint32_t agent = 0; agent < engine->agent_count; agent++)
        if (run->owners >> agent & 1)
            kr_shadow_restore(engine, &engine->agents[agent].shadow, run->search, &run->stats);
    run->outcome.restores++;
    run->outcome.restore_ns += kr_step_exit(run, &step, KREPLAY_REASON_NONE, 0);
}

// After this nothing of the pass touches memory any more. If that cannot be had, memory has no right content.
static void cancel(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    uint32_t agent = run->window->agent;

    int status = engine->backend->cancel(engine->ctx, agent);
    if (status != 0)
        status =
            engine->backend->drain_agent(engine->ctx, agent, kr_bound(engine, engine->bounds.agent_drain_ns));
    kr_run_execution_over(run);
    if (status == 0)
        return;
    const char *kernel = run->window->ops[0].dispatch.kernel_name;
    kr_engine_say(
        engine, KR_LEVEL_FATAL,
        "a pass on GPU %u can neither be cancelled nor waited for; there is no correct way to go on. "
        "%s=+%s keeps this kernel from being repeated",
        agent, KR_ENV_DECLINE_KERNELS, kernel ? kernel : "NAME");
    abort();
}

static uint64_t pass_bound_ns(const struct kr_run *run)
{
    const struct kr_bounds *bounds = &run->engine->bounds;
    uint64_t bound;
    if (__builtin_mul_overflow(run->live_ns, bounds->pass_multiple, &bound))
        bound = INT64_MAX;
    return bound > bounds->pass_floor_ns ? bound : bounds->pass_floor_ns;
}

// Restores, runs, reads. True: it went well.
static bool measured_execution(struct kr_run *run, kreplay_group *group)
{
    if (run->cut) {
        kr_run_stop(run, KREPLAY_REASON_REENTRANT_DISPATCH);
        return false;
    }
    restore(run);
    uint64_t start = kr_clock_ns();
    enum kr_ran ran = kr_run_execute(run, group, pass_bound_ns(run), run->results);
    run->outcome.passes_ns += kr_clock_ns() - start;
    switch (ran) {
    case KR_RAN:
        run->clean = true;
        return true;
    case KR_RAN_UNREAD:
    case KR_NOT_ARMED:
        kr_run_stop(run, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
        break;
    case KR_RAN_ERROR:
        kr_run_stop(run, KREPLAY_REASON_DEVICE_ERROR);
        break;
    case KR_RAN_STUCK:
        cancel(run);
        kr_run_stop(run, KREPLAY_REASON_PASS_STUCK);
        break;
    case KR_NOT_SUBMITTED:
        cancel(run);
        kr_run_stop(run, KREPLAY_REASON_DEVICE_ERROR);
        break;
    }
    return false;
}

// A group may need several executions until its values are complete. True: they are.
static bool measured_pass(struct kr_run *run, kreplay_group *group)
{
    bool own = group && group->agent_id == run->window->agent; // another GPU's group is not ours to write
    uint32_t count = own && group->executions > 1 ? group->executions : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (own)
            group->execution = i;
        if (!measured_execution(run, group))
            return false;
    }
    return true;
}

void kr_run_passes(struct kr_run *run)
{
    bool live_is_pass0 = run->engine->backend->flags & KR_BACKEND_LIVE_IS_PASS0;

    for (uint32_t pass = 0;; pass++) {
        bool live = pass == 0 && live_is_pass0;
        run->pass = pass;
        kreplay_group *group = enter_pass(run, pass);
        bool done = live ? kr_run_live(run, group) : measured_pass(run, group);
        if (done)
            kr_run_record(run, pass, group, live ? run->live : run->results);
        exit_pass(run, done);
        if (!more_passes(run, pass))
            return;
        // Only now is it sure that memory will be overwritten.
        if (live && !kr_run_save_live(run))
            return;
    }
}
