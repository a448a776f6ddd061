// SPDX-License-Identifier: MIT
// The counter registers of one GPU as state: selects, the free-running counters behind them, and what the
// last sample latched for reading. What an event adds comes from events.c, addresses from registers.c.
#include "softgpu/perf/perf.h"

#include "softgpu/perf/events.h"
#include "softgpu/perf/registers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counter {
    uint32_t select;
    const struct sg_perf_event *event; // of `select`; NULL: none, or not modelled
    bool left_over;                    // selected before the last stop and reset
    uint64_t running;
    uint64_t sampled; // what the result registers show
};

struct sg_perf {
    pthread_mutex_t lock; // over everything below
    bool counting, stopped;
    // Whether something is selected that needs the model: for dispatches of any queue; of a queue that is counted.
    bool known, model_for_all, model_for_counted;
    uint32_t gfx_index, perfmon_cntl, rlc_clock;
    uint32_t sq_ctrl[SG_SHADER_ENGINES], sq_mask[SG_SHADER_ENGINES];
    // Instance i of engine e is number e * instances + i.
    struct counter at[SG_BLOCK_COUNT][SG_PERF_MAX_INSTANCES][SG_PERF_MAX_SLOTS];
};

// Numbers [first, end) that GRBM_GFX_INDEX selects, empty for what does not exist.
struct range {
    uint32_t first, end;
};

// Counted whatever queue a dispatch comes from.
static bool is_for_all_queues(unsigned block)
{
    return block == SG_BLOCK_GRBM || block == SG_BLOCK_CPC || block == SG_BLOCK_CPF;
}

struct sg_perf *sg_perf_create(void)
{
    struct sg_perf *perf = calloc(1, sizeof(*perf));

    if (!perf)
        return NULL;
    if (pthread_mutex_init(&perf->lock, NULL) != 0) {
        free(perf);
        return NULL;
    }
    perf->gfx_index = SG_GFX_INDEX_BROADCAST;
    return perf;
}

void sg_perf_destroy(struct sg_perf *perf)
{
    if (!perf)
        return;
    pthread_mutex_destroy(&perf->lock);
    free(perf);
}

static struct range selected(uint32_t n, bool broadcast, uint32_t index)
{
    if (n == 1 || broadcast)
        return (struct range){0, n};
    return index < n ? (struct range){index, index + 1} : (struct range){0, 0};
}

static struct range selected_engines(const struct sg_perf *perf, uint32_t engines)
{
    return selected(engines, perf->gfx_index & SG_GFX_INDEX_SE_BROADCAST,
                    SG_GFX_INDEX_SE_OF(perf->gfx_index));
}

// Of one engine. The only instance of a block that has more on other dies is number 0, and the others are absent.
static struct range selected_instances(const struct sg_perf *perf, const struct sg_perf_block *block)
{
    const bool broadcast = perf->gfx_index & SG_GFX_INDEX_INSTANCE_BROADCAST;
    const uint32_t index = SG_GFX_INDEX_INSTANCE_OF(perf->gfx_index);

    if (!block->by_instance || broadcast)
        return (struct range){0, block->instances};
    return index < block->instances ? (struct range){index, index + 1} : (struct range){0, 0};
}

// Calls `apply` for each selected counter of the slot.
static void for_selected(struct sg_perf *perf, const struct sg_perf_reg *reg,
                         void (*apply)(struct counter *counter, void *arg), void *arg)
{
    const struct sg_perf_block *block = &sg_perf_blocks[reg->block];
    const struct range engines = selected_engines(perf, block->engines);
    const struct range instances = selected_instances(perf, block);

    for (uint32_t engine = engines.first; engine < engines.end; engine++) {
        for (uint32_t i = instances.first; i < instances.end; i++)
            apply(&perf->at[reg->block][engine * block->instances + i][reg->slot], arg);
    }
}

