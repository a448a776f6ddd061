// SPDX-License-Identifier: MIT
// FLAT, GLOBAL and SCRATCH: their addresses, and their opcode tables.
// Source: "AMD Instinct MI200 Instruction Set Architecture", chapter "Flat Memory Instructions".
#include "softgpu/isa/memory.h"

#define NO_SADDR 0x7f

static uint64_t lane_address(const struct sg_wave *w, unsigned vaddr, unsigned lane)
{
    return (uint64_t)w->vgpr[vaddr + 1][lane] << 32 | w->vgpr[vaddr][lane];
}

static void lanes_begin(struct sg_lanes *lanes, const struct sg_wave *w, unsigned bytes)
{
    lanes->mask = sg_exec(w);
    lanes->writeback = 0;
    lanes->bytes = bytes;
    lanes->indivisible = false;
}

// Points `lane` at byte `offset` of its private memory.
static enum sg_step private_lane(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                                 unsigned lane, uint32_t offset)
{
    const uint64_t own_bytes = w->group->scratch_wave_bytes / SG_LANES;
    if ((uint64_t)offset + lanes->bytes <= own_bytes && sg_lanes_swizzle(lanes, lane, lane, offset))
        return SG_STEP_OK;
    return sg_wave_fault(w, inst, SG_FAULT_MEMORY, offset,
                         "private address 0x%x of %llu bytes per work-item, lane %u", offset,
                         (unsigned long long)own_bytes, lane);
}

static enum sg_step resolve_flat(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                                 unsigned bytes)
{
    const struct sg_launch *launch = w->group->launch;
    lanes_begin(lanes, w, bytes);
    sg_private_shape(w, sg_sgpr64(w, SG_SGPR_FLAT_SCRATCH), &lanes->shape);
    uint64_t in_lds = 0;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint64_t address = lane_address(w, inst->vaddr, lane) + (uint64_t)(int64_t)inst->simm;
        const uint32_t high = (uint32_t)(address >> 32), low = (uint32_t)address;
        lanes->ptr[lane] = (uint8_t *)(uintptr_t)address;
        if (high == launch->shared_aperture_hi) {
            if ((uint64_t)low + bytes > w->group->lds_bytes)
                return sg_wave_fault(w, inst, SG_FAULT_LDS, low, "LDS offset %u of %u bytes, lane %u", low,
                                     w->group->lds_bytes, (unsigned)lane);
            lanes->ptr[lane] = w->group->lds + low;
            in_lds |= UINT64_C(1) << lane;
        } else if (high == launch->private_aperture_hi) {
            const enum sg_step step = private_lane(w, inst, lanes, lane, low);
            if (step)
                return step;
        }
    }
    w->group->counts->flat_lds += in_lds && in_lds == lanes->mask;
    return sg_checks_access(w) ? sg_check_lanes(w, inst, lanes) : SG_STEP_OK;
}

static enum sg_step resolve_global(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                                   unsigned bytes)
{
    lanes_begin(lanes, w, bytes);
    const uint64_t offset = (uint64_t)(int64_t)inst->simm;
    if (inst->saddr == NO_SADDR) {
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            lanes->ptr[lane] = (uint8_t *)(uintptr_t)(lane_address(w, inst->vaddr, lane) + offset);
    } else {
        const uint64_t base = sg_sgpr64(w, inst->saddr) + offset;
        for (unsigned lane = 0; lane < SG_LANES; lane++)
            lanes->ptr[lane] = (uint8_t *)(uintptr_t)(base + w->vgpr[inst->vaddr][lane]);
    }
    return sg_checks_access(w) ? sg_check_lanes(w, inst, lanes) : SG_STEP_OK;
}

static enum sg_step resolve_scratch(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                                    unsigned bytes)
{
    lanes_begin(lanes, w, bytes);
    sg_private_shape(w, sg_sgpr64(w, SG_SGPR_FLAT_SCRATCH), &lanes->shape);
    const bool scalar = inst->saddr != NO_SADDR;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint32_t base = scalar ? w->sgpr[inst->saddr] : w->vgpr[inst->vaddr][lane];
        const enum sg_step step = private_lane(w, inst, lanes, lane, base + (uint32_t)inst->simm);
        if (step)
            return step;
    }
    return SG_STEP_OK;
}

