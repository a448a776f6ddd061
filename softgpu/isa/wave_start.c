// SPDX-License-Identifier: MIT
// Initial state of a wave on gfx90a: registers as the kernel descriptor asks for them.
// Source: LLVM "User Guide for AMDGPU Backend", Initial Kernel Execution State, Kernel Descriptor, Kernel
// Prolog; fields of the buffer resource: "AMD Instinct MI200 Instruction Set Architecture".
#include "softgpu/isa/machine.h"

// Kernel code properties. Bits 7..9 belong to the old amd_kernel_code_t; new descriptors have zeros there.
#define PROPERTY_PRIVATE_SEGMENT_BUFFER 0x001
#define PROPERTY_DISPATCH_PTR           0x002
#define PROPERTY_QUEUE_PTR              0x004
#define PROPERTY_KERNARG_SEGMENT_PTR    0x008
#define PROPERTY_DISPATCH_ID            0x010
#define PROPERTY_FLAT_SCRATCH_INIT      0x020
#define PROPERTY_PRIVATE_SEGMENT_SIZE   0x040
#define PROPERTY_GRID_WORKGROUP_COUNT_X 0x080

// COMPUTE_PGM_RSRC2.
#define RSRC2_PRIVATE_SEGMENT(r)  ((r)&1)
#define RSRC2_USER_SGPRS(r)       ((r) >> 1 & 0x1f)
#define RSRC2_WORKGROUP_ID(r, i)  ((r) >> (7 + (i)) & 1)
#define RSRC2_WORKGROUP_INFO(r)   ((r) >> 10 & 1)
#define RSRC2_VGPR_WORKITEM_ID(r) ((r) >> 11 & 3)
#define RSRC2_EXCEPTIONS(r)       ((r) >> 24 & 0x7f)

// COMPUTE_PGM_RSRC1.
#define RSRC1_FLOAT_MODE(r) ((r) >> 12 & 0xff)
#define RSRC1_DX10_CLAMP(r) ((r) >> 21 & 1)
#define RSRC1_IEEE_MODE(r)  ((r) >> 23 & 1)
#define RSRC1_FP16_OVFL(r)  ((r) >> 26 & 1)

#define MAX_USER_SGPRS 16

// STATUS.
#define STATUS_TRAP_EN (1u << 6)
#define STATUS_IN_TG   (1u << 11)
#define STATUS_VALID   (1u << 16)

// Registers are handed out in order; those past the sixteenth user SGPR are not initialised.
struct user_sgprs {
    uint32_t *sgpr;
    unsigned next;
};

static void give(struct user_sgprs *u, bool enabled, const void *value, unsigned dwords)
{
    if (!enabled)
        return;
    if (u->next + dwords <= MAX_USER_SGPRS)
        memcpy(&u->sgpr[u->next], value, 4 * (size_t)dwords);
    u->next += dwords;
}

// A buffer over the scratch of the group, dwords of 64 lanes interleaved, lane id added. The kernel adds its
// wave's offset to the base.
static void scratch_resource(const struct sg_group *group, uint32_t v[4])
{
    const uint64_t base = (uintptr_t)group->scratch;
    v[0] = (uint32_t)base;
    v[1] = (uint32_t)(base >> 32 & 0xffff) | 1u << 31;                        // swizzle enable, stride 0
    v[2] = (uint32_t)(group->scratch_wave_bytes * group->n_waves);            // num records: bytes
    v[3] = 4u | 5u << 3 | 6u << 6 | 7u << 9 | 4u << 12 | 3u << 21 | 1u << 23; // xyzw, uint, 64 lanes, add tid
}

