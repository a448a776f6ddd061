// SPDX-License-Identifier: MIT
// Global wave sync: barriers and semaphores over the waves of a dispatch. A wave that has to wait is left out
// of its group's turns until its resource releases it. Source: "AMD Instinct MI200 Instruction Set
// Architecture", DS instruction list, DS_GWS_*: the resource number is M0[21:16] + offset, the operand comes
// from the first active lane.
#include "softgpu/isa/machine.h"
#include "softgpu/isa/mem_ds.h"

static unsigned resource_of(const struct sg_wave *w, const struct sg_inst *inst)
{
    return ((w->sgpr[SG_SGPR_M0] >> 16) + (uint32_t)inst->simm) % SG_GWS_RESOURCES;
}

static uint32_t operand(const struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    return w->vgpr[inst->vaddr][exec ? __builtin_ctzll(exec) : 0];
}

static struct sg_gws *gws_of(const struct sg_wave *w)
{
    return w->group->launch->gws;
}

static enum sg_step no_gws(struct sg_wave *w, const struct sg_inst *inst)
{
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "the queue has no global wave sync");
}

static enum sg_step wait_at(struct sg_wave *w, unsigned resource, enum sg_gws_wait wait)
{
    w->gws_wait = wait;
    w->gws_resource = (uint8_t)resource;
    w->gws_phase = gws_of(w)->phase[resource];
    return SG_STEP_WAIT;
}

bool sg_gws_released(struct sg_wave *w)
{
    struct sg_gws *gws = gws_of(w);
    if (gws->phase[w->gws_resource] == w->gws_phase) {
        if (w->gws_wait == SG_GWS_BARRIER || !gws->counter[w->gws_resource])
            return false;
        gws->counter[w->gws_resource]--;
    }
    w->gws_wait = SG_GWS_NONE;
    return true;
}

// The operand counts waves but one, or units.
enum sg_step sg_gws_init(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    gws->counter[resource_of(w, inst)] = operand(w, inst);
    return SG_STEP_OK;
}

// The last wave releases the others and sets the count of the next barrier.
enum sg_step sg_gws_barrier(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    const unsigned resource = resource_of(w, inst);
    if (gws->counter[resource]) {
        gws->counter[resource]--;
        return wait_at(w, resource, SG_GWS_BARRIER);
    }
    gws->counter[resource] = operand(w, inst);
    gws->phase[resource]++;
    return SG_STEP_OK;
}

enum sg_step sg_gws_sema_p(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    const unsigned resource = resource_of(w, inst);
    if (!gws->counter[resource])
        return wait_at(w, resource, SG_GWS_SEMAPHORE);
    gws->counter[resource]--;
    return SG_STEP_OK;
}

// arg 0: one unit; 1: as many as the operand says.
enum sg_step sg_gws_sema_v(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    gws->counter[resource_of(w, inst)] += inst->info->arg ? operand(w, inst) : 1;
    return SG_STEP_OK;
}

enum sg_step sg_gws_release_all(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    gws->phase[resource_of(w, inst)]++;
    return SG_STEP_OK;
}