static bool canonical(uint64_t address)
{
    const int64_t high = (int64_t)address >> 47;
    return high == 0 || high == -1;
}

// Lanes run in ascending order and a load may have replaced the address registers of those before the
// faulting one, so the highest odd address is the one that surely was used.
bool sg_memory_odd_address(const struct sg_wave *w, const struct sg_inst *inst, uint64_t *address)
{
    const uint64_t exec = sg_exec(w);
    const bool scalar = inst->info->encoding == SG_ENC_GLOBAL && inst->saddr != NO_SADDR;
    if (inst->info->encoding == SG_ENC_SMEM) {
        *address = sg_sgpr64(w, inst->src[0]);
        return true;
    }
    if (inst->info->encoding != SG_ENC_GLOBAL && inst->info->encoding != SG_ENC_FLAT)
        return false;
    for (int lane = SG_LANES - 1; lane >= 0; lane--) {
        *address = (uint64_t)(int64_t)inst->simm;
        *address += scalar ? sg_sgpr64(w, inst->saddr) + w->vgpr[inst->vaddr][lane]
                           : lane_address(w, inst->vaddr, (unsigned)lane);
        if (exec >> lane & 1 && !canonical(*address))
            return true;
    }
    return false;
}

// Do all 64 lanes of a global access have consecutive, aligned elements of `bytes`? Then where the first one is, else NULL.
static uint8_t *unit_stride(const struct sg_wave *w, const struct sg_inst *inst, uint32_t bytes)
{
    if (!inst->direct || inst->lds || sg_exec(w) != UINT64_MAX || sg_checks_access(w))
        return NULL;
    const uint32_t *low = w->vgpr[inst->vaddr], *high = w->vgpr[inst->vaddr + 1];
    const bool scalar = inst->saddr != NO_SADDR;
    uint32_t differ = 0;
    for (uint32_t lane = 0; lane < SG_LANES; lane++)
        differ |= low[lane] ^ (low[0] + bytes * lane);
    for (unsigned lane = 0; !scalar && lane < SG_LANES; lane++)
        differ |= high[lane] ^ high[0];
    if (differ || low[0] > UINT32_MAX - bytes * SG_LANES)
        return NULL;
    const uint64_t base = scalar ? sg_sgpr64(w, inst->saddr) + low[0] : lane_address(w, inst->vaddr, 0);
    const uint64_t address = base + (uint64_t)(int64_t)inst->simm;
    return address % sizeof(uint32_t) ? NULL : (uint8_t *)(uintptr_t)address;
}

// A vector of dwords that may lie at any dword. Each is written once, whole, unlike by memcpy, which may write a word
// twice: another thread may have written it in between.
typedef uint32_t dwords __attribute__((vector_size(64), aligned(4), may_alias));
#define VECTOR_LANES (sizeof(dwords) / sizeof(uint32_t))

static void copy_row(void *to, const void *from)
{
    for (unsigned i = 0; i < SG_LANES / VECTOR_LANES; i++)
        ((dwords *)to)[i] = ((const dwords *)from)[i];
}

static bool load_straight(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint8_t *from = inst->info->arg == SG_MEM_B32 ? unit_stride(w, inst, 4) : NULL;
    if (!from)
        return false;
    copy_row(w->vgpr[inst->vdst], from);
    return true;
}

static bool store_straight(struct sg_wave *w, const struct sg_inst *inst)
{
    uint8_t *to = inst->info->arg == SG_MEM_B32 ? unit_stride(w, inst, 4) : NULL;
    if (!to)
        return false;
    copy_row(to, w->vgpr[inst->vdata]);
    return true;
}

