// SPDX-License-Identifier: MIT
// Addresses of the lanes of one memory instruction: swizzled buffers, pieces and bounce copies; and the plain
// loads and stores over resolved lanes. Source of the swizzle formula and the range rules: "AMD Instinct
// MI200 Instruction Set Architecture", chapter "Vector Memory Operations", sections on buffer addressing.
#include "softgpu/isa/memory.h"

static const uint8_t kind_bytes[SG_MEM_KINDS] = {
    [SG_MEM_U8] = 1,      [SG_MEM_I8] = 1,         [SG_MEM_U16] = 2,    [SG_MEM_I16] = 2,
    [SG_MEM_B32] = 4,     [SG_MEM_B64] = 8,        [SG_MEM_B96] = 12,   [SG_MEM_B128] = 16,
    [SG_MEM_U8_D16] = 1,  [SG_MEM_U8_D16_HI] = 1,  [SG_MEM_I8_D16] = 1, [SG_MEM_I8_D16_HI] = 1,
    [SG_MEM_B16_D16] = 2, [SG_MEM_B16_D16_HI] = 2,
};

unsigned sg_mem_bytes(enum sg_mem_kind kind)
{
    return kind_bytes[kind];
}

uint8_t *sg_swizzle_at(const struct sg_swizzle *shape, uint64_t index, uint64_t offset, unsigned bytes)
{
    if (shape->structured) {
        if (index >= shape->limit || (shape->index_stride && offset + bytes > shape->stride))
            return NULL;
    } else if (offset + shape->scalar + bytes > shape->limit) {
        return NULL;
    }
    if (!shape->index_stride)
        return shape->base + index * shape->stride + offset;
    const uint64_t row = index / shape->index_stride, column = index % shape->index_stride;
    const uint64_t element = offset / SG_ELEMENT_BYTES, byte = offset % SG_ELEMENT_BYTES;
    return shape->base + (row * shape->stride + element * SG_ELEMENT_BYTES) * shape->index_stride +
           column * SG_ELEMENT_BYTES + byte;
}

// Bytes of the element at `offset` that lie together and are range-checked together.
static unsigned piece_bytes(uint64_t offset, unsigned left)
{
    const unsigned piece = SG_ELEMENT_BYTES - (unsigned)(offset % SG_ELEMENT_BYTES);
    return piece < left ? piece : left;
}

static bool leaves_bounds(const struct sg_swizzle *shape, const uint8_t *p, unsigned bytes)
{
    return shape->floor && (p < shape->floor || p + bytes > shape->ceil);
}

bool sg_lanes_swizzle(struct sg_lanes *lanes, unsigned lane, uint32_t index, uint64_t offset)
{
    const bool one_piece = !lanes->shape.index_stride || piece_bytes(offset, lanes->bytes) == lanes->bytes;
    if (one_piece) {
        uint8_t *p = sg_swizzle_at(&lanes->shape, index, offset, lanes->bytes);
        if (p) {
            lanes->ptr[lane] = p;
            return !leaves_bounds(&lanes->shape, p, lanes->bytes);
        }
        if (lanes->bytes <= SG_ELEMENT_BYTES || lanes->indivisible) {
            sg_lanes_drop(lanes, lane);
            return true;
        }
    }
    lanes->index[lane] = index;
    lanes->offset[lane] = offset;
    lanes->ptr[lane] = lanes->bounce[lane];
    lanes->writeback |= UINT64_C(1) << lane;
    for (unsigned done = 0, n; done < lanes->bytes; done += n) {
        n = piece_bytes(offset + done, lanes->bytes - done);
        const uint8_t *p = sg_swizzle_at(&lanes->shape, index, offset + done, n);
        if (!p) {
            memset(lanes->bounce[lane] + done, 0, n);
            continue;
        }
        if (leaves_bounds(&lanes->shape, p, n))
            return false;
        memcpy(lanes->bounce[lane] + done, p, n);
    }
    return true;
}