static void for_each_counter(struct sg_perf *perf, void (*apply)(struct counter *counter))
{
    for (unsigned block = 0; block < SG_BLOCK_COUNT; block++) {
        const uint32_t numbers = sg_perf_blocks[block].engines * sg_perf_blocks[block].instances;

        for (uint32_t number = 0; number < numbers; number++) {
            for (uint32_t slot = 0; slot < sg_perf_blocks[block].slots; slot++)
                apply(&perf->at[block][number][slot]);
        }
    }
}

static void reset_counter(struct counter *counter)
{
    counter->running = counter->sampled = 0;
}

static void sample_counter(struct counter *counter)
{
    counter->sampled = counter->running;
}

static void leave_over(struct counter *counter)
{
    counter->left_over = counter->event && counter->event->kind != SG_EVENT_BASIC;
}

// A reset keeps the selects: writers select between two resets. But what was selected before a stop belongs to a session
// that is over; it shall not make every dispatch of later ones be watched.
static void write_perfmon_cntl(struct sg_perf *perf, uint32_t value)
{
    const uint32_t state = value & SG_PERFMON_STATE_MASK;

    perf->perfmon_cntl = value;
    perf->counting = state == SG_PERFMON_START;
    if (state == SG_PERFMON_DISABLE_RESET) {
        for_each_counter(perf, reset_counter);
        if (perf->stopped)
            for_each_counter(perf, leave_over);
    }
    perf->stopped = state == SG_PERFMON_STOP;
    perf->known = false;
    if (value & SG_PERFMON_SAMPLE)
        for_each_counter(perf, sample_counter);
}

struct selection {
    uint32_t select;
    const struct sg_perf_event *event;
};

static void select_event(struct counter *counter, void *arg)
{
    const struct selection *selection = arg;

    counter->select = selection->select;
    counter->event = selection->event;
    counter->left_over = false;
}

static void write_select(struct sg_perf *perf, const struct sg_perf_reg *reg, uint32_t value)
{
    struct selection selection = {
        .select = value,
        .event = sg_perf_event_find(reg->block, value & sg_perf_blocks[reg->block].event_mask),
    };

    for_selected(perf, reg, select_event, &selection);
    perf->known = false;
}

static void write_sq_control(struct sg_perf *perf, enum sg_perf_reg_kind kind, uint32_t value)
{
    const struct range range = selected_engines(perf, SG_SHADER_ENGINES);

    for (uint32_t engine = range.first; engine < range.end; engine++) {
        if (kind == SG_REG_KIND_SQ_CTRL)
            perf->sq_ctrl[engine] = value;
        else
            perf->sq_mask[engine] = value;
    }
}

void sg_perf_write(struct sg_perf *perf, uint32_t address, uint32_t value)
{
    struct sg_perf_reg reg = sg_perf_reg_decode(address);

    pthread_mutex_lock(&perf->lock);
    switch (reg.kind) {
    case SG_REG_KIND_GFX_INDEX:
        perf->gfx_index = value;
        break;
    case SG_REG_KIND_PERFMON_CNTL:
        write_perfmon_cntl(perf, value);
        break;
    case SG_REG_KIND_RLC_CLOCK:
        perf->rlc_clock = value;
        break;
    case SG_REG_KIND_SQ_CTRL:
    case SG_REG_KIND_SQ_MASK:
        write_sq_control(perf, reg.kind, value);
        break;
    case SG_REG_KIND_SELECT:
        write_select(perf, &reg, value);
        break;
    case SG_REG_KIND_RESULT_LO: // read only
    case SG_REG_KIND_RESULT_HI:
    case SG_REG_KIND_NONE:
        break;
    }
    pthread_mutex_unlock(&perf->lock);
}

// A read under broadcast answers from the first instance, as one bus read cannot return several values. NULL for
// one that does not exist.
static const struct counter *find_counter(const struct sg_perf *perf, const struct sg_perf_reg *reg)
{
    const struct sg_perf_block *block = &sg_perf_blocks[reg->block];
    const struct range engines = selected_engines(perf, block->engines);
    const struct range instances = selected_instances(perf, block);

    if (engines.first == engines.end || instances.first == instances.end)
        return NULL;
    return &perf->at[reg->block][engines.first * block->instances + instances.first][reg->slot];
}