static enum sg_step finish_load(struct sg_wave *w, const struct sg_inst *inst, const struct sg_lanes *lanes)
{
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    if (inst->lds)
        return sg_lanes_load_lds(w, inst, lanes, kind);
    sg_lanes_load(w, lanes, inst->vdst, kind);
    return inst->glc ? sg_polled(w) : SG_STEP_OK;
}

static enum sg_step flat_load(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_step step = resolve_flat(w, inst, &lanes, sg_mem_bytes((enum sg_mem_kind)inst->info->arg));
    return step ? step : finish_load(w, inst, &lanes);
}

static enum sg_step flat_store(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    const enum sg_step step = resolve_flat(w, inst, &lanes, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

static enum sg_step flat_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_step step = resolve_flat(w, inst, &lanes, inst->info->arg & SG_ATOMIC_64 ? 8 : 4);
    if (step)
        return step;
    return sg_lanes_atomic(w, inst, &lanes, inst->vdata, inst->vdst, inst->info->arg, inst->glc);
}

static enum sg_step global_load(struct sg_wave *w, const struct sg_inst *inst)
{
    if (load_straight(w, inst))
        return inst->glc ? sg_polled(w) : SG_STEP_OK;
    struct sg_lanes lanes;
    const enum sg_step step =
        resolve_global(w, inst, &lanes, sg_mem_bytes((enum sg_mem_kind)inst->info->arg));
    return step ? step : finish_load(w, inst, &lanes);
}

static enum sg_step global_store(struct sg_wave *w, const struct sg_inst *inst)
{
    if (store_straight(w, inst))
        return SG_STEP_OK;
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    const enum sg_step step = resolve_global(w, inst, &lanes, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

static enum sg_step global_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_step step = resolve_global(w, inst, &lanes, inst->info->arg & SG_ATOMIC_64 ? 8 : 4);
    if (step)
        return step;
    return sg_lanes_atomic(w, inst, &lanes, inst->vdata, inst->vdst, inst->info->arg, inst->glc);
}

static enum sg_step scratch_load(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_step step =
        resolve_scratch(w, inst, &lanes, sg_mem_bytes((enum sg_mem_kind)inst->info->arg));
    return step ? step : finish_load(w, inst, &lanes);
}

static enum sg_step scratch_store(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    const enum sg_step step = resolve_scratch(w, inst, &lanes, sg_mem_bytes(kind));
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

#define RD SG_CLASS_FLAT_RD
#define WR SG_CLASS_FLAT_WR

static const struct sg_opinfo flat_rows[] = {
    SG_ROWS_PLAIN(SG_ENC_FLAT, RD, WR, "flat", 2, flat_load, flat_store),
    SG_ROWS_ATOMIC32(SG_ENC_FLAT, WR, "flat", 2, flat_atomic),
    SG_ROWS_ATOMIC_F64(SG_ENC_FLAT, WR, "flat", 2, flat_atomic),
    SG_ROWS_ATOMIC64(SG_ENC_FLAT, WR, "flat", 2, flat_atomic),
};

static const struct sg_opinfo global_rows[] = {
    SG_ROWS_PLAIN(SG_ENC_GLOBAL, RD, WR, "global", 2, global_load, global_store),
    SG_ROWS_ATOMIC32(SG_ENC_GLOBAL, WR, "global", 2, global_atomic),
    SG_ROWS_ATOMIC_F32(SG_ENC_GLOBAL, WR, "global", 2, global_atomic),
    SG_ROWS_ATOMIC_F64(SG_ENC_GLOBAL, WR, "global", 2, global_atomic),
    SG_ROWS_ATOMIC64(SG_ENC_GLOBAL, WR, "global", 2, global_atomic),
};

static const struct sg_opinfo scratch_rows[] = {
    SG_ROWS_PLAIN(SG_ENC_SCRATCH, RD, WR, "scratch", 1, scratch_load, scratch_store),
};

const struct sg_optable sg_table_flat = SG_TABLE(flat_rows);
const struct sg_optable sg_table_global = SG_TABLE(global_rows);
const struct sg_optable sg_table_scratch = SG_TABLE(scratch_rows);
