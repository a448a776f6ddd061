// SPDX-License-Identifier: MIT
// MIMG: image loads, stores, atomics and samples through an image resource, as HIP's textures and surfaces use them. One
// mip level, one sample. Where a texel lies is this device's own affair as long as only image instructions see it,
// so every swizzle mode is laid out like the linear one, which needs no more memory; the pitch is the resource's.
// Sources: "AMD Instinct MI200 Instruction Set Architecture", chapter "Vector Memory Operations", image resource
// and sampler definitions, MIMG instruction list.
#include "softgpu/isa/fp.h"
#include "softgpu/isa/memory.h"
#include "softgpu/isa/texel.h"

#include <math.h>

enum image_type { IMAGE_1D = 8, IMAGE_2D, IMAGE_3D, IMAGE_CUBE, IMAGE_1D_ARRAY, IMAGE_2D_ARRAY };
enum clamp_mode { CLAMP_WRAP, CLAMP_MIRROR, CLAMP_LAST, CLAMP_MIRROR_LAST, CLAMP_BORDER = 6 };
enum { BORDER_TRANSPARENT, BORDER_BLACK, BORDER_WHITE };

// Axes of a texel's place.
enum { X, Y, Z };

struct image {
    uint8_t *base;
    uint32_t size[3]; // texels; slices of an array are in Z
    uint64_t pitch;   // texels in a row
    unsigned type, selectors;
    struct sg_texel_format format;
};

struct sampler {
    unsigned clamp[3];
    bool unnormalised, linear;
    unsigned border;
};

static uint32_t field(const uint32_t *words, unsigned word, unsigned from, unsigned bits)
{
    return words[word] >> from & ((1u << bits) - 1);
}

static unsigned data_mask(const struct sg_inst *inst)
{
    return field(inst->words, 0, 8, 4);
}

static bool half_data(const struct sg_inst *inst)
{
    return inst->words[1] >> 31;
}

static enum sg_step refuse(struct sg_wave *w, const struct sg_inst *inst, const char *what, unsigned value)
{
    return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "%s %u is not implemented", what, value);
}

// Reads the resource. SG_STEP_FAULT when it asks for what is not there.
static enum sg_step open_image(struct sg_wave *w, const struct sg_inst *inst, struct image *image)
{
    const uint32_t *t = &w->sgpr[inst->saddr];
    const unsigned data_format = field(t, 1, 20, 6), number_format = field(t, 1, 26, 4);
    image->base = (uint8_t *)(uintptr_t)((uint64_t)t[0] << 8 | (uint64_t)field(t, 1, 0, 8) << 40);
    image->type = field(t, 3, 28, 4);
    image->selectors = field(t, 3, 0, 12);
    image->size[X] = field(t, 2, 0, 14) + 1;
    image->size[Y] = image->type == IMAGE_1D || image->type == IMAGE_1D_ARRAY ? 1 : field(t, 2, 14, 14) + 1;
    image->size[Z] = image->type == IMAGE_1D || image->type == IMAGE_2D ? 1 : field(t, 4, 0, 13) + 1;
    image->pitch = field(t, 4, 13, 16) + 1;
    image->format = sg_texel_format(data_format, number_format);
    if (!image->format.components)
        return sg_wave_fault(w, inst, SG_FAULT_ILLEGAL, 0, "image format %u/%u is not implemented",
                             data_format, number_format);
    if (image->type < IMAGE_1D || image->type > IMAGE_2D_ARRAY || image->type == IMAGE_CUBE)
        return refuse(w, inst, "image type", image->type);
    if (field(t, 3, 16, 4) != field(t, 3, 12, 4))
        return refuse(w, inst, "mip level", field(t, 3, 16, 4));
    if (field(inst->words, 0, 15, 1) || field(inst->words, 0, 17, 1))
        return refuse(w, inst, "A16 or LWE form", 1);
    return SG_STEP_OK;
}

static uint8_t *texel_at(const struct image *image, const uint32_t at[3])
{
    const uint64_t row = (uint64_t)at[Z] * image->size[Y] + at[Y];
    return image->base + (row * image->pitch + at[X]) * image->format.bytes;
}

// Which axis each address register is for; returns how many there are.
static unsigned axes_of(const struct image *image, unsigned axis[3])
{
    unsigned n = 0;
    axis[n++] = X;
    if (image->type != IMAGE_1D && image->type != IMAGE_1D_ARRAY)
        axis[n++] = Y;
    if (image->type != IMAGE_1D && image->type != IMAGE_2D)
        axis[n++] = Z;
    return n;
}