static uint32_t read_slot(const struct sg_perf *perf, const struct sg_perf_reg *reg)
{
    const struct counter *counter = find_counter(perf, reg);

    if (!counter)
        return 0;
    switch (reg->kind) {
    case SG_REG_KIND_SELECT:
        return counter->select;
    case SG_REG_KIND_RESULT_LO:
        return (uint32_t)counter->sampled;
    case SG_REG_KIND_RESULT_HI:
        return (uint32_t)(counter->sampled >> 32);
    default:
        return 0;
    }
}

static uint32_t read_locked(const struct sg_perf *perf, const struct sg_perf_reg *reg)
{
    const struct range range = selected_engines(perf, SG_SHADER_ENGINES);

    switch (reg->kind) {
    case SG_REG_KIND_GFX_INDEX:
        return perf->gfx_index;
    case SG_REG_KIND_PERFMON_CNTL:
        return perf->perfmon_cntl;
    case SG_REG_KIND_RLC_CLOCK:
        return perf->rlc_clock;
    case SG_REG_KIND_SQ_CTRL:
        return range.first < range.end ? perf->sq_ctrl[range.first] : 0;
    case SG_REG_KIND_SQ_MASK:
        return range.first < range.end ? perf->sq_mask[range.first] : 0;
    case SG_REG_KIND_SELECT:
    case SG_REG_KIND_RESULT_LO:
    case SG_REG_KIND_RESULT_HI:
        return read_slot(perf, reg);
    case SG_REG_KIND_NONE:
        break;
    }
    return 0;
}

uint32_t sg_perf_read(struct sg_perf *perf, uint32_t address)
{
    struct sg_perf_reg reg = sg_perf_reg_decode(address);
    uint32_t value;

    pthread_mutex_lock(&perf->lock);
    value = read_locked(perf, &reg);
    pthread_mutex_unlock(&perf->lock);
    return value;
}

// The level that a counter accumulates; NULL when the slot before has none.
static const struct sg_perf_event *level_before(const struct counter *counter, uint32_t slot)
{
    const struct sg_perf_event *before = slot > 0 ? counter[-1].event : NULL;

    return before && before->kind == SG_EVENT_LEVEL && !counter[-1].left_over ? before : NULL;
}

// Why the counter behind a result register does not hold what its select register says. A 0 there is an event of the GRBM
// only, and counts from when it was written.
static bool explain(const struct counter *counter, const struct sg_perf_reg *reg, char *why, size_t why_bytes)
{
    const struct sg_perf_block *block = &sg_perf_blocks[reg->block];
    const uint32_t event = counter->select & block->event_mask;

    if (!counter->event) {
        if (event == 0)
            return true;
        snprintf(why, why_bytes, "event %u of block %s is not modelled", event, block->name);
        return false;
    }
    if (counter->left_over) {
        snprintf(why, why_bytes, "event %u of block %s was selected before the last stop", event,
                 block->name);
        return false;
    }
    if (counter->event->kind == SG_EVENT_ACCUMULATE && !level_before(counter, reg->slot)) {
        snprintf(why, why_bytes, "event %u of block %s has no level in the slot before", event, block->name);
        return false;
    }
    return true;
}

bool sg_perf_can_read(struct sg_perf *perf, uint32_t address, char *why, size_t why_bytes)
{
    struct sg_perf_reg reg = sg_perf_reg_decode(address);
    bool fine = true;

    if (reg.kind == SG_REG_KIND_NONE && address >= SG_REG_RESULTS_BASE && address < SG_REG_RESULTS_END) {
        snprintf(why, why_bytes, "register 0x%x holds a counter of a block that is not modelled", address);
        return false;
    }
    if (reg.kind != SG_REG_KIND_RESULT_LO && reg.kind != SG_REG_KIND_RESULT_HI)
        return true;
    pthread_mutex_lock(&perf->lock);
    const struct counter *counter = find_counter(perf, &reg);
    if (counter)
        fine = explain(counter, &reg, why, why_bytes);
    pthread_mutex_unlock(&perf->lock);
    return fine;
}

