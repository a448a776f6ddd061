// SPDX-License-Identifier: MIT
// Owns the way into a window: gates, admission, drains, snapshot. Any objection turns the plan into a plain
// run.
#include "engine/internal.h"

// Agents whose memory work of `agent` can write.
static uint64_t owners_of(struct kr_engine *engine, uint32_t agent)
{
    uint64_t owners = 0;
    for (uint32_t i = 0; i < engine->agent_count; i++)
        owners |= (engine->agents[i].accessors >> agent & 1) << i;
    return owners;
}

// Agents that can touch memory of `owners`.
static uint64_t gates_of(struct kr_engine *engine, uint64_t owners)
{
    uint64_t gates = 0;
    for (uint32_t i = 0; i < engine->agent_count; i++)
        gates |= owners >> i & 1 ? engine->agents[i].accessors : 0;
    return gates;
}

static kreplay_reason close_gates(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    uint32_t agent = run->window->agent;

    for (;;) {
        uint64_t owners = owners_of(engine, agent), gates = gates_of(engine, owners);
        // Waiting for readers to leave would be waiting for ourselves.
        if (kr_gate_reading(gates))
            return KREPLAY_REASON_REENTRANT_DISPATCH;
        if (kr_gates_close(engine, &run->frame, run, gates, kr_bound(engine, engine->bounds.gate_ns)) != 0)
            return KREPLAY_REASON_AGENT_DRAIN_STUCK;
        run->owners = owners;
        if (owners_of(engine, agent) == owners && gates_of(engine, owners) == gates)
            return KREPLAY_REASON_NONE;
        kr_gates_open(&run->frame); // access was granted meanwhile
    }
}

static bool unsafe_name(struct kr_run *run)
{
    for (size_t i = 0; i < run->op_count; i++) {
        const struct kr_op *op = run->ops[i].op;
        bool first;
        const char *part = op->kind == KR_OP_DISPATCH
                               ? kr_names_find(&run->engine->names, op->dispatch.kernel_name, &first)
                               : NULL;
        if (part && first)
            kr_engine_message(run->engine,
                              "kernel %s is not repeated, as others with \"%s\" in their names: %s",
                              op->dispatch.kernel_name, part, KR_ENV_DECLINE_KERNELS);
        if (part)
            return true;
    }
    return false;
}

static kreplay_reason admission(struct kr_run *run)
{
    const struct kr_bounds *bounds = &run->engine->bounds;
    struct kr_footprint footprint = kr_inventory_footprint(&run->engine->inventory, run->owners);

    run->outcome.captured_bytes = footprint.bytes;
    run->outcome.captured_regions = footprint.regions;
    run->outcome.untracked_bytes = footprint.untracked_bytes;
    run->outcome.untracked_regions = footprint.untracked_regions;
    run->outcome.untracked_vmem_bytes = footprint.vmem_bytes;
    run->outcome.untracked_vmem_regions = footprint.vmem_regions;
    if (kr_fault_on(run->engine, KR_FAULT_admit))
        return KREPLAY_REASON_NONE;
    for (uint32_t agent = 0; agent < run->engine->agent_count; agent++)
        if ((run->frame.gates >> agent & 1) && run->engine->agents[agent].blind != KREPLAY_REASON_NONE)
            return (kreplay_reason)run->engine->agents[agent].blind;
    // A mapping of unknown size counts too: regions, not bytes, are the evidence.
    if (footprint.untracked_regions > 0 && bounds->decline_untracked)
        return KREPLAY_REASON_UNTRACKED_MEMORY;
    if (bounds->budget_bytes > 0 && footprint.bytes > bounds->budget_bytes)
        return KREPLAY_REASON_FOOTPRINT_BUDGET;
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].op->unsafe != KREPLAY_REASON_NONE)
            return run->ops[i].op->unsafe;
    return unsafe_name(run) ? KREPLAY_REASON_UNSAFE_KERNEL : KREPLAY_REASON_NONE;
}

bool kr_run_drain_queue(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    uint64_t bound = kr_bound(engine, engine->bounds.queue_drain_ns);

    if (run->queue_drained || run->queue_stuck)
        return run->queue_drained;
    run->queue_drained =
        engine->backend->drain_queue(engine->ctx, run->window->agent, run->window->queue, bound) == 0;
    run->queue_stuck = !run->queue_drained; // once is long enough
    return run->queue_drained;
}

// A back end may find out as late as here that an operation must not be repeated.
static kreplay_reason not_drained(const struct kr_run *run, kreplay_reason otherwise)
{
    for (size_t i = 0; i < run->op_count; i++)
        if (run->ops[i].op->unsafe != KREPLAY_REASON_NONE)
            return run->ops[i].op->unsafe;
    return otherwise;
}

static kreplay_reason drain(struct kr_run *run)
{
    struct kr_engine *engine = run->engine;
    uint64_t bound = kr_bound(engine, engine->bounds.agent_drain_ns);

    if (!kr_run_drain_queue(run))
        return not_drained(run, KREPLAY_REASON_QUEUE_DRAIN_STUCK);
    for (uint32_t agent = 0; agent < engine->agent_count; agent++)
        if ((run->frame.gates >> agent & 1) && engine->backend->drain_agent(engine->ctx, agent, bound) != 0)
            return not_drained(run, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    return KREPLAY_REASON_NONE;
}

static kreplay_reason capture(struct kr_run *run)
{
    struct kr_step_mark step = kr_step_enter(run, KREPLAY_STEP_SNAPSHOT);
    kreplay_reason reason = KREPLAY_REASON_NONE;
    uint64_t copied_bytes = 0;
    for (uint32_t agent = 0; agent < run->engine->agent_count && reason == KREPLAY_REASON_NONE; agent++)
        if (run->owners >> agent & 1)
            reason = kr_shadow_capture(run->engine, &run->engine->agents[agent].shadow, &copied_bytes);
    run->outcome.snapshot_ns = kr_step_exit(run, &step, reason, copied_bytes);
    return reason;
}

// Runs one step and adds its time to *spent_ns.
static kreplay_reason timed(kreplay_reason (*step)(struct kr_run *run), struct kr_run *run,
                            uint64_t *spent_ns)
{
    uint64_t start = kr_clock_ns();
    kreplay_reason reason = step(run);
    *spent_ns += kr_clock_ns() - start;
    return reason;
}

void kr_run_admit(struct kr_run *run)
{
    bool replay = run->plan == KR_PLAN_REPLAY;
    kreplay_reason reason = timed(close_gates, run, &run->outcome.gate_ns);

    if (reason == KREPLAY_REASON_NONE && replay)
        reason = admission(run);
    if (reason == KREPLAY_REASON_NONE)
        reason = timed(drain, run, &run->outcome.drain_ns);
    if (reason == KREPLAY_REASON_NONE && replay)
        reason = capture(run);
    if (reason == KREPLAY_REASON_NONE) {
        run->search = replay && kr_unsteady_any(run->engine, run);
        return;
    }
    kr_run_stop(run, reason);
    run->plan = KR_PLAN_PLAIN;
}
