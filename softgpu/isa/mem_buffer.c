// SPDX-License-Identifier: MIT
// MUBUF and MTBUF: addresses through a buffer resource (V#), and their opcode tables. Compilers reach scratch
// this way: a swizzled V# with the lane id added to the index. Textures of linear memory use typed formats. Source:
// "AMD Instinct MI200 Instruction Set Architecture", chapter "Vector Memory Operations", buffer resource and
// buffer addressing. Elements of swizzled buffers have 4 bytes on this generation.
#include "softgpu/isa/fp.h"
#include "softgpu/isa/memory.h"
#include "softgpu/isa/texel.h"

// Fields of a V#.
static uint64_t v_base(const uint32_t *v)
{
    return (uint64_t)(v[1] & 0xffff) << 32 | v[0];
}

static bool v_add_tid(const uint32_t *v)
{
    return v[3] >> 23 & 1;
}

// With the lane id added the data format field holds four more bits of the stride.
static uint32_t v_stride(const uint32_t *v)
{
    const uint32_t stride = v[1] >> 16 & 0x3fff;
    return v_add_tid(v) ? stride | (v[3] >> 15 & 0xf) << 14 : stride;
}

static bool v_swizzle(const uint32_t *v)
{
    return v[1] >> 31;
}

static uint32_t v_index_stride(const uint32_t *v)
{
    return 8u << (v[3] >> 21 & 3);
}

static enum sg_step resolve(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                            unsigned bytes, bool indivisible)
{
    const uint32_t *v = &w->sgpr[inst->saddr];
    const uint32_t scalar = sg_scalar32(w, inst, inst->soffset);
    const bool swizzle = v_swizzle(v), add_tid = v_add_tid(v);
    uint8_t *base = (uint8_t *)(uintptr_t)(v_base(v) + scalar);
    lanes->mask = sg_exec(w);
    lanes->writeback = 0;
    lanes->bytes = bytes;
    lanes->indivisible = indivisible;
    if (swizzle && add_tid) // may be this wave's scratch, which it must not leave
        sg_private_shape(w, 0, &lanes->shape);
    else
        lanes->shape = (struct sg_swizzle){0};
    const uint8_t *v_start = (uint8_t *)(uintptr_t)v_base(v);
    if (v_start < lanes->shape.floor || v_start >= lanes->shape.ceil)
        lanes->shape.floor = NULL;
    lanes->shape.base = base;
    lanes->shape.stride = v_stride(v);
    lanes->shape.index_stride = swizzle ? v_index_stride(v) : 0;
    lanes->shape.structured = v_stride(v) && (inst->idxen || add_tid);
    lanes->shape.limit =
        lanes->shape.floor ? UINT64_MAX : v[2]; // a stack that overflows is a fault, not a zero
    lanes->shape.scalar = scalar;
    const uint32_t *index_row = inst->idxen ? w->vgpr[inst->vaddr] : NULL;
    const uint32_t *offset_row = inst->offen ? w->vgpr[inst->vaddr + (inst->idxen ? 1 : 0)] : NULL;
    SG_EACH_LANE(lane, lanes->mask)
    {
        const uint32_t index = (index_row ? index_row[lane] : 0) + (add_tid ? (uint32_t)lane : 0);
        const uint64_t offset = (uint64_t)(uint32_t)inst->simm + (offset_row ? offset_row[lane] : 0);
        if (!sg_lanes_swizzle(lanes, lane, index, offset))
            return sg_wave_fault(
                w, inst, SG_FAULT_MEMORY, offset,
                "scratch offset 0x%llx (scalar 0x%x) leaves the wave's private memory, lane %u",
                (unsigned long long)offset, scalar, (unsigned)lane);
    }
    return sg_checks_access(w) ? sg_check_lanes(w, inst, lanes) : SG_STEP_OK;
}

enum sg_step sg_buffer_lanes(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                             unsigned bytes)
{
    return resolve(w, inst, lanes, bytes, false);
}

