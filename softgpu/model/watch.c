// SPDX-License-Identifier: MIT
// The watcher: gives each instruction to the part that knows it, and keeps each wave's own time. A wave issues in order,
// an instruction after the other; results of memory come later, and s_waitcnt waits for them as the counters say, vector
// memory in order of issue.
#include "softgpu/model/internal.h"

#include <stdlib.h>

// Fields of s_waitcnt's immediate on GFX9: "AMD Instinct MI200 Instruction Set Architecture", S_WAITCNT.
#define WAIT_VM(simm)   (((unsigned)(simm)&0xf) | ((unsigned)(simm) >> 10 & 0x30))
#define WAIT_LGKM(simm) ((unsigned)(simm) >> 8 & 0xf)

enum sopp { SOPP_ENDPGM = 1, SOPP_BARRIER = 10, SOPP_WAITCNT = 12, SOPP_SLEEP = 14 };

static void wait_until(struct sg_wave_time *t, uint64_t when)
{
    if (when <= t->now)
        return;
    t->waited += when - t->now;
    t->now = when;
}

static void wait_for(struct sg_wave_time *t, struct sg_in_flight *f, unsigned left)
{
    while (f->n > left) {
        wait_until(t, f->done[f->first]);
        f->first = (f->first + 1) % SG_MODEL_IN_FLIGHT;
        f->n--;
    }
}

// In flight from now on; never done before an earlier one.
static uint64_t take_off(struct sg_wave_time *t, struct sg_in_flight *f, unsigned latency)
{
    wait_for(t, f, SG_MODEL_IN_FLIGHT - 1);
    uint64_t done = t->now + latency;
    if (f->n) {
        const uint64_t before = f->done[(f->first + f->n - 1) % SG_MODEL_IN_FLIGHT];
        done = before > done ? before : done;
    }
    f->done[(f->first + f->n) % SG_MODEL_IN_FLIGHT] = done;
    f->n++;
    return done - t->now;
}

// The *2 and *4 of SQ_INST_LEVEL_SMEM's definition.
static unsigned weight_of_scalar(const struct sg_kind *kind, const struct sg_inst *inst)
{
    const bool time = inst->info->opcode == 36 || inst->info->opcode == 37;
    return kind->bytes || time ? 2 : 4;
}

static void count_valu(struct sg_cu_detail *cu, const struct sg_wave *w, const struct sg_kind *kind)
{
    const unsigned lanes = (unsigned)__builtin_popcountll(sg_exec(w));
    cu->valu[kind->valu]++;
    cu->mfma_ops[kind->valu] += kind->ops;
    cu->mfma_cycles += kind->ops ? kind->cycles : 0;
    cu->thread_quads_valu += lanes * (kind->cycles / 4u);
}

static bool in_lds_only(const struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    if (inst->info->encoding != SG_ENC_FLAT || !exec)
        return false;
    SG_EACH_LANE(lane, exec)
    {
        if (w->vgpr[inst->vaddr + 1][lane] != w->group->launch->shared_aperture_hi)
            return false;
    }
    return true;
}

static void do_memory(struct sg_model *m, struct sg_watched_group *g, struct sg_wave_time *t,
                      struct sg_wave *w, const struct sg_inst *inst, const struct sg_kind *kind)
{
    struct sg_cu_detail *cu = g->cu;
    const bool reads = inst->info->klass == SG_CLASS_VMEM_RD || inst->info->klass == SG_CLASS_FLAT_RD;
    *(reads ? &cu->issue_vmem_rd : &cu->issue_vmem_wr) += kind->cycles;
    const unsigned latency =
        in_lds_only(w, inst) ? SG_MODEL_LDS_LATENCY : sg_model_vector(m, g, w, inst, kind);
    cu->level_vmem += take_off(t, &t->vector, latency);
    if (inst->info->encoding == SG_ENC_FLAT)
        take_off(t, &t->other, latency);
}

static void do_sopp(struct sg_wave_time *t, const struct sg_inst *inst)
{
    if (inst->info->encoding != SG_ENC_SOPP)
        return;
    switch (inst->info->opcode) {
    case SOPP_WAITCNT:
        wait_for(t, &t->vector, WAIT_VM(inst->simm & 0xffff));
        wait_for(t, &t->other, WAIT_LGKM(inst->simm));
        break;
    case SOPP_BARRIER:
        t->at_barrier = true;
        break;
    case SOPP_ENDPGM:
        t->ended = true;
        break;
    case SOPP_SLEEP:
        wait_until(t, t->now + 64 * ((unsigned)inst->simm & 0x7f));
        break;
    default:
        break;
    }
}

static void instruction(struct sg_watch *watch, struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_model *m = (struct sg_model *)(void *)watch;
    struct sg_watched_group *g = w->group->watched;
    if (!g)
        return;
    struct sg_wave_time *t = &g->wave[w->wave_in_group];
    struct sg_cu_detail *cu = g->cu;
    const struct sg_kind *kind = sg_kind_of(inst);
    const unsigned bytes = 4u * inst->n_words;
    wait_until(t, t->now + sg_model_fetch(m, g, t, w->pc - bytes, bytes));
    cu->insts++;
    cu->issue[kind->port] += kind->cycles;
    t->now += kind->cycles;
    switch (kind->port) {
    case SG_PORT_VALU:
        count_valu(cu, w, kind);
        cu->valu_of_simd[t->simd] += kind->cycles;
        break;
    case SG_PORT_SALU:
        cu->scalar_of_simd[t->simd] += kind->cycles;
        break;
    case SG_PORT_SMEM: {
        const unsigned weight = weight_of_scalar(kind, inst);
        cu->scalar_of_simd[t->simd] += kind->cycles;
        cu->smem_norm += weight;
        cu->level_smem += weight * take_off(t, &t->other, sg_model_scalar(m, g, w, inst, kind));
        break;
    }
    case SG_PORT_VMEM:
    case SG_PORT_FLAT:
        do_memory(m, g, t, w, inst, kind);
        break;
    case SG_PORT_LDS:
        cu->level_lds += take_off(t, &t->other, sg_model_lds(cu, w, inst, kind));
        break;
    case SG_PORT_GDS:
        take_off(t, &t->other, SG_MODEL_L1_LATENCY);
        break;
    default:
        do_sopp(t, inst);
        break;
    }
}

