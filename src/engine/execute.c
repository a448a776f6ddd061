// SPDX-License-Identifier: MIT
// Owns the one way in which operations are executed, and the program's own execution of them.
#include "engine/internal.h"

#include <string.h>

static enum kr_ran submit_all(struct kr_run *run, uint64_t timeout_ns, struct kr_op_result *results)
{
    struct kr_engine *engine = run->engine;
    struct kr_window *window = run->window;

    for (size_t i = 0; i < run->op_count; i++)
        if (engine->backend->submit(engine->ctx, window->agent, &window->ops[i], i) != 0)
            return KR_NOT_SUBMITTED;
    switch (engine->backend->pass_end(engine->ctx, window->agent, timeout_ns, results)) {
    case KREPLAY_OK:
        return KR_RAN;
    case KREPLAY_TIMEOUT:
        return KR_RAN_STUCK;
    case KREPLAY_UNAVAILABLE:
        return KR_RAN_UNREAD;
    default:
        return KR_RAN_ERROR;
    }
}

enum kr_ran kr_run_execute(struct kr_run *run, kreplay_group *group, uint64_t timeout_ns,
                           struct kr_op_result *results)
{
    struct kr_engine *engine = run->engine;
    uint32_t agent = run->window->agent;

    if (group && group->agent_id != agent)
        return KR_NOT_ARMED;
    for (size_t i = 0; i < run->op_count; i++) {
        results[i] = (struct kr_op_result){0};
        if (!group)
            continue;
        results[i].values = kr_run_alloc(run, group->value_capacity * sizeof *results[i].values);
        if (!results[i].values)
            return KR_NOT_ARMED;
    }
    pthread_mutex_lock(&run->agent->executing);
    enum kr_ran ran = KR_NOT_ARMED;
    if (engine->backend->pass_begin(engine->ctx, agent, group, run->op_count) == 0)
        ran = submit_all(run, kr_bound(engine, timeout_ns), results);
    run->executing = ran == KR_RAN_STUCK || ran == KR_NOT_SUBMITTED;
    if (!run->executing)
        pthread_mutex_unlock(&run->agent->executing);
    return ran;
}

void kr_run_execution_over(struct kr_run *run)
{
    if (run->executing)
        pthread_mutex_unlock(&run->agent->executing);
    run->executing = false;
}

void kr_run_record(struct kr_run *run, uint32_t pass, kreplay_group *armed,
                   const struct kr_op_result *results)
{
    for (size_t i = 0; i < run->op_count; i++) {
        struct kr_op_run *op = &run->ops[i];
        if (!op->measured)
            continue;
        if (op->record_count == op->record_capacity) {
            size_t capacity = op->record_capacity ? op->record_capacity * 2 : 8;
            kreplay_pass_record *records = kr_run_alloc(run, capacity * sizeof *records);
            if (!records) {
                kr_run_stop(run, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
                return;
            }
            if (op->record_count > 0)
                memcpy(records, op->records, op->record_count * sizeof *records);
            op->records = records;
            op->record_capacity = capacity;
        }
        // Only one group is armed for all operations; what asked for another has no values.
        bool counted = armed && op->group == armed;
        op->records[op->record_count++] = (kreplay_pass_record){
            .size = sizeof *op->records,
            .pass = pass,
            .start_ns = results[i].start_ns,
            .end_ns = results[i].end_ns,
            .values = counted ? results[i].values : NULL,
            .value_count = counted ? results[i].value_count : 0,
        };
        op->executed++;
    }
}

bool kr_run_live(struct kr_run *run, kreplay_group *group)
{
    uint64_t bound = run->engine->bounds.live_ns, start = kr_clock_ns();
    enum kr_ran ran = kr_run_execute(run, group, bound, run->live);

    if (ran == KR_NOT_ARMED && group) {
        kr_run_stop(run, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
        ran = kr_run_execute(run, NULL, bound, run->live);
    }
    run->live_ns = kr_clock_ns() - start;
    run->outcome.live_ns = run->live_ns;
    switch (ran) {
    case KR_RAN:
        return true;
    case KR_RAN_UNREAD:
        kr_run_stop(run, KREPLAY_REASON_COUNTERS_UNAVAILABLE);
        return false;
    case KR_RAN_ERROR:
        kr_run_stop(run, KREPLAY_REASON_DEVICE_ERROR);
        kr_run_note(run, KREPLAY_REASON_DEVICE_ERROR);
        return false;
    case KR_RAN_STUCK:
        kr_run_stop(run, KREPLAY_REASON_LIVE_RUN_STUCK);
        kr_run_note(run, KREPLAY_REASON_LIVE_RUN_STUCK);
        break;
    case KR_NOT_ARMED:
    case KR_NOT_SUBMITTED:
        kr_run_stop(run, KREPLAY_REASON_DEVICE_ERROR);
        kr_run_note(run, KREPLAY_REASON_DEVICE_ERROR);
        break;
    }
    run->detached = true;
    return false;
}

void kr_run_plain(struct kr_run *run)
{
    // Before its turn in the queue an operation must not run, replayed or not.
    if (!kr_run_drain_queue(run)) {
        kr_run_note(run, KREPLAY_REASON_QUEUE_DRAIN_STUCK);
        run->detached = true;
        return;
    }
    kr_run_live(run, NULL);
}

void kr_run_single(struct kr_run *run)
{
    kreplay_group *group = NULL;
    for (size_t i = 0; i < run->op_count; i++) {
        run->ops[i].group = run->ops[i].config.group;
        if (!group && run->ops[i].measured)
            group = run->ops[i].group;
    }
    if (kr_run_live(run, group))
        kr_run_record(run, 0, group, run->live);
}