static enum sg_step buffer_load(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    const enum sg_step step = resolve(w, inst, &lanes, sg_mem_bytes(kind), false);
    if (step)
        return step;
    if (inst->lds)
        return sg_lanes_load_lds(w, inst, &lanes, kind);
    sg_lanes_load(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

static enum sg_step buffer_store(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_mem_kind kind = (enum sg_mem_kind)inst->info->arg;
    const enum sg_step step = resolve(w, inst, &lanes, sg_mem_bytes(kind), false);
    if (step)
        return step;
    sg_lanes_store(w, &lanes, inst->vdata, kind);
    return SG_STEP_OK;
}

// The old value comes back in the data registers.
static enum sg_step buffer_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    struct sg_lanes lanes;
    const enum sg_step step = resolve(w, inst, &lanes, inst->info->arg & SG_ATOMIC_64 ? 8 : 4, true);
    if (step)
        return step;
    return sg_lanes_atomic(w, inst, &lanes, inst->vdata, inst->vdata, inst->info->arg, inst->glc);
}

// Format of a typed access: MTBUF has it in the instruction, MUBUF in the resource.
static enum sg_step element_format(struct sg_wave *w, const struct sg_inst *inst,
                                   struct sg_texel_format *format)
{
    const uint32_t *v = &w->sgpr[inst->saddr];
    const bool own = inst->info->encoding == SG_ENC_MTBUF;
    const unsigned data = own ? inst->words[0] >> 19 & 15 : v[3] >> 15 & 15;
    const unsigned number = own ? inst->words[0] >> 23 & 7 : v[3] >> 12 & 7;
    *format = sg_texel_format(data, number);
    if (format->components)
        return SG_STEP_OK;
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "buffer format %u/%u is not implemented", data,
                         number);
}

// arg of typed accesses: components, or'ed with these for 16-bit data, two to a register, and for one in the upper half.
#define HALF_DATA  0x10
#define HIGH_DATA  0x20
#define COMPONENTS 0x0f

// Components that the resource selects, in the order that memory has them when the instruction brings the format.
static unsigned selectors_of(const struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned identity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    return inst->info->encoding == SG_ENC_MTBUF ? identity : w->sgpr[inst->saddr + 3] & 0xfff;
}

static uint32_t to_half(struct sg_texel_format format, uint32_t v)
{
    float f;
    memcpy(&f, &v, sizeof f);
    return sg_texel_is_integer(format) ? v & 0xffff : sg_f16_from_f32_rne(f);
}

static uint32_t from_half(struct sg_texel_format format, uint32_t v)
{
    if (format.number == SG_TEXEL_UINT)
        return v;
    if (format.number == SG_TEXEL_SINT)
        return (uint32_t)(int16_t)v;
    const float f = sg_f32_from_f16(v);
    memcpy(&v, &f, sizeof v);
    return v;
}

// Outside of the buffer all components are 0. Halves of registers that get nothing stay.
static enum sg_step typed_load(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned n = inst->info->arg & COMPONENTS, selectors = selectors_of(w, inst);
    const bool half = inst->info->arg & HALF_DATA, high = inst->info->arg & HIGH_DATA;
    struct sg_texel_format format;
    struct sg_lanes lanes;
    enum sg_step step = element_format(w, inst, &format);
    if (!step)
        step = resolve(w, inst, &lanes, format.bytes, true);
    if (step)
        return step;
    SG_EACH_LANE(lane, lanes.mask)
    {
        uint32_t texel[4];
        sg_texel_read(format, lanes.ptr[lane], texel);
        for (unsigned i = 0; i < n; i++) {
            const uint32_t v = sg_texel_select(selectors, i, texel, sg_texel_one(format));
            uint32_t *to = &w->vgpr[inst->vdata + (half ? i / 2 : i)][lane];
            if (!half)
                *to = v;
            else
                *to = i % 2 || high ? (*to & 0xffff) | to_half(format, v) << 16
                                    : (*to & 0xffff0000u) | to_half(format, v);
        }
    }
    return SG_STEP_OK;
}

static enum sg_step typed_store(struct sg_wave *w, const struct sg_inst *inst)
{
    const unsigned n = inst->info->arg & COMPONENTS, selectors = selectors_of(w, inst);
    const bool half = inst->info->arg & HALF_DATA, high = inst->info->arg & HIGH_DATA;
    struct sg_texel_format format;
    struct sg_lanes lanes;
    enum sg_step step = element_format(w, inst, &format);
    if (!step)
        step = resolve(w, inst, &lanes, format.bytes, true);
    if (step)
        return step;
    SG_EACH_LANE(lane, lanes.mask)
    {
        uint32_t shader[4] = {0}, texel[4];
        for (unsigned i = 0; i < n; i++) {
            const uint32_t v = w->vgpr[inst->vdata + (half ? i / 2 : i)][lane];
            shader[i] = half ? from_half(format, v >> (i % 2 || high ? 16 : 0) & 0xffff) : v;
        }
        sg_texel_unselect(selectors, shader, texel);
        sg_texel_write(format, lanes.ptr[lane], texel);
    }
    sg_lanes_finish(&lanes);
    return SG_STEP_OK;
}

