// SPDX-License-Identifier: MIT
// The counter registers of one GPU as state: selects, the free-running counters behind them, and what the
// last sample latched for reading. What an event adds comes from model.c, addresses from registers.c.
#include "softgpu/perf/perf.h"

#include "softgpu/perf/model.h"
#include "softgpu/perf/registers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct counter {
    uint32_t select;
    const struct sg_perf_event *event; // of `select`; NULL: none, or not modelled
    uint64_t running;
    uint64_t sampled; // what the result registers show
};

struct sq_instance {
    uint32_t ctrl, mask;
    struct counter slots[SG_SQ_SLOTS];
};

struct sg_perf {
    pthread_mutex_t lock; // over everything below
    bool counting;
    uint32_t gfx_index, perfmon_cntl, rlc_clock;
    struct sq_instance sq[SG_SHADER_ENGINES];
    struct counter grbm[SG_GRBM_SLOTS];
};

// Engines that GRBM_GFX_INDEX selects: [first, end), empty for an engine that does not exist.
struct engine_range {
    uint32_t first, end;
};

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
    // Event 0 is a real event of the GRBM, so a select register that nobody wrote already counts it.
    for (unsigned slot = 0; slot < SG_GRBM_SLOTS; slot++)
        perf->grbm[slot].event = sg_perf_event_find(SG_BLOCK_GRBM, 0);
    return perf;
}

void sg_perf_destroy(struct sg_perf *perf)
{
    if (!perf)
        return;
    pthread_mutex_destroy(&perf->lock);
    free(perf);
}

static struct engine_range selected_engines(const struct sg_perf *perf)
{
    uint32_t engine = SG_GFX_INDEX_SE_OF(perf->gfx_index);

    if (perf->gfx_index & SG_GFX_INDEX_SE_BROADCAST)
        return (struct engine_range){0, SG_SHADER_ENGINES};
    if (engine >= SG_SHADER_ENGINES)
        return (struct engine_range){0, 0};
    return (struct engine_range){engine, engine + 1};
}

static void for_each_counter(struct sg_perf *perf, void (*apply)(struct counter *counter))
{
    for (unsigned engine = 0; engine < SG_SHADER_ENGINES; engine++) {
        for (unsigned slot = 0; slot < SG_SQ_SLOTS; slot++)
            apply(&perf->sq[engine].slots[slot]);
    }
    for (unsigned slot = 0; slot < SG_GRBM_SLOTS; slot++)
        apply(&perf->grbm[slot]);
}

static void reset_counter(struct counter *counter)
{
    counter->running = counter->sampled = 0;
}

static void sample_counter(struct counter *counter)
{
    counter->sampled = counter->running;
}

static void add_event(struct counter *counter, const struct sg_perf_activity *activity)
{
    if (counter->event)
        counter->running += counter->event->value(activity);
}

// A reset keeps the selects: writers select between two resets.
static void write_perfmon_cntl(struct sg_perf *perf, uint32_t value)
{
    perf->perfmon_cntl = value;
    perf->counting = (value & SG_PERFMON_STATE_MASK) == SG_PERFMON_START;
    if ((value & SG_PERFMON_STATE_MASK) == SG_PERFMON_DISABLE_RESET)
        for_each_counter(perf, reset_counter);
    if (value & SG_PERFMON_SAMPLE)
        for_each_counter(perf, sample_counter);
}

static void write_select(struct sg_perf *perf, const struct sg_perf_reg *reg, uint32_t value)
{
    const struct sg_perf_event *event =
        sg_perf_event_find(reg->block, value & sg_perf_blocks[reg->block].event_mask);
    struct engine_range range = selected_engines(perf);

    if (reg->block == SG_BLOCK_GRBM) {
        perf->grbm[reg->slot].select = value;
        perf->grbm[reg->slot].event = event;
        return;
    }
    for (uint32_t engine = range.first; engine < range.end; engine++) {
        perf->sq[engine].slots[reg->slot].select = value;
        perf->sq[engine].slots[reg->slot].event = event;
    }
}

