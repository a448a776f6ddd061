// SPDX-License-Identifier: MIT
// From what each wave took alone to what the compute unit took with all of them. A CU holds as many work-groups as its
// registers, LDS and waves allow; while one waits the others work. So it is busy for as long as its groups' own times need
// that many at a time, or as its busiest unit needs for all, whichever is longer; in the second case waves stand longer
// and wait for issue.
#include "softgpu/model/internal.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t scaled(uint64_t value, uint64_t by, uint64_t of)
{
    return of ? (uint64_t)((unsigned __int128)value * by / of) : 0;
}

static uint64_t busiest(const uint64_t of_simd[4])
{
    return larger(larger(of_simd[0], of_simd[1]), larger(of_simd[2], of_simd[3]));
}

static void time_cu(struct sg_cu_detail *cu, const struct sg_residency *holds)
{
    if (!cu->groups)
        return;
    const uint64_t at_a_time = holds->groups < cu->groups ? holds->groups : cu->groups;
    const uint64_t alone = (cu->group_alone + at_a_time - 1) / at_a_time;
    const uint64_t valu = busiest(cu->valu_of_simd), scalar = busiest(cu->scalar_of_simd);
    const uint64_t span = larger(larger(alone, larger(valu, scalar)), larger(cu->lds_cycles, cu->ta_cycles));
    cu->busy = SG_MODEL_ENGINE_START + span;
    cu->wave_cycles = scaled(cu->wave_alone, span, alone);
    cu->wait_issue = cu->wave_cycles - cu->wave_alone;
    cu->wait_issue_lds =
        scaled(cu->wait_issue, cu->lds_cycles, valu + scalar + cu->lds_cycles + cu->ta_cycles);
    if (cu->groups <= holds->groups)
        return;
    cu->no_room = scaled(span, cu->groups - holds->groups, cu->groups);
    if (holds->by_lds == holds->groups)
        cu->no_room_lds = cu->no_room;
    if (holds->by_vgprs == holds->groups && holds->by_vgprs < holds->by_waves)
        cu->no_room_vgpr = cu->no_room;
    if (holds->by_waves == holds->groups)
        cu->no_room_wave = cu->no_room;
}

void sg_model_time(struct sg_model *m)
{
    struct sg_detail *d = &m->detail;
    const struct sg_residency holds = sg_residency(m->launch, m->group_waves, m->lds_bytes);
    uint64_t groups = 0;
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        struct sg_cu_detail *cu = &d->cu[i];
        time_cu(cu, &holds);
        groups += cu->groups;
        d->spi_busy = larger(d->spi_busy, cu->busy);
        d->ta_busy = larger(d->ta_busy, cu->ta_cycles);
        d->tc_busy = larger(d->tc_busy, cu->tcp_lines);
    }
    uint64_t longest = d->spi_busy;
    for (unsigned i = 0; i < SG_L2_CHANNELS; i++) {
        struct sg_channel_detail *c = &d->channel[i];
        c->busy = larger(c->busy, c->ea_cycles);
        d->tc_busy = larger(d->tc_busy, c->busy);
        d->ea_busy = larger(d->ea_busy, c->ea_cycles);
        longest = larger(longest, c->busy);
    }
    d->active = SG_MODEL_DISPATCH + longest;
    const uint64_t launching = SG_MODEL_DISPATCH + groups * SG_MODEL_GROUP_LAUNCH;
    d->cp_busy = launching < d->active ? launching : d->active;
}
