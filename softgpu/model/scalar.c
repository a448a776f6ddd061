// SPDX-License-Identifier: MIT
// Scalar data and instruction caches: 16 KiB and 32 KiB in four ways of 64-byte lines (AMD "Graphics Core Next
// Architecture" white paper; sizes as in ROCm's "GPU hardware specifications" for MI200). On MI200 two compute units share
// them; here each has its own. Stores and atomics of scalar memory go to the L2.
#include "softgpu/model/internal.h"

#define LINE_SHIFT  6
#define FETCH_SHIFT 5 // bytes of code that come at a time

// Where a scalar access goes; buffers are not checked against their range here.
static uint64_t address_of(const struct sg_wave *w, const struct sg_inst *inst)
{
    const bool buffer = strncmp(inst->info->mnemonic, "s_buffer", strlen("s_buffer")) == 0;
    const uint64_t base = sg_sgpr64(w, buffer ? inst->src[0] & ~1u : inst->src[0]);
    return (buffer ? base & UINT64_C(0xffffffffffff) : base) +
           (uint64_t)((int64_t)inst->simm + sg_scalar32(w, inst, inst->soffset));
}

static void count_width(struct sg_cu_detail *cu, unsigned bytes)
{
    unsigned index = 0;
    while (index < 4 && 4u << index < bytes)
        index++;
    cu->dcache_read[index]++;
}

static unsigned access_line(struct sg_model *m, struct sg_watched_group *g, enum sg_access access,
                            uint64_t host)
{
    struct sg_cu_detail *cu = g->cu;
    const uint64_t address = sg_frames_address(&m->frames, host);
    cu->dcache_req++;
    const bool hit = sg_tags_touch(&m->scalar[g->engine], address >> LINE_SHIFT, access == SG_ACCESS_READ);
    cu->dcache_hits += hit;
    if (hit && access == SG_ACCESS_READ)
        return SG_MODEL_SCALAR_LATENCY;
    cu->sqc_tc_read += access == SG_ACCESS_READ;
    cu->sqc_tc_write += access == SG_ACCESS_WRITE;
    cu->sqc_tc_atomic += access == SG_ACCESS_ATOMIC;
    const unsigned quarters = access == SG_ACCESS_READ ? 3 : 1u << (host >> 5 & 1);
    return SG_MODEL_SCALAR_LATENCY + sg_l2_access(m, address, access, quarters, false);
}

unsigned sg_model_scalar(struct sg_model *m, struct sg_watched_group *g, const struct sg_wave *w,
                         const struct sg_inst *inst, const struct sg_kind *kind)
{
    struct sg_cu_detail *cu = g->cu;
    if (!kind->bytes) { // time, cache control
        const bool invalidates = inst->info->opcode == 32 || inst->info->opcode == 34;
        if (invalidates)
            sg_tags_reset(&m->scalar[g->engine]);
        return SG_MODEL_SCALAR_LATENCY;
    }
    const enum sg_access access = (enum sg_access)kind->access;
    const uint64_t first = address_of(w, inst) & ~UINT64_C(3), last = first + kind->bytes - 1;
    unsigned slowest = 0;
    for (uint64_t line = first >> LINE_SHIFT; line <= last >> LINE_SHIFT; line++) {
        const uint64_t at = line << LINE_SHIFT;
        const unsigned latency = access_line(m, g, access, at > first ? at : first);
        slowest = latency > slowest ? latency : slowest;
    }
    cu->dcache_atomic += access == SG_ACCESS_ATOMIC;
    if (access == SG_ACCESS_READ)
        count_width(cu, kind->bytes);
    return slowest;
}

static unsigned fetch_one(struct sg_model *m, struct sg_watched_group *g, uint64_t host)
{
    struct sg_cu_detail *cu = g->cu;
    const uint64_t address = sg_frames_address(&m->frames, host);
    cu->icache_req++;
    if (sg_tags_touch(&m->code[g->engine], address >> LINE_SHIFT, true)) {
        cu->icache_hits++;
        cu->level_ifetch += SG_MODEL_FETCH_LATENCY;
        return 0; // fetched ahead
    }
    cu->sqc_tc_inst++;
    const unsigned latency = sg_l2_access(m, address, SG_ACCESS_READ, 3, false);
    cu->level_ifetch += SG_MODEL_FETCH_LATENCY + latency;
    return latency;
}

unsigned sg_model_fetch(struct sg_model *m, struct sg_watched_group *g, struct sg_wave_time *time,
                        uint64_t pc, unsigned bytes)
{
    unsigned wait = 0;
    for (uint64_t at = pc >> FETCH_SHIFT; at <= (pc + bytes - 1) >> FETCH_SHIFT; at++) {
        if (time->fetched == at + 1)
            continue;
        time->fetched = at + 1;
        wait += fetch_one(m, g, at << FETCH_SHIFT);
    }
    return wait;
}
