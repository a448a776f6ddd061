// SPDX-License-Identifier: MIT
// Global wave sync: barriers and semaphores over the waves of a dispatch. A wave that has to wait is left out
// of its group's turns until its resource releases it. Source: "AMD Instinct MI200 Instruction Set
// Architecture", DS instruction list, DS_GWS_*: the resource number is M0[21:16] + offset, the operand comes
// from the first active lane. Waves of one dispatch run on several threads: all resources are under one lock,
// which nobody holds long or while touching emulated memory.
#include "softgpu/isa/machine.h"
#include "softgpu/isa/mem_ds.h"

#include <pthread.h>

static pthread_mutex_t resources_lock = PTHREAD_MUTEX_INITIALIZER;

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

static bool take_release(const struct sg_wave *w, struct sg_gws *gws)
{
    if (gws->phase[w->gws_resource] != w->gws_phase)
        return true;
    if (w->gws_wait == SG_GWS_BARRIER || !gws->counter[w->gws_resource])
        return false;
    gws->counter[w->gws_resource]--;
    return true;
}

bool sg_gws_released(struct sg_wave *w)
{
    pthread_mutex_lock(&resources_lock);
    const bool released = take_release(w, gws_of(w));
    pthread_mutex_unlock(&resources_lock);
    if (released)
        w->gws_wait = SG_GWS_NONE;
    return released;
}

typedef enum sg_step (*gws_fn)(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws,
                               unsigned resource);

static enum sg_step locked(struct sg_wave *w, const struct sg_inst *inst, gws_fn fn)
{
    struct sg_gws *gws = gws_of(w);
    if (!gws)
        return no_gws(w, inst);
    pthread_mutex_lock(&resources_lock);
    const enum sg_step step = fn(w, inst, gws, resource_of(w, inst));
    pthread_mutex_unlock(&resources_lock);
    return step;
}

// The operand counts waves but one, or units.
static enum sg_step init(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws, unsigned resource)
{
    gws->counter[resource] = operand(w, inst);
    return SG_STEP_OK;
}

// The last wave releases the others and sets the count of the next barrier.
static enum sg_step barrier(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws,
                            unsigned resource)
{
    if (gws->counter[resource]) {
        gws->counter[resource]--;
        return wait_at(w, resource, SG_GWS_BARRIER);
    }
    gws->counter[resource] = operand(w, inst);
    gws->phase[resource]++;
    return SG_STEP_OK;
}

static enum sg_step sema_p(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws,
                           unsigned resource)
{
    (void)inst;
    if (!gws->counter[resource])
        return wait_at(w, resource, SG_GWS_SEMAPHORE);
    gws->counter[resource]--;
    return SG_STEP_OK;
}

// arg 0: one unit; 1: as many as the operand says.
static enum sg_step sema_v(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws,
                           unsigned resource)
{
    gws->counter[resource] += inst->info->arg ? operand(w, inst) : 1;
    return SG_STEP_OK;
}

static enum sg_step release_all(struct sg_wave *w, const struct sg_inst *inst, struct sg_gws *gws,
                                unsigned resource)
{
    (void)w, (void)inst;
    gws->phase[resource]++;
    return SG_STEP_OK;
}

enum sg_step sg_gws_init(struct sg_wave *w, const struct sg_inst *inst)
{
    return locked(w, inst, init);
}

enum sg_step sg_gws_barrier(struct sg_wave *w, const struct sg_inst *inst)
{
    return locked(w, inst, barrier);
}

enum sg_step sg_gws_sema_p(struct sg_wave *w, const struct sg_inst *inst)
{
    return locked(w, inst, sema_p);
}

enum sg_step sg_gws_sema_v(struct sg_wave *w, const struct sg_inst *inst)
{
    return locked(w, inst, sema_v);
}

enum sg_step sg_gws_release_all(struct sg_wave *w, const struct sg_inst *inst)
{
    return locked(w, inst, release_all);
}