void sg_lanes_drop(struct sg_lanes *lanes, unsigned lane)
{
    memset(lanes->bounce[lane], 0, sizeof lanes->bounce[lane]);
    lanes->ptr[lane] = lanes->bounce[lane];
}

void sg_lanes_finish(struct sg_lanes *lanes)
{
    SG_EACH_LANE(lane, lanes->writeback)
    {
        const uint64_t offset = lanes->offset[lane];
        for (unsigned done = 0, n; done < lanes->bytes; done += n) {
            n = piece_bytes(offset + done, lanes->bytes - done);
            uint8_t *p = sg_swizzle_at(&lanes->shape, lanes->index[lane], offset + done, n);
            if (p)
                memcpy(p, lanes->bounce[lane] + done, n);
        }
    }
}

void sg_private_shape(const struct sg_wave *w, uint64_t base, struct sg_swizzle *shape)
{
    const struct sg_group *group = w->group;
    uint8_t *own = group->scratch ? group->scratch + group->scratch_wave_bytes * w->wave_in_group : NULL;
    *shape = (struct sg_swizzle){
        .base = (uint8_t *)(uintptr_t)base,
        .limit = UINT64_MAX,
        .index_stride = SG_LANES,
        .floor = own,
        .ceil = own ? own + group->scratch_wave_bytes : NULL,
    };
}

// Do all 64 lanes have consecutive dwords? Loads of these are one copy. Stores never are: a copy may write a
// word twice, and another thread may have written it in between.
static bool consecutive(const struct sg_lanes *lanes)
{
    if (lanes->mask != UINT64_MAX)
        return false;
    const uintptr_t first = (uintptr_t)lanes->ptr[0];
    uintptr_t differ = 0;
    for (unsigned lane = 0; lane < SG_LANES; lane++)
        differ |= (uintptr_t)lanes->ptr[lane] ^ (first + 4 * (uintptr_t)lane);
    return !differ;
}

static uint32_t load16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return v;
}

static void load_dwords(struct sg_wave *w, const struct sg_lanes *lanes, unsigned dst, unsigned dwords)
{
    // Lane by lane: a lane before the one that faults has its whole element, those after it have nothing.
    SG_EACH_LANE(lane, lanes->mask)
    {
        uint32_t v[4];
        memcpy(v, lanes->ptr[lane], 4 * (size_t)dwords);
        for (unsigned d = 0; d < dwords; d++)
            w->vgpr[dst + d][lane] = v[d];
    }
}

void sg_lanes_load(struct sg_wave *w, const struct sg_lanes *lanes, unsigned dst, enum sg_mem_kind kind)
{
    uint32_t *row = w->vgpr[dst];
    switch (kind) {
    case SG_MEM_U8:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = *lanes->ptr[lane];
        return;
    case SG_MEM_I8:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (uint32_t)(int8_t)*lanes->ptr[lane];
        return;
    case SG_MEM_U16:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = load16(lanes->ptr[lane]);
        return;
    case SG_MEM_I16:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (uint32_t)(int16_t)load16(lanes->ptr[lane]);
        return;
    case SG_MEM_B32:
        if (consecutive(lanes)) {
            memcpy(row, lanes->ptr[0], 4 * SG_LANES);
            return;
        }
        SG_EACH_LANE(lane, lanes->mask) memcpy(&row[lane], lanes->ptr[lane], 4);
        return;
    case SG_MEM_B64:
        load_dwords(w, lanes, dst, 2);
        return;
    case SG_MEM_B96:
        load_dwords(w, lanes, dst, 3);
        return;
    case SG_MEM_B128:
        load_dwords(w, lanes, dst, 4);
        return;
    case SG_MEM_U8_D16:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (row[lane] & 0xffff0000u) | *lanes->ptr[lane];
        return;
    case SG_MEM_U8_D16_HI:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (row[lane] & 0xffffu) | (uint32_t)*lanes->ptr[lane] << 16;
        return;
    case SG_MEM_I8_D16:
        SG_EACH_LANE(lane, lanes->mask)
        row[lane] = (row[lane] & 0xffff0000u) | (uint16_t)(int8_t)*lanes->ptr[lane];
        return;
    case SG_MEM_I8_D16_HI:
        SG_EACH_LANE(lane, lanes->mask)
        row[lane] = (row[lane] & 0xffffu) | (uint32_t)(uint16_t)(int8_t)*lanes->ptr[lane] << 16;
        return;
    case SG_MEM_B16_D16:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (row[lane] & 0xffff0000u) | load16(lanes->ptr[lane]);
        return;
    case SG_MEM_B16_D16_HI:
        SG_EACH_LANE(lane, lanes->mask) row[lane] = (row[lane] & 0xffffu) | load16(lanes->ptr[lane]) << 16;
        return;
    case SG_MEM_KINDS:
        return;
    }
}

