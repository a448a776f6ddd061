// SPDX-License-Identifier: MIT
// The turn of one work-group: the instruction loop, its waves one after another until each is at a barrier,
// yields or has had its slice; and counting by class.
#include "softgpu/isa/machine.h"

#include <stdio.h>

// Instructions that a wave runs before the next one has its turn. A wave that spins on another wave of its
// group must give way; longer slices keep registers in the cache.
#define SLICE 4096

// The same while somebody looks on: caches are to see waves side by side.
#define WATCHED_SLICE 64

// A wave that sleeps after fewer instructions only looks whether something has come.
#define POLL_LOOP 64

static void stopped(struct sg_wave *w)
{
    w->fault->kind = SG_FAULT_STOPPED;
    w->fault->pc = w->pc;
    w->fault->address = 0;
    snprintf(w->fault->text, sizeof w->fault->text, "kernel %.60s was stopped at 0x%llx",
             w->group->launch->kernel_name, (unsigned long long)w->pc);
}

// Names the instruction that would have come next.
static void timed_out(struct sg_machine *m, struct sg_wave *w)
{
    const double seconds = (double)m->launch->timeout_ns / 1e9;
    m->running = w;
    m->inst = NULL;
    const struct sg_inst *inst = sg_code_fetch(&m->code, w->pc);
    if (inst) {
        w->pc += 4 * (uint64_t)inst->n_words;
        sg_wave_fault(w, inst, SG_FAULT_TIMEOUT, 0,
                      "not ended after %g s (SOFTGPU_TIMEOUT), wave %u of work-group %u,%u,%u", seconds,
                      w->wave_in_group, w->group->id[0], w->group->id[1], w->group->id[2]);
        return;
    }
    w->fault->kind = SG_FAULT_TIMEOUT;
    w->fault->pc = w->pc;
    snprintf(w->fault->text, sizeof w->fault->text,
             "kernel %.60s not ended after %g s (SOFTGPU_TIMEOUT), at 0x%llx", w->group->launch->kernel_name,
             seconds, (unsigned long long)w->pc);
}

static enum sg_step cannot_execute(struct sg_wave *w, const struct sg_inst *inst)
{
    if (!inst) {
        w->fault->kind = SG_FAULT_RESOURCES;
        w->fault->pc = w->pc;
        snprintf(w->fault->text, sizeof w->fault->text, "no host memory for decoded code of kernel %.60s",
                 w->group->launch->kernel_name);
        return SG_STEP_FAULT;
    }
    w->pc += 4 * (uint64_t)inst->n_words;
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, inst->info ? "not implemented" : "illegal");
}

static unsigned lanes_of(uint64_t exec)
{
    return exec == UINT64_MAX ? SG_LANES : (unsigned)__builtin_popcountll(exec);
}

// Counts the instructions of a block up to and including number `at`.
static void count_part(struct sg_machine *m, const struct sg_block *block, unsigned at)
{
    for (unsigned i = 0; i <= at; i++)
        m->tally[block->inst[i]->info->klass]++;
}

// *ran grows by the instructions that did not end the slice. Made twice, so that only who is watched pays for it.
static inline __attribute__((always_inline)) enum sg_step run_block(struct sg_machine *m, struct sg_wave *w,
                                                                    const struct sg_block *block,
                                                                    unsigned *ran, struct sg_watch *watch)
{
    m->block = block;
    for (unsigned i = 0; i < block->n; i++) {
        const struct sg_inst *inst = block->inst[i];
        m->inst = inst;
        m->at = i;
        w->pc += 4 * (uint64_t)inst->n_words;
        if (inst->info->klass == SG_CLASS_VALU)
            m->lanes_valu += lanes_of(sg_exec(w));
        if (watch)
            watch->instruction(watch, w, inst);
        const enum sg_step step = inst->exec(w, inst);
        if (step) {
            m->block = NULL;
            count_part(m, block, i);
            *ran += i;
            return step;
        }
    }
    m->block = NULL;
    for (unsigned klass = 0; klass <= SG_CLASS_OTHER; klass++)
        m->tally[klass] += block->tally[klass];
    *ran += block->n;
    return SG_STEP_OK;
}

// An instruction that no block holds, because it is not cached or cannot be executed.
static enum sg_step run_odd(struct sg_machine *m, struct sg_wave *w, unsigned *ran)
{
    const struct sg_inst *inst = sg_code_fetch(&m->code, w->pc);
    if (!inst || !inst->info || !inst->info->exec)
        return cannot_execute(w, inst);
    m->inst = inst;
    w->pc += 4 * (uint64_t)inst->n_words;
    m->tally[inst->info->klass]++;
    if (inst->info->klass == SG_CLASS_VALU)
        m->lanes_valu += lanes_of(sg_exec(w));
    if (m->launch->watch)
        m->launch->watch->instruction(m->launch->watch, w, inst);
    const enum sg_step step = inst->exec(w, inst);
    *ran += !step;
    return step;
}

