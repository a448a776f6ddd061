// SPDX-License-Identifier: MIT
// The table of modelled events and the cycle formulas behind four of them.
#include "softgpu/perf/model.h"

#define DEFINE_VALUE(NAME, BLOCK, EVENT, VALUE)                                                              \
    static uint64_t value_##NAME(const struct sg_perf_activity *a)                                           \
    {                                                                                                        \
        return VALUE;                                                                                        \
    }
SG_PERF_EVENTS(DEFINE_VALUE)
#undef DEFINE_VALUE

#define ROW(NAME, BLOCK, EVENT, VALUE) {#NAME, SG_BLOCK_##BLOCK, EVENT, value_##NAME},
const struct sg_perf_event sg_perf_events[] = {SG_PERF_EVENTS(ROW)};
#undef ROW

const size_t sg_perf_event_count = sizeof(sg_perf_events) / sizeof(sg_perf_events[0]);

const struct sg_perf_event *sg_perf_event_find(enum sg_perf_block_id block, uint32_t event)
{
    for (size_t i = 0; i < sg_perf_event_count; i++) {
        if (sg_perf_events[i].block == block && sg_perf_events[i].event == event)
            return &sg_perf_events[i];
    }
    return NULL;
}

// FLAT instructions are among vmem_rd and vmem_wr already.
uint64_t sg_model_wave_cycles(const struct sg_counts *c)
{
    return c->valu * SG_CYCLES_VALU + c->salu * SG_CYCLES_SALU + c->smem * SG_CYCLES_SMEM +
           c->lds * SG_CYCLES_LDS + c->gds * SG_CYCLES_GDS + c->vmem_rd * SG_CYCLES_VMEM_RD +
           c->vmem_wr * SG_CYCLES_VMEM_WR + c->branch * SG_CYCLES_BRANCH + c->sendmsg * SG_CYCLES_SENDMSG +
           c->other_sopp * SG_CYCLES_OTHER + c->waves * SG_CYCLES_WAVE;
}

// The waves of an engine share its SIMDs evenly, one wave at a time on each. No rounding: costs are multiples
// of 4.
uint64_t sg_model_busy_cycles(const struct sg_counts *c)
{
    if (c->waves == 0)
        return 0;
    return SG_CYCLES_ENGINE_START + sg_model_wave_cycles(c) / SG_SIMDS_PER_ENGINE;
}

uint64_t sg_model_active_cycles(const struct sg_counts engines[SG_SHADER_ENGINES])
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        uint64_t busy = sg_model_busy_cycles(&engines[i]);
        if (busy > longest)
            longest = busy;
    }
    return SG_CYCLES_DISPATCH + longest;
}