static void write_sq_control(struct sg_perf *perf, enum sg_perf_reg_kind kind, uint32_t value)
{
    struct engine_range range = selected_engines(perf);

    for (uint32_t engine = range.first; engine < range.end; engine++) {
        if (kind == SG_REG_KIND_SQ_CTRL)
            perf->sq[engine].ctrl = value;
        else
            perf->sq[engine].mask = value;
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

// A read under broadcast answers from the first engine, as one bus read cannot return eight values. NULL for
// an engine that does not exist.
static const struct counter *find_counter(const struct sg_perf *perf, const struct sg_perf_reg *reg)
{
    struct engine_range range = selected_engines(perf);

    if (reg->block == SG_BLOCK_GRBM)
        return &perf->grbm[reg->slot];
    return range.first < range.end ? &perf->sq[range.first].slots[reg->slot] : NULL;
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
    struct engine_range range = selected_engines(perf);

    switch (reg->kind) {
    case SG_REG_KIND_GFX_INDEX:
        return perf->gfx_index;
    case SG_REG_KIND_PERFMON_CNTL:
        return perf->perfmon_cntl;
    case SG_REG_KIND_RLC_CLOCK:
        return perf->rlc_clock;
    case SG_REG_KIND_SQ_CTRL:
        return range.first < range.end ? perf->sq[range.first].ctrl : 0;
    case SG_REG_KIND_SQ_MASK:
        return range.first < range.end ? perf->sq[range.first].mask : 0;
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

static bool is_result(enum sg_perf_reg_kind kind)
{
    return kind == SG_REG_KIND_RESULT_LO || kind == SG_REG_KIND_RESULT_HI;
}

// The event that the counter behind a result register would have to count and cannot; 0 if there is none. A
// 0 in a select register is an event of the GRBM, which is modelled, and none at all of the SQ.
static uint32_t unmodelled_event(struct sg_perf *perf, const struct sg_perf_reg *reg)
{
    uint32_t event = 0;

    pthread_mutex_lock(&perf->lock);
    const struct counter *counter = find_counter(perf, reg);
    if (counter && !counter->event)
        event = counter->select & sg_perf_blocks[reg->block].event_mask;
    pthread_mutex_unlock(&perf->lock);
    return event;
}

bool sg_perf_can_read(struct sg_perf *perf, uint32_t address, char *why, size_t why_bytes)
{
    struct sg_perf_reg reg = sg_perf_reg_decode(address);
    uint32_t event;

    if (reg.kind == SG_REG_KIND_NONE && address >= SG_REG_RESULTS_BASE && address < SG_REG_RESULTS_END) {
        snprintf(why, why_bytes, "register 0x%x holds a counter of a block that is not modelled", address);
        return false;
    }
    if (!is_result(reg.kind) || (event = unmodelled_event(perf, &reg)) == 0)
        return true;
    snprintf(why, why_bytes, "event %u of block %s is not modelled", event, sg_perf_blocks[reg.block].name);
    return false;
}

static void add_to_grbm(struct sg_perf *perf, const struct sg_perf_activity *activity)
{
    for (unsigned slot = 0; slot < SG_GRBM_SLOTS; slot++)
        add_event(&perf->grbm[slot], activity);
}

static void add_to_sq(struct sg_perf *perf, const struct sg_counts *counts)
{
    for (unsigned engine = 0; engine < SG_SHADER_ENGINES; engine++) {
        const struct sg_perf_activity activity = {.engine = &counts[engine]};

        if (!(perf->sq[engine].ctrl & SG_SQ_CTRL_CS_EN))
            continue;
        for (unsigned slot = 0; slot < SG_SQ_SLOTS; slot++)
            add_event(&perf->sq[engine].slots[slot], &activity);
    }
}

void sg_perf_dispatch(struct sg_perf *perf, const struct sg_counts *counts, bool counted)
{
    uint64_t active = sg_model_active_cycles(counts);
    const struct sg_perf_activity gpu = {.active_cycles = active, .clock_cycles = active + SG_CYCLES_PACKET};

    pthread_mutex_lock(&perf->lock);
    if (perf->counting) {
        add_to_grbm(perf, &gpu);
        if (counted)
            add_to_sq(perf, counts);
    }
    pthread_mutex_unlock(&perf->lock);
}

void sg_perf_packet(struct sg_perf *perf)
{
    const struct sg_perf_activity gpu = {.clock_cycles = SG_CYCLES_PACKET};

    pthread_mutex_lock(&perf->lock);
    if (perf->counting)
        add_to_grbm(perf, &gpu);
    pthread_mutex_unlock(&perf->lock);
}
