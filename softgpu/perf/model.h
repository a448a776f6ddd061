// SPDX-License-Identifier: MIT
// The counting model: which hardware events the software GPU knows and what each adds for one dispatch. The
// page docs/counters.md explains it to users; this is the only place that defines it.
#ifndef SG_PERF_MODEL_H
#define SG_PERF_MODEL_H

#include "softgpu/isa/isa.h"
#include "softgpu/perf/registers.h"

#include <stddef.h>
#include <stdint.h>

// Clock cycles that one wave instruction keeps its wave busy, by class; multiples of 4, because the SQ counts
// waves' time in quad-cycles. Not measured on hardware: round figures whose ratios are plausible (a 64-lane
// VALU instruction takes four passes over a 16-lane SIMD; memory is slower than arithmetic), fixed so that a
// run is repeatable.
enum {
    SG_CYCLES_VALU = 4,
    SG_CYCLES_SALU = 4,
    SG_CYCLES_SMEM = 32,
    SG_CYCLES_LDS = 16,
    SG_CYCLES_GDS = 32,
    SG_CYCLES_VMEM_RD = 64,
    SG_CYCLES_VMEM_WR = 32,
    SG_CYCLES_BRANCH = 16,
    SG_CYCLES_SENDMSG = 4,
    SG_CYCLES_OTHER = 4,
    SG_CYCLES_WAVE = 64,          // launch and end of a wave
    SG_CYCLES_ENGINE_START = 100, // of an engine that gets at least one wave of a dispatch
    SG_CYCLES_DISPATCH = 1000,    // of a dispatch, before its first and after its last wave
    SG_CYCLES_PACKET = 200,       // of any packet in the command processor
    SG_SIMDS_PER_ENGINE = 4,      // one CU of four SIMDs
};

// What an event is computed from.
struct sg_perf_activity {
    const struct sg_counts *engine; // SQ: counts of the instance's engine
    uint64_t active_cycles;         // GRBM: cycles that the graphics and compute pipe was busy
    uint64_t clock_cycles;          // GRBM: all cycles, active ones included
};

// X(name, block, event number, value of the event for `a`, a const struct sg_perf_activity *).
// Numbers: rocprofiler-sdk counter_defs.yaml, architecture gfx90a.
#define SG_PERF_EVENTS(X)                                                                                    \
    X(GRBM_COUNT, GRBM, 0, a->clock_cycles)                                                                  \
    X(GRBM_GUI_ACTIVE, GRBM, 2, a->active_cycles)                                                            \
    X(SQ_BUSY_CYCLES, SQ, 3, sg_model_busy_cycles(a->engine))                                                \
    X(SQ_WAVES, SQ, 4, a->engine->waves)                                                                     \
    X(SQ_INSTS_VALU, SQ, 26, a->engine->valu)                                                                \
    X(SQ_INSTS_VMEM_WR, SQ, 53, a->engine->vmem_wr)                                                          \
    X(SQ_INSTS_VMEM_RD, SQ, 54, a->engine->vmem_rd)                                                          \
    X(SQ_INSTS_VMEM, SQ, 55, a->engine->vmem_rd + a->engine->vmem_wr)                                        \
    X(SQ_INSTS_SALU, SQ, 56, a->engine->salu)                                                                \
    X(SQ_INSTS_SMEM, SQ, 57, a->engine->smem)                                                                \
    X(SQ_INSTS_FLAT, SQ, 58, a->engine->flat)                                                                \
    X(SQ_INSTS_LDS, SQ, 60, a->engine->lds)                                                                  \
    X(SQ_INSTS_GDS, SQ, 61, a->engine->gds)                                                                  \
    X(SQ_INSTS_BRANCH, SQ, 64, a->engine->branch)                                                            \
    X(SQ_INSTS_SENDMSG, SQ, 65, a->engine->sendmsg)                                                          \
    X(SQ_WAVE_CYCLES, SQ, 74, sg_model_wave_cycles(a->engine) / 4)

struct sg_perf_event {
    const char *name;
    enum sg_perf_block_id block;
    uint32_t event; // number in the select register
    uint64_t (*value)(const struct sg_perf_activity *a);
};

extern const struct sg_perf_event sg_perf_events[]; // sorted by block name and event number
extern const size_t sg_perf_event_count;

// NULL when the event is not modelled.
const struct sg_perf_event *sg_perf_event_find(enum sg_perf_block_id block, uint32_t event);

// Clock cycles of all waves of an engine together, each wave for itself.
uint64_t sg_model_wave_cycles(const struct sg_counts *engine);

// Clock cycles during which the engine had a wave; 0 when it had none.
uint64_t sg_model_busy_cycles(const struct sg_counts *engine);

// Clock cycles of a whole dispatch: its fixed cost and its longest engine.
uint64_t sg_model_active_cycles(const struct sg_counts engines[SG_SHADER_ENGINES]);

#endif
