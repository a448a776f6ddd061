// SPDX-License-Identifier: MIT
// Vector memory: texture addresser, L1, requests to the L2. The L1 of a compute unit has 16 KiB in lines of 64 bytes
// (ROCm Compute Profiler documentation, "Vector L1 cache"; four ways: AMD "Graphics Core Next Architecture" white paper).
// 16 lanes go together, a line a cycle; four neighbouring lanes make one access for each line that they touch. Loads with
// glc and atomics pass the L1 by; stores go through to the L2 and leave the L1 without their line. Images are counted as
// instructions only.
#include "softgpu/model/internal.h"

#define LINE_SHIFT      6
#define NO_SADDR        0x7f
#define LANES_TOGETHER  16
#define LANES_OF_ACCESS 4
#define PIECE           4 // bytes of an element that lie together wherever it is

// Bytes [address, address + PIECE or fewer) of the lanes that touch memory, one row for each piece of their elements.
struct touched {
    uint64_t mask; // lanes
    unsigned pieces;
    uint64_t address[4][SG_LANES];
};

static uint64_t global_address(const struct sg_wave *w, const struct sg_inst *inst, unsigned lane)
{
    const uint64_t offset = (uint64_t)(int64_t)inst->simm;
    if (inst->info->encoding == SG_ENC_GLOBAL && inst->saddr != NO_SADDR)
        return sg_sgpr64(w, inst->saddr) + w->vgpr[inst->vaddr][lane] + offset;
    return ((uint64_t)w->vgpr[inst->vaddr + 1][lane] << 32 | w->vgpr[inst->vaddr][lane]) + offset;
}

// The pieces of a lane's private memory. False when they are beyond it, which is for the instruction to say.
static bool touch_private(const struct sg_wave *w, struct touched *t, unsigned lane, uint32_t offset,
                          unsigned bytes)
{
    struct sg_swizzle shape;
    if ((uint64_t)offset + bytes > w->group->scratch_wave_bytes / SG_LANES)
        return false;
    sg_private_shape(w, sg_sgpr64(w, SG_SGPR_FLAT_SCRATCH), &shape);
    for (unsigned i = 0; i < t->pieces; i++)
        t->address[i][lane] = (uintptr_t)sg_swizzle_at(&shape, lane, offset + PIECE * i, 1);
    return true;
}

static bool touch_lane(const struct sg_wave *w, const struct sg_inst *inst, struct touched *t, unsigned lane,
                       unsigned bytes)
{
    const struct sg_launch *launch = w->group->launch;
    if (inst->info->encoding == SG_ENC_SCRATCH) {
        const uint32_t base = inst->saddr != NO_SADDR ? w->sgpr[inst->saddr] : w->vgpr[inst->vaddr][lane];
        return touch_private(w, t, lane, base + (uint32_t)inst->simm, bytes);
    }
    const uint64_t address = global_address(w, inst, lane);
    if (inst->info->encoding == SG_ENC_FLAT && address >> 32 == launch->shared_aperture_hi)
        return false;
    if (inst->info->encoding == SG_ENC_FLAT && address >> 32 == launch->private_aperture_hi)
        return touch_private(w, t, lane, (uint32_t)address, bytes);
    for (unsigned i = 0; i < t->pieces; i++)
        t->address[i][lane] = address + PIECE * i;
    return true;
}

static void touch_flat(const struct sg_wave *w, const struct sg_inst *inst, struct touched *t, unsigned bytes)
{
    SG_EACH_LANE(lane, sg_exec(w))
    {
        if (touch_lane(w, inst, t, (unsigned)lane, bytes))
            t->mask |= UINT64_C(1) << lane;
    }
}

// Elements out of range have no address.
static void touch_buffer(struct sg_wave *w, const struct sg_inst *inst, struct touched *t, unsigned bytes)
{
    struct sg_lanes lanes;
    if (sg_buffer_lanes(w, inst, &lanes, bytes))
        return;
    SG_EACH_LANE(lane, lanes.mask)
    {
        const bool apart = lanes.writeback >> lane & 1;
        if (!apart && lanes.ptr[lane] == lanes.bounce[lane])
            continue;
        for (unsigned i = 0; i < t->pieces; i++) {
            const uint8_t *p = lanes.ptr[lane] + (size_t)PIECE * i;
            if (apart)
                p = sg_swizzle_at(&lanes.shape, lanes.index[lane], lanes.offset[lane] + PIECE * i, 1);
            t->address[i][lane] = (uintptr_t)p;
        }
        t->mask |= UINT64_C(1) << lane;
    }
}

// Lines that the pieces of lanes [first, first + n) touch, each once, and which quarters of 32 bytes.
struct lines {
    unsigned n;
    uint64_t line[4 * LANES_TOGETHER];
    uint8_t quarters[4 * LANES_TOGETHER];
};

static void add_line(struct lines *lines, uint64_t address)
{
    const uint64_t line = address >> LINE_SHIFT;
    unsigned i = lines->n;
    while (i > 0 && lines->line[i - 1] != line)
        i--;
    if (i == 0) {
        i = ++lines->n;
        lines->line[i - 1] = line;
        lines->quarters[i - 1] = 0;
    }
    lines->quarters[i - 1] |= (uint8_t)(1 << (address >> 5 & 1));
}

static void collect_lines(const struct touched *t, unsigned first, unsigned n, struct lines *lines)
{
    lines->n = 0;
    for (unsigned lane = first; lane < first + n; lane++)
        for (unsigned i = 0; t->mask >> lane & 1 && i < t->pieces; i++)
            if (t->address[i][lane])
                add_line(lines, t->address[i][lane]);
}