// Cache control: there are no caches to write back or invalidate.
static enum sg_step buffer_cache(struct sg_wave *w, const struct sg_inst *inst)
{
    (void)w, (void)inst;
    return SG_STEP_OK;
}

#define RD SG_CLASS_VMEM_RD
#define WR SG_CLASS_VMEM_WR
#define FORMATS(enc, p)                                                                                      \
    SG_MEM_ROW(enc, RD, 0, p "_load_format_x", typed_load, 1, 1, 0, 1),                                      \
        SG_MEM_ROW(enc, RD, 1, p "_load_format_xy", typed_load, 2, 1, 0, 2),                                 \
        SG_MEM_ROW(enc, RD, 2, p "_load_format_xyz", typed_load, 3, 1, 0, 3),                                \
        SG_MEM_ROW(enc, RD, 3, p "_load_format_xyzw", typed_load, 4, 1, 0, 4),                               \
        SG_MEM_ROW(enc, WR, 4, p "_store_format_x", typed_store, 0, 1, 1, 1),                                \
        SG_MEM_ROW(enc, WR, 5, p "_store_format_xy", typed_store, 0, 1, 2, 2),                               \
        SG_MEM_ROW(enc, WR, 6, p "_store_format_xyz", typed_store, 0, 1, 3, 3),                              \
        SG_MEM_ROW(enc, WR, 7, p "_store_format_xyzw", typed_store, 0, 1, 4, 4),                             \
        SG_MEM_ROW(enc, RD, 8, p "_load_format_d16_x", typed_load, 1, 1, 0, 1 | HALF_DATA),                  \
        SG_MEM_ROW(enc, RD, 9, p "_load_format_d16_xy", typed_load, 1, 1, 0, 2 | HALF_DATA),                 \
        SG_MEM_ROW(enc, RD, 10, p "_load_format_d16_xyz", typed_load, 2, 1, 0, 3 | HALF_DATA),               \
        SG_MEM_ROW(enc, RD, 11, p "_load_format_d16_xyzw", typed_load, 2, 1, 0, 4 | HALF_DATA),              \
        SG_MEM_ROW(enc, WR, 12, p "_store_format_d16_x", typed_store, 0, 1, 1, 1 | HALF_DATA),               \
        SG_MEM_ROW(enc, WR, 13, p "_store_format_d16_xy", typed_store, 0, 1, 1, 2 | HALF_DATA),              \
        SG_MEM_ROW(enc, WR, 14, p "_store_format_d16_xyz", typed_store, 0, 1, 2, 3 | HALF_DATA),             \
        SG_MEM_ROW(enc, WR, 15, p "_store_format_d16_xyzw", typed_store, 0, 1, 2, 4 | HALF_DATA)

static const struct sg_opinfo mubuf_rows[] = {
    FORMATS(SG_ENC_MUBUF, "buffer"),
    SG_ROWS_PLAIN(SG_ENC_MUBUF, RD, WR, "buffer", 1, buffer_load, buffer_store),
    SG_MEM_ROW(SG_ENC_MUBUF, RD, 38, "buffer_load_format_d16_hi_x", typed_load, 1, 1, 0,
               1 | HALF_DATA | HIGH_DATA),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 39, "buffer_store_format_d16_hi_x", typed_store, 0, 1, 1,
               1 | HALF_DATA | HIGH_DATA),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 40, "buffer_wbl2", buffer_cache, 0, 0, 0, 0),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 41, "buffer_invl2", buffer_cache, 0, 0, 0, 0),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 61, "buffer_store_lds_dword", NULL, 0, 0, 0, 0),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 62, "buffer_wbinvl1", buffer_cache, 0, 0, 0, 0),
    SG_MEM_ROW(SG_ENC_MUBUF, WR, 63, "buffer_wbinvl1_vol", buffer_cache, 0, 0, 0, 0),
    SG_ROWS_ATOMIC32(SG_ENC_MUBUF, WR, "buffer", 1, buffer_atomic),
    SG_ROWS_ATOMIC_F32(SG_ENC_MUBUF, WR, "buffer", 1, buffer_atomic),
    SG_ROWS_ATOMIC_F64(SG_ENC_MUBUF, WR, "buffer", 1, buffer_atomic),
    SG_ROWS_ATOMIC64(SG_ENC_MUBUF, WR, "buffer", 1, buffer_atomic),
};

static const struct sg_opinfo mtbuf_rows[] = {FORMATS(SG_ENC_MTBUF, "tbuffer")};

const struct sg_optable sg_table_mubuf = SG_TABLE(mubuf_rows);
const struct sg_optable sg_table_mtbuf = SG_TABLE(mtbuf_rows);
