// SPDX-License-Identifier: MIT
// A launch: checks that the device could hold it, walks its work-groups in order, and turns host faults of
// emulated accesses into faults of the launch. LDS is zeroed for each group and VGPRs for each wave (see
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

static size_t vgpr_bytes(void)
{
    return (size_t)SG_MAX_WAVES * SG_VGPR_ROWS * SG_LANES * sizeof(uint32_t);
}

static void machine_free(void *p)
{
    struct sg_machine *m = p;
    if (m->vgpr)
        munmap(m->vgpr, vgpr_bytes());
    if (m->scratch)
        munmap(m->scratch, m->scratch_bytes);
    free(m->lds);
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
    m->vgpr = map(vgpr_bytes());
    m->lds = calloc(1, SG_LDS_BYTES);
    if (!m->vgpr || !m->lds || pthread_setspecific(machine_key, m) != 0) {
        machine_free(m);
        return NULL;
    }
    return m;
}

static bool machine_scratch(struct sg_machine *m, uint64_t bytes)
{
    if (bytes <= m->scratch_bytes)
        return true;
    if (m->scratch)
        munmap(m->scratch, m->scratch_bytes);
    m->scratch = map(bytes);
    m->scratch_bytes = m->scratch ? bytes : 0;
    return m->scratch;
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

static uint64_t round_up(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
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

static bool run_group(struct sg_machine *m, const uint32_t id[3])
{
    struct sg_group *group = &m->group;
    const struct sg_launch *l = group->launch;
    uint32_t size[3];
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t left = l->grid[i] - id[i] * l->workgroup[i];
        size[i] = left < l->workgroup[i] ? left : l->workgroup[i];
    }
    memcpy(group->id, id, sizeof group->id);
    group->n_waves = (size[0] * size[1] * size[2] + SG_LANES - 1) / SG_LANES;
    group->counts->workgroups++;
    group->counts->waves += group->n_waves;
    memset(group->lds, 0, group->lds_bytes);
    for (unsigned i = 0; i < group->n_waves; i++)
        sg_wave_start(m, i, size);
    const bool ok = sg_group_run(m);
    sg_group_count(m);
    return ok;
}

static void walk_groups(struct sg_machine *m, struct sg_counts *counts)
{
    const struct sg_launch *l = m->group.launch;
    uint32_t groups[3], id[3];
    for (unsigned i = 0; i < 3; i++)
        groups[i] = (uint32_t)(((uint64_t)l->grid[i] + l->workgroup[i] - 1) / l->workgroup[i]);
    uint64_t number = 0;
    for (id[2] = 0; id[2] < groups[2]; id[2]++)
        for (id[1] = 0; id[1] < groups[1]; id[1]++)
            for (id[0] = 0; id[0] < groups[0]; id[0]++) {
                m->group.counts = &counts[number++ % SG_SHADER_ENGINES];
                if (!run_group(m, id))
                    return;
            }
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

static void run_guarded(struct sg_machine *m, struct sg_counts *counts)
{
    if (sigsetjmp(m->guard.env, 0)) {
        host_fault(m);
        sg_group_count(m);
        return;
    }
    sg_guard_arm(&m->guard);
    walk_groups(m, counts);
    sg_guard_arm(NULL);
}

int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    if (check_resources(launch, fault))
        return -1;
    sg_guard_install();
    struct sg_machine *m = machine_get();
    if (!m)
        return refuse(launch, fault, "no host memory for registers");
    const uint64_t wave_bytes = wave_scratch_bytes(launch);
    if (!machine_scratch(m, wave_bytes * SG_MAX_WAVES))
        return refuse(launch, fault, "no host memory for scratch");
    grant_vgprs(m, launch);
    m->group = (struct sg_group){
        .launch = launch,
        .lds = m->lds,
        .lds_bytes = (uint32_t)round_up(launch->group_segment_bytes, LDS_GRANULE),
        .scratch = wave_bytes ? m->scratch : NULL,
        .scratch_wave_bytes = wave_bytes,
    };
    for (unsigned i = 0; i < SG_MAX_WAVES; i++)
        m->wave[i].fault = fault;
    run_guarded(m, counts);
    sg_code_end(&m->code);
    return fault->kind == SG_FAULT_NONE ? 0 : -1;
}