// Integer coordinates of a lane. False when they lie outside.
static bool lane_texel(const struct sg_wave *w, const struct sg_inst *inst, const struct image *image,
                       unsigned lane, uint32_t at[3])
{
    unsigned axis[3];
    const unsigned n = axes_of(image, axis);
    bool inside = true;
    memset(at, 0, 3 * sizeof *at);
    for (unsigned i = 0; i < n; i++) {
        at[axis[i]] = w->vgpr[inst->vaddr + i][lane];
        inside &= at[axis[i]] < image->size[axis[i]];
    }
    return inside;
}

static enum sg_step check(struct sg_wave *w, const struct sg_inst *inst, const struct image *image,
                          const uint8_t *p)
{
    return sg_checks_access(w) ? sg_check_scalar(w, inst, p, image->format.bytes) : SG_STEP_OK;
}

// Writes a lane's result, the components that the mask names one after another; as halves two to a register.
static void give(struct sg_wave *w, const struct sg_inst *inst, const struct image *image, unsigned lane,
                 const uint32_t texel[4])
{
    const unsigned mask = data_mask(inst);
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!(mask >> i & 1))
            continue;
        uint32_t v = sg_texel_select(image->selectors, i, texel, sg_texel_one(image->format));
        if (!half_data(inst)) {
            w->vgpr[inst->vdata + n++][lane] = v;
            continue;
        }
        float f;
        memcpy(&f, &v, sizeof f);
        v = sg_texel_is_integer(image->format) ? v & 0xffff : sg_f16_from_f32_rne(f);
        uint32_t *to = &w->vgpr[inst->vdata + n / 2][lane];
        *to = n % 2 ? (*to & 0xffff) | v << 16 : (*to & 0xffff0000u) | v;
        n++;
    }
}

// The shader's four components of a lane's data. What the mask leaves out is 0.
static void take(const struct sg_wave *w, const struct sg_inst *inst, const struct image *image,
                 unsigned lane, uint32_t shader[4])
{
    const unsigned mask = data_mask(inst);
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++) {
        shader[i] = 0;
        if (!(mask >> i & 1))
            continue;
        if (!half_data(inst)) {
            shader[i] = w->vgpr[inst->vdata + n++][lane];
            continue;
        }
        const uint32_t half = w->vgpr[inst->vdata + n / 2][lane] >> (n % 2 * 16) & 0xffff;
        const float f = sg_f32_from_f16(half);
        memcpy(&shader[i], &f, sizeof f);
        if (image->format.number == SG_TEXEL_UINT)
            shader[i] = half;
        else if (image->format.number == SG_TEXEL_SINT)
            shader[i] = (uint32_t)(int16_t)half;
        n++;
    }
}

// arg 1: the last address register is a mip level, which must be 0.
static enum sg_step level_zero(struct sg_wave *w, const struct sg_inst *inst, const struct image *image)
{
    unsigned axis[3];
    const unsigned n = axes_of(image, axis);
    if (!inst->info->arg)
        return SG_STEP_OK;
    SG_EACH_LANE(lane, sg_exec(w))
    {
        if (w->vgpr[inst->vaddr + n][lane])
            return refuse(w, inst, "mip level", w->vgpr[inst->vaddr + n][lane]);
    }
    return SG_STEP_OK;
}

static enum sg_step image_load(struct sg_wave *w, const struct sg_inst *inst)
{
    struct image image;
    enum sg_step step = open_image(w, inst, &image);
    if (!step)
        step = level_zero(w, inst, &image);
    if (step)
        return step;
    uint32_t texels[SG_LANES][4] = {{0}}; // all first: the destination may be the address registers
    SG_EACH_LANE(lane, sg_exec(w))
    {
        uint32_t at[3];
        if (!lane_texel(w, inst, &image, lane, at))
            continue;
        const uint8_t *p = texel_at(&image, at);
        step = check(w, inst, &image, p);
        if (step)
            return step;
        sg_texel_read(image.format, p, texels[lane]);
    }
    SG_EACH_LANE(lane, sg_exec(w)) give(w, inst, &image, lane, texels[lane]);
    return SG_STEP_OK;
}

