// SPDX-License-Identifier: MIT
// A launch: checks that the device could hold it, brings the storage of its work-groups, and turns host faults
// of emulated accesses into faults of the launch. LDS is zeroed for each group and VGPRs for each wave (see
// sg_wave_start); scratch is not, as on hardware.
#include "softgpu/isa/machine.h"
#include "softgpu/isa/memory.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LDS_GRANULE           512
#define SCRATCH_GRANULE       1024            // of one wave
#define SCRATCH_WAVE_BYTES    (8191u * 1024u) // largest size of one wave that the hardware's register can say
#define VGPRS_OF_SIMD         512
#define VGPR_GRANULE          8
#define SIMDS                 4
#define WAVES_OF_SIMD         8
#define CUS_OF_MI210          104
#define SHARE_BYTES           (UINT64_C(1) << 30) // registers, LDS and scratch of groups that take turns
#define PAGE                  4096u
#define PROPERTY_WAVE32       0x400
#define RSRC1_VGPRS(r)        (((r)&0x3f) + 1) // granules
#define RSRC3_ACCUM_OFFSET(r) ((((r)&0x3f) + 1) * 4)

static pthread_key_t machine_key;
static pthread_once_t machine_once = PTHREAD_ONCE_INIT;

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static uint64_t round_up(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

// Registers first: they and what follows them begin at page boundaries.
static struct sg_resident *resident_map(unsigned waves, uint64_t lds_bytes, uint64_t scratch_bytes)
{
    const uint64_t head = round_up(sizeof(struct sg_resident), PAGE);
    const uint64_t vgpr = (uint64_t)waves * SG_VGPR_ROWS * SG_LANES * sizeof(uint32_t);
    const uint64_t lds = round_up(lds_bytes, PAGE);
    uint8_t *block = map(head + vgpr + lds + scratch_bytes);
    if (!block)
        return NULL;
    struct sg_resident *r = (struct sg_resident *)(void *)block;
    r->bytes = head + vgpr + lds + scratch_bytes;
    r->vgpr = (uint32_t(*)[SG_LANES])(void *)(block + head);
    r->lds = block + head + vgpr;
    r->scratch = scratch_bytes ? block + head + vgpr + lds : NULL;
    return r;
}

struct sg_resident *sg_resident_new(const struct sg_machine *m)
{
    return resident_map(m->group_waves, m->lds_bytes, m->wave_scratch_bytes * m->group_waves);
}

void sg_resident_free(struct sg_resident *r)
{
    munmap(r, r->bytes);
}

static void own_scratch_free(struct sg_machine *m)
{
    if (m->scratch_bytes)
        munmap(m->resident[0]->scratch, m->scratch_bytes);
    m->scratch_bytes = 0;
}

static void machine_free(void *p)
{
    struct sg_machine *m = p;
    if (m->n_resident) {
        own_scratch_free(m);
        sg_resident_free(m->resident[0]);
    }
    sg_code_free(&m->code);
    free(m);
}

static void machine_setup(void)
{
    pthread_key_create(&machine_key, machine_free);
}

// The calling thread's machine, made at its first launch and freed when the thread ends. NULL when out of
// memory.
static struct sg_machine *machine_get(void)
{
    pthread_once(&machine_once, machine_setup);
    struct sg_machine *m = pthread_getspecific(machine_key);
    if (m)
        return m;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    sg_code_begin(&m->code);
    m->resident[0] = resident_map(SG_MAX_WAVES, SG_LDS_BYTES, 0);
    m->n_resident = m->resident[0] ? 1 : 0;
    if (!m->n_resident || pthread_setspecific(machine_key, m) != 0) {
        machine_free(m);
        return NULL;
    }
    return m;
}

static bool own_scratch(struct sg_machine *m, uint64_t bytes)
{
    if (bytes <= m->scratch_bytes)
        return true;
    own_scratch_free(m);
    m->resident[0]->scratch = map(bytes);
    m->scratch_bytes = m->resident[0]->scratch ? bytes : 0;
    return m->scratch_bytes != 0;
}

static int refuse(const struct sg_launch *l, struct sg_fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(const struct sg_launch *l, struct sg_fault *fault, const char *format, ...)
{
    char why[160];
    va_list ap;
    va_start(ap, format);
    vsnprintf(why, sizeof why, format, ap);
    va_end(ap);
    fault->kind = SG_FAULT_RESOURCES;
    fault->pc = l->entry;
    snprintf(fault->text, sizeof fault->text, "cannot launch kernel %.60s: %s", l->kernel_name, why);
    return -1;
}

static unsigned total_vgprs(const struct sg_launch *l)
{
    return RSRC1_VGPRS(l->rsrc1) * VGPR_GRANULE;
}

static uint64_t wave_scratch_bytes(const struct sg_launch *l)
{
    return round_up((uint64_t)l->private_segment_bytes * SG_LANES, SCRATCH_GRANULE);
}

static int check_resources(const struct sg_launch *l, struct sg_fault *fault)
{
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->workgroup[i] == 0 || l->workgroup[i] > SG_MAX_WORKGROUP)
            return refuse(l, fault, "dimension %u has grid %u and work-group %u", i, l->grid[i],
                          l->workgroup[i]);
        items *= l->workgroup[i];
    }
    if (items > SG_MAX_WORKGROUP)
        return refuse(l, fault, "work-group of %llu work-items, limit %u", (unsigned long long)items,
                      SG_MAX_WORKGROUP);
    if (l->group_segment_bytes > SG_LDS_BYTES)
        return refuse(l, fault, "%u bytes of LDS, limit %u", l->group_segment_bytes, SG_LDS_BYTES);
    if (wave_scratch_bytes(l) > SCRATCH_WAVE_BYTES)
        return refuse(l, fault, "%u bytes of private memory per work-item, limit %u",
                      l->private_segment_bytes, SCRATCH_WAVE_BYTES / SG_LANES);
    if (l->properties & PROPERTY_WAVE32)
        return refuse(l, fault, "waves of 32 lanes do not exist on gfx90a");
    const unsigned waves = (unsigned)((items + SG_LANES - 1) / SG_LANES),
                   per_simd = (waves + SIMDS - 1) / SIMDS;
    if (total_vgprs(l) * per_simd > VGPRS_OF_SIMD)
        return refuse(l, fault, "%u VGPRs for each of %u waves of a work-group, a SIMD has %u",
                      total_vgprs(l), waves, VGPRS_OF_SIMD);
    return 0;
}