// Four lanes at a time.
static unsigned count_accesses(const struct touched *t)
{
    unsigned accesses = 0;
    struct lines lines;
    for (unsigned first = 0; first < SG_LANES; first += LANES_OF_ACCESS) {
        if (!(t->mask >> first & ((1u << LANES_OF_ACCESS) - 1)))
            continue;
        collect_lines(t, first, LANES_OF_ACCESS, &lines);
        accesses += lines.n;
    }
    return accesses;
}

// One line through the L1 and, if need be, the L2. Returns the latency.
static unsigned access_line(struct sg_model *m, struct sg_watched_group *g, const struct sg_inst *inst,
                            enum sg_access access, uint64_t host, unsigned quarters)
{
    struct sg_cu_detail *cu = g->cu;
    const uint64_t address = sg_frames_address(&m->frames, host);
    const bool cached = access == SG_ACCESS_READ && !inst->glc;
    if (sg_tags_touch(&m->l1[g->engine], address >> LINE_SHIFT, cached) && cached)
        return SG_MODEL_L1_LATENCY;
    const unsigned latency = sg_l2_access(m, address, access, quarters, inst->slc);
    cu->tcc_requests[access]++;
    if (access == SG_ACCESS_READ || access == SG_ACCESS_ATOMIC_RETURN)
        cu->tcc_read_latency += latency;
    else
        cu->tcc_write_latency += latency;
    return SG_MODEL_L1_LATENCY + latency;
}

static void count_coalesced(struct sg_cu_detail *cu, const struct sg_inst *inst, enum sg_access access,
                            unsigned lines)
{
    if (inst->info->encoding == SG_ENC_FLAT || inst->info->encoding == SG_ENC_GLOBAL ||
        inst->info->encoding == SG_ENC_SCRATCH)
        return;
    cu->ta_buffer_cycles += lines;
    cu->ta_coalesced_read += access == SG_ACCESS_READ && lines == 1;
    cu->ta_coalesced_write += access == SG_ACCESS_WRITE && lines == 1;
}

static unsigned access_memory(struct sg_model *m, struct sg_watched_group *g, const struct sg_inst *inst,
                              enum sg_access access, const struct touched *t)
{
    struct sg_cu_detail *cu = g->cu;
    unsigned slowest = 0, cycles = 0;
    bool coalescable = true;
    struct lines lines;
    for (unsigned first = 0; first < SG_LANES; first += LANES_TOGETHER) {
        collect_lines(t, first, LANES_TOGETHER, &lines);
        if (!lines.n)
            continue;
        coalescable &= lines.n == 1;
        cycles += lines.n;
        count_coalesced(cu, inst, access, lines.n);
        for (unsigned i = 0; i < lines.n; i++) {
            const unsigned latency =
                access_line(m, g, inst, access, lines.line[i] << LINE_SHIFT, lines.quarters[i]);
            slowest = latency > slowest ? latency : slowest;
        }
    }
    cu->tcp_accesses[access] += count_accesses(t);
    cu->tcp_lines += cycles;
    cu->td_coalescable += coalescable && cycles;
    cu->ta_cycles += cycles > SG_MODEL_ISSUE ? cycles : SG_MODEL_ISSUE;
    return slowest + cycles;
}

static void count_wavefront(struct sg_cu_detail *cu, const struct sg_inst *inst, enum sg_port port,
                            enum sg_access access)
{
    if (port == SG_PORT_FLAT)
        cu->ta_flat[access]++;
    else if (inst->info->encoding != SG_ENC_MIMG)
        cu->ta_buffer[access]++;
    cu->td[access]++;
}

// An image instruction or cache control: no addresses.
static unsigned without_element(struct sg_cu_detail *cu, const struct sg_inst *inst)
{
    cu->ta_cycles += SG_MODEL_ISSUE;
    if (inst->info->encoding == SG_ENC_MIMG) {
        const bool load = inst->info->klass == SG_CLASS_VMEM_RD;
        count_wavefront(cu, inst, SG_PORT_VMEM, load ? SG_ACCESS_READ : SG_ACCESS_WRITE);
    } else {
        cu->tcp_invalidates += inst->info->opcode >= 61; // buffer_wbinvl1 and its volatile form
    }
    return SG_MODEL_L1_LATENCY;
}

unsigned sg_model_vector(struct sg_model *m, struct sg_watched_group *g, struct sg_wave *w,
                         const struct sg_inst *inst, const struct sg_kind *kind)
{
    struct sg_cu_detail *cu = g->cu;
    if (!kind->bytes) {
        if (inst->info->encoding != SG_ENC_MIMG && inst->info->opcode >= 61)
            sg_tags_reset(&m->l1[g->engine]);
        return without_element(cu, inst);
    }
    const bool returns = kind->access == SG_ACCESS_ATOMIC && inst->glc;
    const enum sg_access access = returns ? SG_ACCESS_ATOMIC_RETURN : (enum sg_access)kind->access;
    struct touched t = {.pieces = (kind->bytes + PIECE - 1) / PIECE};
    if (kind->port == SG_PORT_FLAT)
        touch_flat(w, inst, &t, kind->bytes);
    else
        touch_buffer(w, inst, &t, kind->bytes);
    if (!t.mask) {
        cu->ta_cycles += SG_MODEL_ISSUE;
        return SG_MODEL_L1_LATENCY;
    }
    count_wavefront(cu, inst, (enum sg_port)kind->port, access);
    const unsigned latency = access_memory(m, g, inst, access, &t);
    cu->tcp_states++;
    cu->tcp_latency += latency;
    return latency;
}