// Instructions, too, are fetched from memory that the GPU may touch. Looked at when a launch enters a page of code.
static enum sg_step check_fetch(const struct sg_machine *m, struct sg_wave *w)
{
    const struct sg_launch *launch = m->launch;
    const uint64_t number = w->pc >> SG_CODE_PAGE_SHIFT;
    const struct sg_code_page *entered = m->code.way[number % SG_CODE_WAYS];
    uint64_t range[2];
    char why[112];
    if (!launch->owned || (entered && entered->number == number) ||
        launch->owned(launch->ctx, w->pc, sizeof(uint32_t), range, why, sizeof why))
        return SG_STEP_OK;
    w->fault->kind = SG_FAULT_MEMORY;
    w->fault->pc = w->fault->address = w->pc;
    snprintf(w->fault->text, sizeof w->fault->text, "%s: instruction fetch in kernel %.60s at 0x%llx", why,
             launch->kernel_name, (unsigned long long)w->pc);
    return SG_STEP_FAULT;
}

static enum sg_step run_slice(struct sg_machine *m, struct sg_wave *w, unsigned *ran)
{
    struct sg_watch *watch = m->launch->watch;
    const unsigned slice = watch ? WATCHED_SLICE : SLICE;
    m->running = w;
    *ran = 0;
    while (*ran < slice) {
        const struct sg_block *block = sg_code_block_cached(&m->code, w->pc);
        if (!block) {
            m->inst = NULL;
            if (check_fetch(m, w))
                return SG_STEP_FAULT;
            block = sg_code_block(&m->code, w->pc);
        }
        const enum sg_step step = !block  ? run_odd(m, w, ran)
                                  : watch ? run_block(m, w, block, ran, watch)
                                          : run_block(m, w, block, ran, NULL);
        if (step)
            return step;
    }
    return SG_STEP_OK;
}

void sg_group_faulted(struct sg_machine *m)
{
    if (m->block)
        count_part(m, m->block, m->at);
    m->block = NULL;
}

// Releases the barrier when every wave that has not ended waits at it.
static void pass_barrier(struct sg_resident *r)
{
    for (unsigned i = 0; i < r->group.n_waves; i++)
        if (!r->wave[i].ended && !r->wave[i].at_barrier)
            return;
    for (unsigned i = 0; i < r->group.n_waves; i++)
        r->wave[i].at_barrier = false;
    if (r->group.launch->watch)
        r->group.launch->watch->barrier_passed(r->group.launch->watch, &r->group);
}

enum sg_turn sg_group_turn(struct sg_machine *m, struct sg_resident *r)
{
    const volatile int *stop = m->launch->stop;
    bool moved = false, at_gws = false;
    for (unsigned i = 0; i < r->group.n_waves; i++) {
        struct sg_wave *w = &r->wave[i];
        if (w->ended || w->at_barrier)
            continue;
        if (stop && *stop) {
            stopped(w);
            return SG_TURN_FAULT;
        }
        if (__atomic_load_n(&m->job->over, __ATOMIC_RELAXED))
            return SG_TURN_FAULT;
        if (m->deadline_ns && sg_now_ns() > m->deadline_ns) {
            timed_out(m, w);
            return SG_TURN_FAULT;
        }
        if (w->gws_wait != SG_GWS_NONE && !sg_gws_released(w)) {
            at_gws = true;
            continue;
        }
        unsigned ran;
        switch (run_slice(m, w, &ran)) {
        case SG_STEP_OK:
        case SG_STEP_POLL:
            moved = true;
            break;
        case SG_STEP_YIELD:
            moved |= ran > POLL_LOOP;
            break;
        case SG_STEP_WAIT:
            at_gws = true;
            break;
        case SG_STEP_BARRIER:
            w->at_barrier = true;
            moved = true;
            pass_barrier(r);
            break;
        case SG_STEP_END:
            w->ended = true;
            if (--r->alive == 0)
                return SG_TURN_ENDED;
            moved = true;
            pass_barrier(r);
            break;
        case SG_STEP_FAULT:
            return SG_TURN_FAULT;
        }
    }
    return moved ? SG_TURN_MOVED : at_gws ? SG_TURN_WAITING : SG_TURN_IDLE;
}

void sg_group_count(struct sg_machine *m)
{
    struct sg_counts *c = m->turn->group.counts;
    const uint64_t *t = m->tally;
    c->valu += t[SG_CLASS_VALU];
    c->salu += t[SG_CLASS_SALU];
    c->smem += t[SG_CLASS_SMEM];
    c->lds += t[SG_CLASS_LDS];
    c->gds += t[SG_CLASS_GDS];
    c->vmem_rd += t[SG_CLASS_VMEM_RD] + t[SG_CLASS_FLAT_RD];
    c->vmem_wr += t[SG_CLASS_VMEM_WR] + t[SG_CLASS_FLAT_WR];
    c->flat += t[SG_CLASS_FLAT_RD] + t[SG_CLASS_FLAT_WR];
    c->branch += t[SG_CLASS_BRANCH];
    c->sendmsg += t[SG_CLASS_SENDMSG];
    c->other_sopp += t[SG_CLASS_OTHER];
    c->lanes_valu += m->lanes_valu;
    for (unsigned klass = 0; klass <= SG_CLASS_OTHER; klass++)
        m->executed += t[klass];
    memset(m->tally, 0, sizeof m->tally);
    m->lanes_valu = 0;
}