// The register file is split at the accumulation offset. A zero rsrc3 is also what kernels of the old
// amd_kernel_code_t have, which know no split.
static void grant_vgprs(struct sg_machine *m, const struct sg_launch *l)
{
    const unsigned total = total_vgprs(l), offset = RSRC3_ACCUM_OFFSET(l->rsrc3);
    const unsigned arch = l->rsrc3 && offset < total ? offset : total;
    m->arch_vgprs = arch < 256 ? arch : 256;
    const unsigned acc = total > offset ? total - offset : 0;
    m->acc_vgprs = acc < 256 ? acc : 256;
}

static uint32_t groups_in(const struct sg_launch *l, unsigned dimension)
{
    return (uint32_t)(((uint64_t)l->grid[dimension] + l->workgroup[dimension] - 1) / l->workgroup[dimension]);
}

static unsigned smaller(uint64_t a, uint64_t b)
{
    return (unsigned)(a < b ? a : b);
}

struct sg_residency sg_residency(const struct sg_launch *l, unsigned waves, uint32_t lds_bytes)
{
    struct sg_residency r = {
        .by_waves = SIMDS * WAVES_OF_SIMD / waves,
        .by_vgprs = SIMDS * (VGPRS_OF_SIMD / total_vgprs(l)) / waves,
        .by_lds = lds_bytes ? SG_LDS_BYTES / lds_bytes : UINT32_MAX,
    };
    r.groups = smaller(smaller(r.by_waves, r.by_vgprs), r.by_lds);
    if (!r.groups)
        r.groups = 1;
    return r;
}

// As many groups as an MI210 holds of this kernel, but no more than what SHARE_BYTES of host memory hold.
static unsigned resident_limit(const struct sg_machine *m)
{
    const unsigned of_cu = sg_residency(m->launch, m->group_waves, m->lds_bytes).groups;
    const uint64_t wave_bytes =
        (uint64_t)(m->arch_vgprs + m->acc_vgprs) * SG_LANES * sizeof(uint32_t) + m->wave_scratch_bytes;
    const uint64_t group_bytes = m->group_waves * wave_bytes + m->lds_bytes + sizeof(struct sg_resident);
    const unsigned fit = smaller(SHARE_BYTES / group_bytes + 1, SG_MAX_RESIDENT);
    return smaller(fit, (uint64_t)of_cu * CUS_OF_MI210);
}

