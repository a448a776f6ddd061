// SPDX-License-Identifier: MIT
// A dispatch's record as rows: the dispatch and its event, its outcome, its passes and their values.
#include "store/rows.h"

#include <stdio.h>

static const char *kind_key(kreplay_outcome_kind kind)
{
    static const char *const keys[] = {
        [KREPLAY_REPLAYED] = "replayed",
        [KREPLAY_SINGLE] = "single",
        [KREPLAY_FILTERED] = "filtered",
        [KREPLAY_DECLINED] = "declined",
    };
    return (unsigned)kind < sizeof(keys) / sizeof(keys[0]) ? keys[kind] : "unknown";
}

// Key and text of a reason, straight from the map of the public header; a log of a later version may hold
// more.
struct reason {
    const char *key, *text;
};

static struct reason reason_of(kreplay_reason number)
{
    static const struct reason reasons[] = {
#define X(name, value, key, text) [value] = {key, text},
        KREPLAY_REASON_MAP(X)
#undef X
    };
    if ((unsigned)number < sizeof(reasons) / sizeof(reasons[0]) && reasons[number].key)
        return reasons[number];
    return (struct reason){"unknown", "a reason that this version does not know"};
}

static int put_outcome(struct kr_loader *loader, const kreplay_dispatch_record *record, uint64_t start,
                       uint64_t end)
{
    const kreplay_outcome *outcome = record->outcome;
    struct kr_row row = kr_row_begin(loader, S_OWN_OUTCOME);
    kr_row_guid(&row);
    kr_row_u64(&row, record->dispatch->dispatch_id);
    kr_row_u64(&row, record->window_id);
    kr_row_text(&row, kind_key(outcome->kind));
    struct reason reason = reason_of(outcome->reason);
    kr_row_text(&row, reason.key);
    kr_row_text(&row, reason.text);
    const uint64_t numbers[] = {
        outcome->requested_passes,
        outcome->executed_passes,
        outcome->deterministic,
        outcome->reentrant,
        start,
        end,
        outcome->captured_bytes,
        outcome->captured_regions,
        outcome->untracked_bytes,
        outcome->untracked_regions,
        outcome->compared_bytes,
        outcome->write_set_bytes,
        outcome->restored_bytes,
        outcome->restores,
        outcome->restore_retries,
        outcome->gate_ns,
        outcome->drain_ns,
        outcome->snapshot_ns,
        outcome->live_ns,
        outcome->compare_ns,
        outcome->restore_ns,
        outcome->passes_ns,
        outcome->finish_ns,
        outcome->untracked_vmem_bytes,
        outcome->untracked_vmem_regions,
        outcome->disagreements,
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        kr_row_u64(&row, numbers[i]);
    return kr_row_done(&row);
}

void kr_row_value(struct kr_row *row, const kreplay_value *value)
{
    if (value->kind == KREPLAY_VALUE_DOUBLE)
        kr_row_real(row, value->real);
    else
        kr_row_u64(row, value->value);
}

static int put_value(struct kr_loader *loader, uint64_t dispatch_id, const kreplay_pass_record *pass,
                     size_t position)
{
    const kreplay_value *value = &pass->values[position];
    struct kr_row row = kr_row_begin(loader, S_OWN_VALUE);
    kr_row_guid(&row);
    kr_row_u64(&row, dispatch_id);
    kr_row_u64(&row, pass->pass);
    kr_row_u64(&row, position);
    kr_row_u64(&row, value->counter_id);
    kr_row_u64(&row, value->instance);
    kr_row_value(&row, value);
    return kr_row_done(&row);
}

static int put_witness_value(struct kr_loader *loader, uint64_t dispatch_id, uint32_t pass,
                             const kreplay_value *value)
{
    struct kr_row row = kr_row_begin(loader, S_OWN_WITNESS);
    kr_row_guid(&row);
    kr_row_u64(&row, dispatch_id);
    kr_row_u64(&row, pass);
    kr_row_u64(&row, value->counter_id);
    kr_row_u64(&row, value->instance);
    kr_row_value(&row, value);
    return kr_row_done(&row);
}

// The witness of a pass, 0 if nothing was added to its group.
static uint64_t witness_of(const struct kr_loader *loader, uint32_t agent_id, uint32_t pass)
{
    for (size_t i = 0; i < loader->witness_count; i++)
        if (loader->witnesses[i].agent_id == agent_id && loader->witnesses[i].pass == pass)
            return loader->witnesses[i].counter_id;
    return 0;
}

bool kr_value_undefined(const kreplay_value *value)
{
    return value->kind == KREPLAY_VALUE_DOUBLE && value->real != value->real;
}

// Whether an earlier pass of the record has the counter: then that pass stands for the dispatch. rocpd's own
// view sums all values of a dispatch, so a second pass's values must not be there.
static bool seen_earlier(const struct kr_loader *loader, const kreplay_dispatch_record *record, size_t pass,
                         uint64_t counter_id)
{
    for (size_t p = 0; p < pass; p++) {
        if (witness_of(loader, record->dispatch->agent_id, record->passes[p].pass) == counter_id)
            continue;
        for (size_t v = 0; v < record->passes[p].value_count; v++)
            if (record->passes[p].values[v].counter_id == counter_id)
                return true;
    }
    return false;
}

static int put_passes(struct kr_loader *loader, const kreplay_dispatch_record *record)
{
    uint64_t dispatch_id = record->dispatch->dispatch_id;
    for (size_t p = 0; p < record->pass_count; p++) {
        const kreplay_pass_record *pass = &record->passes[p];
        uint64_t witness = witness_of(loader, record->dispatch->agent_id, pass->pass);
        struct kr_row row = kr_row_begin(loader, S_OWN_PASS);
        kr_row_guid(&row);
        kr_row_u64(&row, dispatch_id);
        kr_row_u64(&row, pass->pass);
        kr_row_u64(&row, pass->start_ns);
        kr_row_u64(&row, pass->end_ns);
        int status = kr_row_done(&row);
        for (size_t v = 0; !status && v < pass->value_count; v++) {
            const kreplay_value *value = &pass->values[v];
            if (kr_value_undefined(value))
                continue;
            if (value->counter_id == witness) {
                status = put_witness_value(loader, dispatch_id, pass->pass, value);
                continue;
            }
            status = put_value(loader, dispatch_id, pass, v);
            if (status || seen_earlier(loader, record, p, value->counter_id))
                continue;
            row = kr_row_begin(loader, S_PMC_EVENT);
            kr_row_u64(&row, dispatch_id); // events are numbered like dispatches: there are no others
            kr_row_u64(&row, pass->values[v].counter_id);
            kr_row_real(&row, value->kind == KREPLAY_VALUE_DOUBLE ? value->real : (double)value->value);
            kr_row_u64(&row, pass->values[v].instance);
            status = kr_row_done(&row);
        }
        if (status)
            return status;
    }
    return 0;
}

// Rows that a dispatch points to and that have no record of their own.
static int put_dispatch_references(struct kr_loader *loader, const kreplay_dispatch *dispatch)
{
    struct kr_row row = kr_row_begin(loader, S_THREAD);
    kr_row_u64(&row, dispatch->thread_id);
    kr_row_u64(&row, (uint64_t)loader->nid);
    kr_row_u64(&row, loader->ppid);
    kr_row_u64(&row, loader->pid);
    int status = kr_row_done(&row);
    if (status)
        return status;

    char name[32];
    snprintf(name, sizeof(name), "Queue %llu", (unsigned long long)dispatch->queue_id);
    row = kr_row_begin_info(loader, S_QUEUE, dispatch->queue_id);
    kr_row_text(&row, name);
    if ((status = kr_row_done(&row)))
        return status;

    // A kernel without a record of its own still gets its row: the joins of rocpd's views need it.
    sqlite3_stmt *known = kr_loader_statement(loader, S_HAVE_KERNEL);
    sqlite3_bind_int64(known, 1, (int64_t)dispatch->kernel_id);
    bool have = sqlite3_step(known) == SQLITE_ROW;
    sqlite3_reset(known);
    if (have)
        return 0;
    const kreplay_kernel unknown = {
        .size = sizeof(unknown), .kernel_id = dispatch->kernel_id, .name = dispatch->kernel_name};
    return kr_load_kernel(loader, &unknown);
}

int kr_load_dispatch(struct kr_loader *loader, const kreplay_dispatch_record *record)
{
    const kreplay_dispatch *dispatch = record->dispatch;
    uint64_t start = record->start_ns, end = record->end_ns;
    if (!start && record->pass_count) { // pass 0 is the live execution
        start = record->passes[0].start_ns;
        end = record->passes[0].end_ns;
    }
    if (end > loader->last_end_ns)
        loader->last_end_ns = end;

    int status = put_dispatch_references(loader, dispatch);
    if (status)
        return status;
    struct kr_row row = kr_row_begin(loader, S_EVENT);
    kr_row_u64(&row, dispatch->dispatch_id);
    if ((status = kr_row_done(&row)))
        return status;

    row = kr_row_begin_info(loader, S_DISPATCH, dispatch->dispatch_id);
    const uint64_t numbers[] = {
        dispatch->thread_id,
        kr_loader_node(loader, dispatch->agent_id),
        dispatch->kernel_id,
        dispatch->queue_id,
        start,
        end,
        dispatch->private_segment_bytes,
        dispatch->group_segment_bytes,
        dispatch->workgroup[0],
        dispatch->workgroup[1],
        dispatch->workgroup[2],
        dispatch->grid[0],
        dispatch->grid[1],
        dispatch->grid[2],
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        kr_row_u64(&row, numbers[i]);
    if ((status = kr_row_done(&row)))
        return status;
    if ((status = put_outcome(loader, record, start, end)))
        return status;
    return put_passes(loader, record);
}