static enum sg_step image_store(struct sg_wave *w, const struct sg_inst *inst)
{
    struct image image;
    enum sg_step step = open_image(w, inst, &image);
    if (!step)
        step = level_zero(w, inst, &image);
    if (step)
        return step;
    SG_EACH_LANE(lane, sg_exec(w))
    {
        uint32_t at[3], shader[4], texel[4];
        if (!lane_texel(w, inst, &image, lane, at))
            continue;
        uint8_t *p = texel_at(&image, at);
        step = check(w, inst, &image, p);
        if (step)
            return step;
        take(w, inst, &image, lane, shader);
        sg_texel_unselect(image.selectors, shader, texel);
        sg_texel_write(image.format, p, texel);
    }
    return SG_STEP_OK;
}

// Width, height, depth or slices, levels. A level that is not there has no size.
static enum sg_step image_info(struct sg_wave *w, const struct sg_inst *inst)
{
    struct image image;
    const enum sg_step step = open_image(w, inst, &image);
    if (step)
        return step;
    const unsigned mask = data_mask(inst);
    SG_EACH_LANE(lane, sg_exec(w))
    {
        const bool there = w->vgpr[inst->vaddr][lane] == 0;
        const uint32_t info[4] = {there ? image.size[X] : 0, there ? image.size[Y] : 0,
                                  there ? image.size[Z] : 0, 1};
        unsigned n = 0;
        for (unsigned i = 0; i < 4; i++)
            if (mask >> i & 1)
                w->vgpr[inst->vdata + n++][lane] = info[i];
    }
    return SG_STEP_OK;
}

// arg: enum sg_atomic_op. The mask counts the data registers: one or two, twice as many where there is a value to compare
// with. Hardware does these on texels of one or two components of 32 bits, whatever the type of their numbers.
static enum sg_step image_atomic(struct sg_wave *w, const struct sg_inst *inst)
{
    struct image image;
    struct sg_lanes lanes;
    enum sg_step step = open_image(w, inst, &image);
    if (step)
        return step;
    const bool compares = inst->info->arg == SG_ATOMIC_CMPSWAP;
    const unsigned mask = data_mask(inst), one = compares ? 3 : 1, two = compares ? 15 : 3;
    if (half_data(inst) || (mask != one && mask != two))
        return refuse(w, inst, "image atomic with data mask", mask);
    if (image.format.bits != 32 || image.format.bytes != (mask == one ? 4 : 8))
        return refuse(w, inst, "image atomic on bytes of a texel:", image.format.bytes);
    lanes.mask = sg_exec(w);
    lanes.writeback = 0;
    lanes.bytes = image.format.bytes;
    SG_EACH_LANE(lane, lanes.mask)
    {
        uint32_t at[3];
        if (lane_texel(w, inst, &image, lane, at))
            lanes.ptr[lane] = texel_at(&image, at);
        else
            sg_lanes_drop(&lanes, lane);
    }
    step = sg_checks_access(w) ? sg_check_lanes(w, inst, &lanes) : SG_STEP_OK;
    if (step)
        return step;
    const unsigned op = inst->info->arg | (mask == two ? SG_ATOMIC_64 : 0);
    return sg_lanes_atomic(w, inst, &lanes, inst->vdata, inst->vdata, op, inst->glc);
}

static bool clamp_known(unsigned mode)
{
    return mode <= CLAMP_MIRROR_LAST || mode == CLAMP_BORDER;
}

static enum sg_step open_sampler(struct sg_wave *w, const struct sg_inst *inst, const struct image *image,
                                 struct sampler *sampler)
{
    const uint32_t *s = &w->sgpr[field(inst->words, 1, 21, 5) << 2];
    unsigned axis[3];
    const unsigned n = axes_of(image, axis), filter = field(s, 2, 20, 2);
    for (unsigned i = 0; i < 3; i++)
        sampler->clamp[i] = field(s, 0, 3 * i, 3);
    for (unsigned i = 0; i < n; i++)
        if (!clamp_known(sampler->clamp[axis[i]]))
            return refuse(w, inst, "sampler clamp mode", sampler->clamp[axis[i]]);
    sampler->unnormalised = field(s, 0, 15, 1) || field(inst->words, 0, 12, 1);
    sampler->linear = filter == 1;
    sampler->border = field(s, 3, 30, 2);
    if (filter > 1 || field(s, 2, 22, 2) != filter)
        return refuse(w, inst, "sampler filter", filter);
    if (sampler->linear && sg_texel_is_integer(image->format))
        return refuse(w, inst, "linear filter of integer format", image->format.number);
    if (sampler->border > BORDER_WHITE)
        return refuse(w, inst, "sampler border colour", sampler->border);
    return SG_STEP_OK;
}