static void find_needs(struct sg_perf *perf)
{
    perf->model_for_all = perf->model_for_counted = false;
    for (unsigned block = 0; block < SG_BLOCK_COUNT; block++) {
        const uint32_t numbers = sg_perf_blocks[block].engines * sg_perf_blocks[block].instances;

        for (uint32_t i = 0; i < numbers * SG_PERF_MAX_SLOTS; i++) {
            const struct counter *counter = &perf->at[block][i / SG_PERF_MAX_SLOTS][i % SG_PERF_MAX_SLOTS];

            if (!counter->event || counter->event->kind == SG_EVENT_BASIC || counter->left_over)
                continue;
            perf->model_for_counted = true;
            perf->model_for_all |= is_for_all_queues(block);
        }
    }
    perf->known = true;
}

bool sg_perf_needs_model(struct sg_perf *perf, bool counted)
{
    bool needs = false;

    pthread_mutex_lock(&perf->lock);
    if (perf->counting) {
        if (!perf->known)
            find_needs(perf);
        needs = counted ? perf->model_for_counted : perf->model_for_all;
    }
    pthread_mutex_unlock(&perf->lock);
    return needs;
}

static void add_event(struct counter *counter, uint32_t slot, const struct sg_perf_activity *a)
{
    const struct sg_perf_event *event = counter->event, *level;

    if (!event || counter->left_over || (event->kind != SG_EVENT_BASIC && !a->detail))
        return;
    switch (event->kind) {
    case SG_EVENT_BASIC:
    case SG_EVENT_MODEL:
        counter->running += event->value(a);
        break;
    case SG_EVENT_LEVEL:
        break;
    case SG_EVENT_ACCUMULATE:
        level = level_before(counter, slot);
        if (level)
            counter->running += level->value(a) / event->value(a);
        break;
    }
}

// Adds to all counters of a block. `common` says what does not depend on the instance.
static void add_to_block(struct sg_perf *perf, unsigned block, const struct sg_counts *counts,
                         const struct sg_perf_activity *common)
{
    const uint32_t instances = sg_perf_blocks[block].instances;
    const uint32_t numbers = sg_perf_blocks[block].engines * instances;

    for (uint32_t number = 0; number < numbers; number++) {
        const uint32_t engine = number / instances, instance = number % instances;
        struct sg_perf_activity a = *common;

        if (block == SG_BLOCK_SQ && !(perf->sq_ctrl[engine] & SG_SQ_CTRL_CS_EN))
            continue;
        a.counts = &counts[engine];
        a.cu = a.detail ? &a.detail->cu[engine] : NULL;
        a.channel = a.detail ? &a.detail->channel[instance] : NULL;
        for (uint32_t slot = 0; slot < sg_perf_blocks[block].slots; slot++)
            add_event(&perf->at[block][number][slot], slot, &a);
    }
}

void sg_perf_dispatch(struct sg_perf *perf, const struct sg_counts *counts, const struct sg_detail *detail,
                      bool counted)
{
    struct sg_perf_activity a = {.detail = detail};

    if (detail) {
        a.clocks = detail->active + SG_CYCLES_PACKET;
        a.cp_cycles = detail->cp_busy + SG_CYCLES_PACKET;
    }
    pthread_mutex_lock(&perf->lock);
    for (unsigned block = 0; perf->counting && block < SG_BLOCK_COUNT; block++) {
        if (counted || is_for_all_queues(block))
            add_to_block(perf, block, counts, &a);
    }
    pthread_mutex_unlock(&perf->lock);
}

void sg_perf_packet(struct sg_perf *perf)
{
    static const struct sg_counts no_counts[SG_SHADER_ENGINES];
    static const struct sg_detail nothing;
    const struct sg_perf_activity a = {
        .detail = &nothing, .clocks = SG_CYCLES_PACKET, .cp_cycles = SG_CYCLES_PACKET};

    pthread_mutex_lock(&perf->lock);
    for (unsigned block = 0; perf->counting && block < SG_BLOCK_COUNT; block++) {
        if (is_for_all_queues(block))
            add_to_block(perf, block, no_counts, &a);
    }
    pthread_mutex_unlock(&perf->lock);
}
