// SPDX-License-Identifier: MIT
// The table of modelled events.
#include "softgpu/perf/events.h"

#include "softgpu/perf/event_list.h"

static uint64_t all_instructions(const struct sg_counts *c)
{
    return c->valu + c->salu + c->smem + c->lds + c->gds + c->vmem_rd + c->vmem_wr + c->branch + c->sendmsg +
           c->other_sopp;
}

static uint64_t matrix_instructions(const struct sg_cu_detail *cu)
{
    uint64_t n = 0;
    for (unsigned kind = SG_VALU_MFMA_I8; kind < SG_VALU_KINDS; kind++)
        n += cu->valu[kind];
    return n;
}

static uint64_t issue_cycles(const struct sg_cu_detail *cu)
{
    uint64_t n = 0;
    for (unsigned port = 0; port < SG_PORTS; port++)
        n += cu->issue[port];
    return n;
}

// Images are in td alone.
static uint64_t wavefronts(const struct sg_cu_detail *cu)
{
    uint64_t n = 0;
    for (unsigned access = 0; access < SG_ACCESSES; access++)
        n += cu->td[access];
    return n;
}

#define DEFINE_VALUE(NAME, BLOCK, EVENT, KIND, VALUE)                                                        \
    static uint64_t value_##NAME(const struct sg_perf_activity *a)                                           \
    {                                                                                                        \
        (void)a;                                                                                             \
        return VALUE;                                                                                        \
    }
SG_PERF_EVENTS(DEFINE_VALUE)
#undef DEFINE_VALUE

#define ROW(NAME, BLOCK, EVENT, KIND, VALUE) {#NAME, SG_BLOCK_##BLOCK, EVENT, SG_EVENT_##KIND, value_##NAME},
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