// A coordinate in texels. Repeating modes are reduced to one period while it is still exact; what is left of them is
// done on indices.
static float texel_coordinate(const struct sampler *s, unsigned clamp, float v, uint32_t size)
{
    if (isnan(v))
        return 0;
    if (s->unnormalised)
        return fmaxf(fminf(v, 0x1p24f), -0x1p24f);
    if (clamp == CLAMP_WRAP)
        v -= floorf(v);
    else if (clamp == CLAMP_MIRROR)
        v -= 2 * floorf(v / 2);
    return fmaxf(fminf(v * (float)size, 0x1p24f), -0x1p24f);
}

// The texel that index `i` means, or -1: the border.
static int64_t texel_index(unsigned clamp, int64_t i, uint32_t size)
{
    const int64_t n = size;
    switch (clamp) {
    case CLAMP_WRAP:
        return (i % n + n) % n;
    case CLAMP_MIRROR:
        i = (i % (2 * n) + 2 * n) % (2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case CLAMP_MIRROR_LAST:
        i = i < 0 ? -1 - i : i;
        return i < n ? i : n - 1;
    case CLAMP_BORDER:
        return i < 0 || i >= n ? -1 : i;
    default:
        return i < 0 ? 0 : i < n ? i : n - 1;
    }
}

// What one axis contributes: two neighbours and the weight of the second.
struct footprint {
    int64_t index[2];
    unsigned weight; // of SUBTEXELS
};

// Coordinates are rounded to this part of a texel first, for point samples, too: the device library counts on
// k / width, which may be a little less than it should, to hit texel k.
#define SUBTEXELS 256

static struct footprint footprint_of(const struct sampler *s, unsigned clamp, float v, uint32_t size)
{
    const double u = texel_coordinate(s, clamp, v, size);
    const int64_t fixed = (int64_t)floor((s->linear ? u - 0.5 : u) * SUBTEXELS + 0.5);
    const int64_t first = fixed >= 0 ? fixed / SUBTEXELS : -((SUBTEXELS - 1 - fixed) / SUBTEXELS);
    if (!s->linear)
        return (struct footprint){.index = {texel_index(clamp, first, size), 0}};
    return (struct footprint){
        .index = {texel_index(clamp, first, size), texel_index(clamp, first + 1, size)},
        .weight = (unsigned)(fixed - first * SUBTEXELS),
    };
}

// Slices are not filtered: the nearest counts, within the array.
static struct footprint slice_of(float v, uint32_t size)
{
    const float nearest = isnan(v) ? 0 : fmaxf(fminf(rintf(v), (float)size - 1), 0);
    return (struct footprint){.index = {(int64_t)nearest, 0}};
}

static void border_of(const struct sampler *s, const struct image *image, uint32_t out[4])
{
    const uint32_t one = sg_texel_one(image->format);
    out[0] = out[1] = out[2] = s->border == BORDER_WHITE ? one : 0;
    out[3] = s->border == BORDER_TRANSPARENT ? 0 : one;
}

// Sums the texels of the footprint by their weights; a single one is taken as it is.
static enum sg_step filter(struct sg_wave *w, const struct sg_inst *inst, const struct image *image,
                           const struct sampler *s, const struct footprint at[3], uint32_t out[4])
{
    double sum[4] = {0};
    for (unsigned corner = 0; corner < 8; corner++) {
        uint32_t place[3], texel[4];
        double weight = 1;
        bool border = false;
        for (unsigned axis = 0; axis < 3; axis++) {
            const unsigned second = corner >> axis & 1;
            const int64_t index = at[axis].index[second];
            weight *= (second ? at[axis].weight : SUBTEXELS - at[axis].weight) / (double)SUBTEXELS;
            border |= index < 0;
            place[axis] = (uint32_t)index;
        }
        if (weight == 0)
            continue;
        if (border) {
            border_of(s, image, texel);
        } else {
            const uint8_t *p = texel_at(image, place);
            const enum sg_step step = check(w, inst, image, p);
            if (step)
                return step;
            sg_texel_read(image->format, p, texel);
        }
        if (weight == 1) {
            memcpy(out, texel, sizeof texel);
            return SG_STEP_OK;
        }
        for (unsigned i = 0; i < 4; i++) {
            float v;
            memcpy(&v, &texel[i], sizeof v);
            sum[i] += weight * (double)v;
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        const float v = (float)sum[i];
        memcpy(&out[i], &v, sizeof v);
    }
    return SG_STEP_OK;
}

static enum sg_step image_sample(struct sg_wave *w, const struct sg_inst *inst)
{
    struct image image;
    struct sampler sampler = {0};
    enum sg_step step = open_image(w, inst, &image);
    if (!step)
        step = open_sampler(w, inst, &image, &sampler);
    if (step)
        return step;
    unsigned axis[3];
    const unsigned n = axes_of(&image, axis);
    const bool array = image.type == IMAGE_1D_ARRAY || image.type == IMAGE_2D_ARRAY;
    uint32_t texels[SG_LANES][4] = {{0}};
    SG_EACH_LANE(lane, sg_exec(w))
    {
        struct footprint at[3] = {{{0}, 0}};
        for (unsigned i = 0; i < n; i++) {
            const unsigned a = axis[i];
            float v;
            memcpy(&v, &w->vgpr[inst->vaddr + i][lane], sizeof v);
            at[a] = array && a == Z ? slice_of(v, image.size[Z])
                                    : footprint_of(&sampler, sampler.clamp[a], v, image.size[a]);
        }
        step = filter(w, inst, &image, &sampler, at, texels[lane]);
        if (step)
            return step;
    }
    SG_EACH_LANE(lane, sg_exec(w)) give(w, inst, &image, lane, texels[lane]);
    return SG_STEP_OK;
}

#define ROW(op, c, n, fn, argument)                                                                          \
    {                                                                                                        \
        .opcode = op, .encoding = SG_ENC_MIMG, .klass = c, .mnemonic = n, .exec = fn, .arg = argument        \
    }
#define LOAD(op, n, fn, argument)  ROW(op, SG_CLASS_VMEM_RD, n, fn, argument)
#define STORE(op, n, fn, argument) ROW(op, SG_CLASS_VMEM_WR, n, fn, argument)

// The opcodes are those that gfx90a accepts.
static const struct sg_opinfo mimg_rows[] = {
    LOAD(0, "image_load", image_load, 0),
    LOAD(1, "image_load_mip", image_load, 1),
    LOAD(2, "image_load_pck", NULL, 0),
    LOAD(3, "image_load_pck_sgn", NULL, 0),
    LOAD(4, "image_load_mip_pck", NULL, 0),
    LOAD(5, "image_load_mip_pck_sgn", NULL, 0),
    STORE(8, "image_store", image_store, 0),
    STORE(9, "image_store_mip", image_store, 1),
    STORE(10, "image_store_pck", NULL, 0),
    STORE(11, "image_store_mip_pck", NULL, 0),
    LOAD(14, "image_get_resinfo", image_info, 0),
    STORE(16, "image_atomic_swap", image_atomic, SG_ATOMIC_SWAP),
    STORE(17, "image_atomic_cmpswap", image_atomic, SG_ATOMIC_CMPSWAP),
    STORE(18, "image_atomic_add", image_atomic, SG_ATOMIC_ADD),
    STORE(19, "image_atomic_sub", image_atomic, SG_ATOMIC_SUB),
    STORE(20, "image_atomic_smin", image_atomic, SG_ATOMIC_SMIN),
    STORE(21, "image_atomic_umin", image_atomic, SG_ATOMIC_UMIN),
    STORE(22, "image_atomic_smax", image_atomic, SG_ATOMIC_SMAX),
    STORE(23, "image_atomic_umax", image_atomic, SG_ATOMIC_UMAX),
    STORE(24, "image_atomic_and", image_atomic, SG_ATOMIC_AND),
    STORE(25, "image_atomic_or", image_atomic, SG_ATOMIC_OR),
    STORE(26, "image_atomic_xor", image_atomic, SG_ATOMIC_XOR),
    STORE(27, "image_atomic_inc", image_atomic, SG_ATOMIC_INC),
    STORE(28, "image_atomic_dec", image_atomic, SG_ATOMIC_DEC),
    LOAD(32, "image_sample", image_sample, 0),
};

const struct sg_optable sg_table_mimg = SG_TABLE(mimg_rows);
