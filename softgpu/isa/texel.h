// SPDX-License-Identifier: MIT
// Formats of texels and of typed buffer elements: memory to four 32-bit components and back.
#ifndef SG_TEXEL_H
#define SG_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

// The fields DATA_FORMAT and NUM_FORMAT of a resource, resolved.
struct sg_texel_format {
    uint8_t components; // 1..4; 0: not implemented
    uint8_t bits;       // of each component
    uint8_t bytes;      // of a texel
    uint8_t number;     // enum sg_texel_number
};

enum sg_texel_number {
    SG_TEXEL_UNORM,
    SG_TEXEL_SNORM,
    SG_TEXEL_USCALED,
    SG_TEXEL_SSCALED,
    SG_TEXEL_UINT,
    SG_TEXEL_SINT,
    SG_TEXEL_FLOAT = 7,
};

// `components` is 0 when the pair is unknown or not implemented.
struct sg_texel_format sg_texel_format(unsigned data_format, unsigned number_format);

static inline bool sg_texel_is_integer(struct sg_texel_format f)
{
    return f.number == SG_TEXEL_UINT || f.number == SG_TEXEL_SINT;
}

// Components of the texel at `p`, floats as their bits; absent ones are 0.
void sg_texel_read(struct sg_texel_format format, const uint8_t *p, uint32_t out[4]);

// The opposite, rounding to nearest and saturating.
void sg_texel_write(struct sg_texel_format format, uint8_t *p, const uint32_t in[4]);

// What a shader's component `i` gets of a texel, by the four 3-bit selectors of a resource. `one` is the 1 of the
// format: an integer or a float.
uint32_t sg_texel_select(unsigned selectors, unsigned i, const uint32_t texel[4], uint32_t one);

// The opposite, for stores: texel components from the shader's.
void sg_texel_unselect(unsigned selectors, const uint32_t shader[4], uint32_t texel[4]);

static inline uint32_t sg_texel_one(struct sg_texel_format f)
{
    return sg_texel_is_integer(f) ? 1 : 0x3f800000;
}

#endif