static void barrier_passed(struct sg_watch *watch, struct sg_group *group)
{
    struct sg_watched_group *g = group->watched;
    uint64_t last = 0;
    (void)watch;
    if (!g)
        return;
    for (unsigned i = 0; i < g->n_waves; i++)
        if (g->wave[i].at_barrier && g->wave[i].now > last)
            last = g->wave[i].now;
    for (unsigned i = 0; i < g->n_waves; i++) {
        if (g->wave[i].at_barrier)
            wait_until(&g->wave[i], last);
        g->wave[i].at_barrier = false;
    }
}

static void count_wave(struct sg_cu_detail *cu, unsigned items, const struct sg_launch *l)
{
    const unsigned user_sgprs = l->rsrc2 >> 1 & 0x1f, ids = l->rsrc2 >> 11 & 3;
    cu->waves++;
    cu->items += items;
    cu->waves_eq_64 += items == 64;
    cu->waves_lt_64 += items < 64;
    cu->waves_lt_48 += items < 48;
    cu->waves_lt_32 += items < 32;
    cu->waves_lt_16 += items < 16;
    cu->user_sgpr_writes += (user_sgprs + 3) / 4;
    cu->vgpr_writes += ids + 1;
}

static void group_begins(struct sg_watch *watch, struct sg_group *group, const struct sg_wave *waves,
                         uint64_t number)
{
    struct sg_model *m = (struct sg_model *)(void *)watch;
    struct sg_watched_group *g = calloc(1, sizeof *g);
    if (!g) {
        m->failed = true;
        return;
    }
    group->watched = g;
    g->engine = (unsigned)(number % SG_SHADER_ENGINES);
    g->cu = &m->detail.cu[g->engine];
    g->n_waves = group->n_waves;
    for (unsigned i = 0; i < g->n_waves; i++) {
        g->wave[i].simd = (unsigned)(g->cu->waves % 4);
        g->wave[i].now = SG_MODEL_WAVE;
        count_wave(g->cu, (unsigned)__builtin_popcountll(sg_exec(&waves[i])), group->launch);
    }
    g->next = &m->live;
    g->previous = m->live.previous;
    g->previous->next = g->next->previous = g;
}

// A group that a fault ended counts with what it did.
static void finish(struct sg_watched_group *g)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < g->n_waves; i++) {
        last = g->wave[i].now > last ? g->wave[i].now : last;
        g->cu->wave_alone += g->wave[i].now;
        g->cu->wait_data += g->wave[i].waited;
    }
    g->cu->groups++;
    g->cu->group_alone += last;
    g->previous->next = g->next;
    g->next->previous = g->previous;
    free(g);
}

static void group_ends(struct sg_watch *watch, struct sg_group *group)
{
    (void)watch;
    if (group->watched)
        finish(group->watched);
    group->watched = NULL;
}

struct sg_model *sg_model_create(void)
{
    struct sg_model *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->watch = (struct sg_watch){group_begins, instruction, barrier_passed, group_ends};
    m->live.next = m->live.previous = &m->live;
    bool fine = sg_frames_init(&m->frames) && sg_l2_init(&m->l2);
    for (unsigned i = 0; fine && i < SG_SHADER_ENGINES; i++)
        fine = sg_tags_init(&m->l1[i], 64, 4) && sg_tags_init(&m->scalar[i], 64, 4) &&
               sg_tags_init(&m->code[i], 128, 4);
    if (fine)
        return m;
    sg_model_destroy(m);
    return NULL;
}

void sg_model_destroy(struct sg_model *m)
{
    if (!m)
        return;
    free(m->frames.slots);
    free(m->l2.lines);
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        free(m->l1[i].tag);
        free(m->scalar[i].tag);
        free(m->code[i].tag);
    }
    free(m);
}

void sg_model_begin(struct sg_model *m, struct sg_launch *launch)
{
    launch->watch = &m->watch;
    m->launch = launch;
    m->failed = false;
    m->detail = (struct sg_detail){0};
    const uint64_t items = (uint64_t)launch->workgroup[0] * launch->workgroup[1] * launch->workgroup[2];
    m->group_waves = (unsigned)((items + SG_LANES - 1) / SG_LANES);
    m->lds_bytes = launch->group_segment_bytes;
    sg_frames_reset(&m->frames);
    sg_l2_reset(&m->l2);
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        sg_tags_reset(&m->l1[i]);
        sg_tags_reset(&m->scalar[i]);
        sg_tags_reset(&m->code[i]);
    }
}

bool sg_model_end(struct sg_model *m, struct sg_detail *detail)
{
    while (m->live.next != &m->live)
        finish(m->live.next);
    sg_l2_write_back(m);
    if (m->group_waves)
        sg_model_time(m);
    *detail = m->detail;
    return !m->failed && !m->frames.failed;
}