static void store_dwords(const struct sg_wave *w, const struct sg_lanes *lanes, unsigned src, unsigned dwords)
{
    SG_EACH_LANE(lane, lanes->mask)
    {
        uint32_t v[4] = {0};
        for (unsigned d = 0; d < dwords; d++)
            v[d] = w->vgpr[src + d][lane];
        memcpy(lanes->ptr[lane], v, 4 * (size_t)dwords);
    }
}

// Stores `bytes` (1 or 2) of the register from bit `shift` on.
static void store_part(const uint32_t *row, const struct sg_lanes *lanes, unsigned bytes, unsigned shift)
{
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint16_t v = (uint16_t)(row[lane] >> shift);
        if (bytes == 1)
            *lanes->ptr[lane] = (uint8_t)v;
        else
            memcpy(lanes->ptr[lane], &v, 2);
    }
}

void sg_lanes_store(const struct sg_wave *w, struct sg_lanes *lanes, unsigned src, enum sg_mem_kind kind)
{
    const uint32_t *row = w->vgpr[src];
    switch (kind) {
    case SG_MEM_B32:
        SG_EACH_LANE(lane, lanes->mask) memcpy(lanes->ptr[lane], &row[lane], 4);
        break;
    case SG_MEM_B64:
        store_dwords(w, lanes, src, 2);
        break;
    case SG_MEM_B96:
        store_dwords(w, lanes, src, 3);
        break;
    case SG_MEM_B128:
        store_dwords(w, lanes, src, 4);
        break;
    case SG_MEM_U8_D16_HI:
    case SG_MEM_B16_D16_HI:
        store_part(row, lanes, kind_bytes[kind], 16);
        break;
    default:
        store_part(row, lanes, kind_bytes[kind], 0);
        break;
    }
    sg_lanes_finish(lanes);
}

enum sg_step sg_lanes_load_lds(struct sg_wave *w, const struct sg_inst *inst, const struct sg_lanes *lanes,
                               enum sg_mem_kind kind)
{
    const uint32_t base = (w->sgpr[SG_SGPR_M0] & 0xffff) + (uint32_t)inst->simm;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint32_t at = base + 4 * (uint32_t)lane;
        uint32_t v = 0;
        if (kind == SG_MEM_I8)
            v = (uint32_t)(int8_t)*lanes->ptr[lane];
        else if (kind == SG_MEM_I16)
            v = (uint32_t)(int16_t)load16(lanes->ptr[lane]);
        else
            memcpy(&v, lanes->ptr[lane], kind_bytes[kind]);
        if ((uint64_t)at + 4 > w->group->lds_bytes)
            return sg_wave_fault(w, inst, SG_FAULT_LDS, at, "data for LDS offset %u of %u", at,
                                 w->group->lds_bytes);
        memcpy(w->group->lds + at, &v, 4);
    }
    return SG_STEP_OK;
}