// A host fault came: the wave that ran, and what it did, are still in the machine.
static void host_fault(struct sg_machine *m)
{
    struct sg_wave *w = m->running;
    uint64_t address = m->guard.address;
    if (m->inst) {
        const bool known = !m->guard.no_address || sg_memory_odd_address(w, m->inst, &address);
        if (known)
            sg_wave_fault(w, m->inst, SG_FAULT_MEMORY, address, "access to unmapped address 0x%llx",
                          (unsigned long long)address);
        else
            sg_wave_fault(w, m->inst, SG_FAULT_MEMORY, address, "access to an address that is not canonical");
        return;
    }
    w->fault->kind = SG_FAULT_MEMORY;
    w->fault->pc = w->pc;
    w->fault->address = m->guard.no_address ? w->pc : address;
    snprintf(w->fault->text, sizeof w->fault->text,
             "fetch of an instruction from unmapped address 0x%llx in kernel %.60s",
             (unsigned long long)w->pc, w->group->launch->kernel_name);
}

static void run_guarded(struct sg_machine *m)
{
    if (sigsetjmp(m->guard.env, 0)) {
        host_fault(m);
        sg_group_faulted(m);
        sg_group_count(m);
        return;
    }
    sg_guard_arm(&m->guard);
    sg_schedule(m);
    sg_guard_arm(NULL);
}

// State of the launch. False when out of memory.
static bool begin(struct sg_machine *m, struct sg_job *job, bool helper)
{
    const struct sg_launch *l = job->launch;
    m->job = job;
    m->helper = helper;
    m->launch = l;
    memset(m->counts, 0, sizeof m->counts);
    memset(&m->fault, 0, sizeof m->fault);
    m->deadline_ns = job->deadline_ns;
    for (unsigned i = 0; i < 3; i++)
        m->groups[i] = groups_in(l, i);
    m->group_waves = (l->workgroup[0] * l->workgroup[1] * l->workgroup[2] + SG_LANES - 1) / SG_LANES;
    m->lds_bytes =
        l->exact_lds ? l->group_segment_bytes : (uint32_t)round_up(l->group_segment_bytes, LDS_GRANULE);
    m->wave_scratch_bytes = wave_scratch_bytes(l);
    m->executed = 0;
    grant_vgprs(m, l);
    m->max_resident = resident_limit(m);
    return own_scratch(m, m->wave_scratch_bytes * SG_MAX_WAVES);
}

// The thread's own storage goes back to its place, that of the other groups away.
static void end(struct sg_machine *m, struct sg_resident *own)
{
    for (unsigned i = 0; i < m->n_resident; i++)
        if (m->resident[i] != own)
            sg_resident_free(m->resident[i]);
    m->resident[0] = own;
    m->n_resident = 1;
    sg_code_end(&m->code);
}

// The calling thread's part of a launch. False when it cannot take one for want of memory.
static bool take_part(struct sg_job *job, bool helper)
{
    struct sg_machine *m = machine_get();
    if (!m)
        return false;
    struct sg_resident *own = m->resident[0];
    if (!begin(m, job, helper))
        return false;
    run_guarded(m);
    const bool faulted = m->fault.kind != SG_FAULT_NONE;
    if (faulted)
        __atomic_store_n(&job->over, 1, __ATOMIC_RELAXED);
    sg_job_report(job, m->counts, &m->fault, faulted ? m->turn->number : 0);
    end(m, own);
    return true;
}

bool sg_job_help(struct sg_job *job)
{
    return take_part(job, true);
}

int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    if (check_resources(launch, fault))
        return -1;
    sg_guard_install();
    struct sg_job job = {
        .launch = launch,
        .n_groups = (uint64_t)groups_in(launch, 0) * groups_in(launch, 1) * groups_in(launch, 2),
        .deadline_ns = launch->timeout_ns ? sg_now_ns() + launch->timeout_ns : 0,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .counts = counts,
        .fault = fault,
    };
    if (!take_part(&job, false))
        return refuse(launch, fault, "no host memory for registers and scratch");
    sg_pool_withdraw(&job);
    return fault->kind == SG_FAULT_NONE ? 0 : -1;
}