static void start_sgprs(struct sg_wave *w)
{
    const struct sg_group *group = w->group;
    const struct sg_launch *l = group->launch;
    const unsigned p = l->properties;
    struct user_sgprs u = {.sgpr = w->sgpr};
    uint32_t resource[4];
    scratch_resource(group, resource);
    const uint64_t flat_scratch = (uintptr_t)group->scratch;
    give(&u, p & PROPERTY_PRIVATE_SEGMENT_BUFFER, resource, 4);
    give(&u, p & PROPERTY_DISPATCH_PTR, &l->dispatch_packet, 2);
    give(&u, p & PROPERTY_QUEUE_PTR, &l->queue, 2);
    give(&u, p & PROPERTY_KERNARG_SEGMENT_PTR, &l->kernarg, 2);
    give(&u, p & PROPERTY_DISPATCH_ID, &l->dispatch_id, 2);
    give(&u, p & PROPERTY_FLAT_SCRATCH_INIT, &flat_scratch, 2);
    give(&u, p & PROPERTY_PRIVATE_SEGMENT_SIZE, &l->private_segment_bytes, 1);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t groups = (uint32_t)(((uint64_t)l->grid[i] + l->workgroup[i] - 1) / l->workgroup[i]);
        give(&u, p & PROPERTY_GRID_WORKGROUP_COUNT_X << i, &groups, 1);
    }

    // System SGPRs follow the user SGPRs that the descriptor counts, whether or not all of these had a
    // meaning.
    unsigned next = RSRC2_USER_SGPRS(l->rsrc2);
    for (unsigned i = 0; i < 3; i++)
        if (RSRC2_WORKGROUP_ID(l->rsrc2, i))
            w->sgpr[next++] = group->id[i];
    if (RSRC2_WORKGROUP_INFO(l->rsrc2))
        w->sgpr[next++] = (w->wave_in_group == 0 ? 1u << 31 : 0) | group->n_waves;
    if (RSRC2_PRIVATE_SEGMENT(l->rsrc2))
        w->sgpr[next++] = (uint32_t)(group->scratch_wave_bytes * w->wave_in_group);
}

// Work-item ids and EXEC. How many ids are packed into v0 is what the descriptor asks for: code that needs
// only x uses v0 without a mask.
static void start_lanes(struct sg_wave *w, const uint32_t size[3])
{
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    const unsigned ids = RSRC2_VGPR_WORKITEM_ID(w->group->launch->rsrc2);
    const uint32_t first = w->wave_in_group * SG_LANES;
    const unsigned lanes = items - first < SG_LANES ? (unsigned)(items - first) : SG_LANES;
    for (unsigned lane = 0; lane < lanes; lane++) {
        const uint32_t item = first + lane;
        const uint32_t x = item % size[0], y = item / size[0] % size[1], z = item / size[0] / size[1];
        w->vgpr[0][lane] = x | (ids >= 1 ? y << 10 : 0) | (ids >= 2 ? z << 20 : 0);
    }
    sg_set_sgpr64(w, SG_SGPR_EXEC, lanes == SG_LANES ? UINT64_MAX : (UINT64_C(1) << lanes) - 1);
}

static uint32_t start_mode(const struct sg_launch *l)
{
    return RSRC1_FLOAT_MODE(l->rsrc1) | RSRC1_DX10_CLAMP(l->rsrc1) << 8 | RSRC1_IEEE_MODE(l->rsrc1) << 9 |
           RSRC2_EXCEPTIONS(l->rsrc2) << 12 | RSRC1_FP16_OVFL(l->rsrc1) << 23;
}

void sg_wave_start(struct sg_machine *machine, struct sg_resident *resident, unsigned index,
                   const uint32_t size[3])
{
    struct sg_wave *w = &resident->wave[index];
    memset(w, 0, sizeof *w);
    w->fault = &machine->fault;
    w->group = &resident->group;
    w->wave_in_group = index;
    w->vgpr = resident->vgpr + (size_t)index * SG_VGPR_ROWS;
    w->pc = machine->launch->entry;
    w->mode = start_mode(machine->launch);
    w->status = STATUS_VALID | STATUS_TRAP_EN | (resident->group.n_waves > 1 ? STATUS_IN_TG : 0);
    // Registers of hardware hold what the wave before left there; zeroes make runs repeatable.
    memset(w->vgpr, 0, machine->arch_vgprs * sizeof w->vgpr[0]);
    memset(w->vgpr + 256, 0, machine->acc_vgprs * sizeof w->vgpr[0]);
    start_sgprs(w);
    start_lanes(w, size);
}
