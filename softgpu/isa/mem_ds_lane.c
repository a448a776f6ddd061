// SPDX-License-Identifier: MIT
// DS instructions that move data between lanes, and the append/consume counters in LDS.
// Source: "AMD Instinct MI200 Instruction Set Architecture", DS instruction list (ds_swizzle_b32,
// ds_permute_b32, ds_append).
#include "softgpu/isa/mem_ds.h"

enum sg_step sg_ds_nop(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w, (void)inst;
    return SG_STEP_OK;
}

// Lane that `lane` reads from, by the pattern in the 16-bit offset.
static unsigned swizzle_source(unsigned pattern, unsigned lane)
{
    if (pattern >= 0xe000) { // FFT: the five lane bits reversed; offset[4:0] are bits that stay
        const unsigned keep = pattern & 0x1f;
        unsigned reversed = 0;
        for (unsigned bit = 0; bit < 5; bit++)
            reversed |= (lane >> bit & 1) << (4 - bit);
        return (lane & 32) | (reversed >> __builtin_popcount(keep)) | (lane & keep);
    }
    if (pattern >= 0xc000) { // rotate by offset[9:5]; offset[4:0] are bits kept; offset[10] is the direction
        const unsigned rotate = pattern & 0x400 ? -(pattern >> 5) & 0x1f : pattern >> 5 & 0x1f;
        const unsigned keep = pattern & 0x1f;
        return (lane & 32) | (lane & keep) | ((lane + rotate) & ~keep & 0x1f);
    }
    if (pattern & 0x8000) // any permutation within quads
        return (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
    const unsigned and_mask = pattern & 0x1f, or_mask = pattern >> 5 & 0x1f, xor_mask = pattern >> 10 & 0x1f;
    return (lane & 32) | (((lane & and_mask) | or_mask) ^ xor_mask);
}

enum sg_step sg_ds_swizzle(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    uint32_t in[SG_LANES];
    memcpy(in, w->vgpr[inst->vaddr], sizeof in);
    SG_EACH_LANE(lane, exec)
    {
        const unsigned from = swizzle_source((unsigned)inst->simm & 0xffff, lane);
        w->vgpr[inst->vdst][lane] = exec >> from & 1 ? in[from] : 0;
    }
    return SG_STEP_OK;
}

// Active lanes send data to the lane that their address names; the highest sender wins; who gets nothing has
// 0.
enum sg_step sg_ds_permute(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    const uint32_t *address = w->vgpr[inst->vaddr], *data = w->vgpr[inst->vdata];
    uint32_t out[SG_LANES] = {0};
    SG_EACH_LANE(lane, exec) out[(address[lane] + (uint32_t)inst->simm) / 4 % SG_LANES] = data[lane];
    SG_EACH_LANE(lane, exec) w->vgpr[inst->vdst][lane] = out[lane];
    return SG_STEP_OK;
}

// Active lanes fetch from the lane that their address names; an inactive source gives 0.
enum sg_step sg_ds_bpermute(struct sg_wave *w, const struct sg_inst *inst)
{
    const uint64_t exec = sg_exec(w);
    const uint32_t *address = w->vgpr[inst->vaddr], *data = w->vgpr[inst->vdata];
    uint32_t out[SG_LANES] = {0};
    SG_EACH_LANE(lane, exec)
    {
        const uint32_t from = (address[lane] + (uint32_t)inst->simm) / 4 % SG_LANES;
        out[lane] = exec >> from & 1 ? data[from] : 0;
    }
    SG_EACH_LANE(lane, exec) w->vgpr[inst->vdst][lane] = out[lane];
    return SG_STEP_OK;
}

// One counter for the wave: moved by the number of active lanes; all lanes get the old value. M0 holds the address in
// LDS, as LLVM's selection of llvm.amdgcn.ds.append and .consume does it; the guides name M0 for global data share only.
static enum sg_step move_counter(struct sg_wave *w, const struct sg_inst *inst, int direction)
{
    if (inst->gds)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "global data share is not implemented");
    const uint64_t exec = sg_exec(w);
    const uint32_t at = (w->sgpr[SG_SGPR_M0] & 0xffff) + (uint32_t)inst->simm;
    uint32_t old = 0;
    if ((uint64_t)at + 4 <= w->group->lds_bytes) {
        memcpy(&old, w->group->lds + at, 4);
        const uint32_t now = old + (uint32_t)(direction * __builtin_popcountll(exec));
        memcpy(w->group->lds + at, &now, 4);
    }
    SG_EACH_LANE(lane, exec) w->vgpr[inst->vdst][lane] = old;
    return SG_STEP_OK;
}

enum sg_step sg_ds_append(struct sg_wave *w, const struct sg_inst *inst)
{
    return move_counter(w, inst, 1);
}

enum sg_step sg_ds_consume(struct sg_wave *w, const struct sg_inst *inst)
{
    return move_counter(w, inst, -1);
}
