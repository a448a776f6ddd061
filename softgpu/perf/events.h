// SPDX-License-Identifier: MIT
// The counting model: which hardware events the software GPU knows and what each adds for one dispatch. The list itself is
// event_list.h; the numbers behind it come from the interpreter (struct sg_counts) and from who watched it (struct
// sg_detail).
#ifndef SG_PERF_EVENTS_H
#define SG_PERF_EVENTS_H

#include "softgpu/model/detail.h"
#include "softgpu/perf/registers.h"

#include <stddef.h>
#include <stdint.h>

#define SG_CYCLES_PACKET 200 // of any packet in the command processor

// What an event is computed from.
struct sg_perf_activity {
    const struct sg_counts *counts;          // of the instance's engine
    const struct sg_cu_detail *cu;           // of the instance's engine
    const struct sg_channel_detail *channel; // of the instance's number
    const struct sg_detail *detail;
    uint64_t clocks;    // all cycles, idle ones included
    uint64_t cp_cycles; // of these, the command processor's
};

enum sg_perf_kind {
    SG_EVENT_BASIC, // exact, known after every dispatch
    SG_EVENT_MODEL, // only of dispatches that were watched
    // How many of something there are now; between dispatches, when counters are read, none. The next slot accumulates it.
    SG_EVENT_LEVEL,
    SG_EVENT_ACCUMULATE, // the sum over time of the level in the slot before
};

struct sg_perf_event {
    const char *name;
    enum sg_perf_block_id block;
    uint32_t event; // number in the select register
    enum sg_perf_kind kind;
    uint64_t (*value)(const struct sg_perf_activity *a);
};

extern const struct sg_perf_event sg_perf_events[]; // sorted by block name and event number
extern const size_t sg_perf_event_count;

// NULL when the event is not modelled.
const struct sg_perf_event *sg_perf_event_find(enum sg_perf_block_id block, uint32_t event);

#endif
