// SPDX-License-Identifier: MIT
// Texel formats. Source of field values and conversions: "AMD Instinct MI200 Instruction Set Architecture",
// image and buffer resource descriptors, and chapter "Vector Memory Operations", data formats.
#include "softgpu/isa/texel.h"
#include "softgpu/isa/fp.h"

#include <math.h>
#include <string.h>

struct sg_texel_format sg_texel_format(unsigned data_format, unsigned number_format)
{
    static const struct {
        uint8_t data_format, components, bits;
    } layouts[] = {
        {1, 1, 8},  {2, 1, 16},  {3, 2, 8},   {4, 1, 32},  {5, 2, 16},
        {10, 4, 8}, {11, 2, 32}, {12, 4, 16}, {13, 3, 32}, {14, 4, 32},
    };
    struct sg_texel_format f = {0};
    for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (layouts[i].data_format != data_format)
            continue;
        f.components = layouts[i].components;
        f.bits = layouts[i].bits;
    }
    f.bytes = (uint8_t)(f.components * f.bits / 8);
    f.number = (uint8_t)number_format;
    const bool integer = sg_texel_is_integer(f);
    if (number_format == SG_TEXEL_FLOAT ? f.bits == 8 : number_format > SG_TEXEL_SINT)
        f.components = 0;
    else if (number_format != SG_TEXEL_FLOAT && f.bits == 32 && !integer) // a float cannot hold them
        f.components = 0;
    return f;
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static int32_t sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

static uint32_t from_memory(struct sg_texel_format f, uint32_t v)
{
    const int32_t s = sign_extend(v, f.bits);
    const float max = (float)((1ull << f.bits) - 1), signed_max = (float)((1ull << (f.bits - 1)) - 1);
    switch ((enum sg_texel_number)f.number) {
    case SG_TEXEL_UNORM:
        return bits_of((float)v / max);
    case SG_TEXEL_SNORM:
        return bits_of(fmaxf((float)s / signed_max, -1.0f));
    case SG_TEXEL_USCALED:
        return bits_of((float)v);
    case SG_TEXEL_SSCALED:
        return bits_of((float)s);
    case SG_TEXEL_UINT:
        return v;
    case SG_TEXEL_SINT:
        return (uint32_t)s;
    case SG_TEXEL_FLOAT:
        return f.bits == 16 ? bits_of(sg_f32_from_f16(v)) : v;
    }
    return 0;
}

// NaN counts as 0.
static uint32_t rounded(double v, double low, double high)
{
    if (!(v > low))
        v = isnan(v) ? 0 : low;
    return (uint32_t)(int32_t)rint(fmin(v, high));
}

static uint32_t to_memory(struct sg_texel_format f, uint32_t v)
{
    const double max = (double)((1ull << f.bits) - 1), signed_max = (double)((1ull << (f.bits - 1)) - 1);
    const uint32_t unsigned_limit = (uint32_t)((1ull << f.bits) - 1);
    const int32_t signed_limit = (int32_t)((1ull << (f.bits - 1)) - 1);
    switch ((enum sg_texel_number)f.number) {
    case SG_TEXEL_UNORM:
        return rounded((double)float_of(v) * max, 0, max);
    case SG_TEXEL_SNORM:
        return rounded((double)float_of(v) * signed_max, -signed_max, signed_max);
    case SG_TEXEL_USCALED:
        return rounded((double)float_of(v), 0, max);
    case SG_TEXEL_SSCALED:
        return rounded((double)float_of(v), -signed_max - 1, signed_max);
    case SG_TEXEL_UINT:
        return v < unsigned_limit ? v : unsigned_limit;
    case SG_TEXEL_SINT:
        if ((int32_t)v > signed_limit)
            return (uint32_t)signed_limit;
        return (int32_t)v < -signed_limit - 1 ? (uint32_t)(-signed_limit - 1) : v;
    case SG_TEXEL_FLOAT:
        return f.bits == 16 ? sg_f16_from_f32_rne(float_of(v)) : v;
    }
    return 0;
}

// Texels hold their components in order, in little-endian memory.
void sg_texel_read(struct sg_texel_format format, const uint8_t *p, uint32_t out[4])
{
    const unsigned bytes = format.bits / 8;
    memset(out, 0, 4 * sizeof *out);
    for (unsigned i = 0; i < format.components; i++) {
        uint32_t v = 0;
        memcpy(&v, p + i * (size_t)bytes, bytes);
        out[i] = from_memory(format, v);
    }
}

void sg_texel_write(struct sg_texel_format format, uint8_t *p, const uint32_t in[4])
{
    const unsigned bytes = format.bits / 8;
    for (unsigned i = 0; i < format.components; i++) {
        const uint32_t v = to_memory(format, in[i]);
        memcpy(p + i * (size_t)bytes, &v, bytes);
    }
}

enum { SELECT_ONE = 1, SELECT_X = 4 };

static unsigned selector(unsigned selectors, unsigned i)
{
    return selectors >> (3 * i) & 7;
}

uint32_t sg_texel_select(unsigned selectors, unsigned i, const uint32_t texel[4], uint32_t one)
{
    const unsigned s = selector(selectors, i);
    if (s >= SELECT_X)
        return texel[s - SELECT_X];
    return s == SELECT_ONE ? one : 0;
}

void sg_texel_unselect(unsigned selectors, const uint32_t shader[4], uint32_t texel[4])
{
    memset(texel, 0, 4 * sizeof *texel);
    for (int i = 3; i >= 0; i--) { // the first selector of a component counts
        const unsigned s = selector(selectors, (unsigned)i);
        if (s >= SELECT_X)
            texel[s - SELECT_X] = shader[i];
    }
}
