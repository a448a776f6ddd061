// SPDX-License-Identifier: MIT
// Floating-point building blocks on bit patterns: casts, classification, f16 conversion, fused multiply-add
// with a single rounding, minimum/maximum as the ISA defines them. The inline ones are branch-free so that
// loops over lanes vectorise without FMA or F16C instructions of the host.
#ifndef SG_FP_H
#define SG_FP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float sg_f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static inline uint32_t sg_bits32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static inline double sg_f64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof(d));
    return d;
}

static inline uint64_t sg_bits64(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof(bits));
    return bits;
}

static inline bool sg_is_nan32(uint32_t x)
{
    return (x & 0x7fffffffu) > 0x7f800000u;
}

static inline bool sg_is_nan64(uint64_t x)
{
    return (x & ~(1ull << 63)) > 0x7ff0000000000000ull;
}

static inline bool sg_is_nan16(uint32_t x)
{
    return (x & 0x7fff) > 0x7c00;
}

// Signalling NaN: quiet bit clear.
static inline bool sg_is_snan32(uint32_t x)
{
    return sg_is_nan32(x) & !(x & 0x400000u);
}

static inline bool sg_is_snan64(uint64_t x)
{
    return sg_is_nan64(x) & !(x & 1ull << 51);
}

static inline bool sg_is_snan16(uint32_t x)
{
    return sg_is_nan16(x) & !(x & 0x200);
}

// Replace denormals by zeros of their sign, in 64 lanes.
static inline void sg_flush32(uint32_t *v)
{
    for (unsigned i = 0; i < 64; i++)
        v[i] &= v[i] & 0x7f800000u ? UINT32_MAX : 0x80000000u;
}

static inline void sg_flush64(uint64_t *v)
{
    for (unsigned i = 0; i < 64; i++)
        v[i] &= v[i] & 0x7ff0000000000000ull ? UINT64_MAX : 1ull << 63;
}

static inline void sg_flush16(uint32_t *v)
{
    for (unsigned i = 0; i < 64; i++)
        v[i] &= v[i] & 0x7c00 ? 0xffffu : 0x8000u;
}

// f16 in the low 16 bits to f32; exact. Scaling by 2^112 turns f16 exponents, denormals included, into f32
// ones.
static inline float sg_f32_from_f16(uint32_t h)
{
    const uint32_t sign = (h & 0x8000) << 16, mag = (h & 0x7fff) << 13;
    const uint32_t finite = sg_bits32(sg_f32(mag) * 0x1p112f);
    const uint32_t special = mag | 0x7f800000u | (mag & 0x7fe000 ? 0x400000u : 0);
    return sg_f32(sign | ((h & 0x7c00) == 0x7c00 ? special : finite));
}

// Round to nearest even. Normal results: add the rounding constant to the bits. Denormal results: an f32
// addition aligns the mantissa and rounds it.
static inline uint32_t sg_f16_from_f32_rne(float f)
{
    const uint32_t x = sg_bits32(f), sign = x >> 16 & 0x8000, mag = x & 0x7fffffffu;
    const uint32_t normal = (mag + 0xc8000fffu + (mag >> 13 & 1)) >> 13;
    const uint32_t denormal = sg_bits32(sg_f32(mag) + 0.5f) - 0x3f000000u;
    const uint32_t nan = 0x7e00 | (mag >> 13 & 0x3ff);
    uint32_t h = mag < 0x38800000u ? denormal : normal;
    h = mag >= 0x47800000u ? 0x7c00 : h;
    h = mag > 0x7f800000u ? nan : h;
    return sign | (h & 0xffff);
}

// f64 to f16 with one rounding. `mode` as in MODE: 0 nearest even, 1 up, 2 down, 3 to zero.
uint32_t sg_f16_from_f64(double d, unsigned mode);

static inline uint32_t sg_f16_from_f32(float f)
{
    return sg_f16_from_f32_rne(f);
}

uint32_t sg_clamp_f16(uint32_t h, bool nan_to_zero);

// Sum of a and b rounded to odd: exact when representable, else the neighbour with an odd last bit. Rounding
// that once more to a format with at least two bits less gives the correctly rounded sum. Source: S. Boldo,
// G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
// Transactions on Computers 57(4), 2008. Valid in nearest-even mode.
static inline double sg_add_odd(double a, double b)
{
    const double s = a + b, bb = s - a;
    const double err = (a - (s - bb)) + (b - bb);
    const uint64_t bits = sg_bits64(s);
    // An error of the other sign than the sum's says that s lies beyond the exact sum: start from the one
    // below it. The error is NaN, and s final, where an operand or the sum is not finite.
    const uint64_t odd = (bits - ((sg_bits64(err) ^ bits) >> 63)) | 1;
    return sg_f64(fabs(err) > 0 ? odd : bits);
}

// a * b + c in f32 with a single rounding (nearest even): the product of two f32 is exact in f64.
static inline float sg_fma32(float a, float b, float c)
{
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#endif
    return (float)sg_add_odd((double)a * (double)b, (double)c);
}

// Minimum and maximum by bit pattern. Source: "AMD Instinct MI200 Instruction Set Architecture", V_MIN_F32,
// V_MAX_F32: a NaN loses against a number (IEEE mode: a signalling NaN is returned quieted), -0 is below +0.
static inline uint32_t sg_min32(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = sg_f32(a) < sg_f32(b) ? a : b;
    r = !((a | b) & 0x7fffffffu) ? a | b : r;
    r = sg_is_nan32(b) ? a : r;
    r = sg_is_nan32(a) ? b : r;
    r = (ieee & sg_is_snan32(b)) ? b | 0x400000u : r;
    return (ieee & sg_is_snan32(a)) ? a | 0x400000u : r;
}

static inline uint32_t sg_max32(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = sg_f32(a) > sg_f32(b) ? a : b;
    r = !((a | b) & 0x7fffffffu) ? a & b : r;
    r = sg_is_nan32(b) ? a : r;
    r = sg_is_nan32(a) ? b : r;
    r = (ieee & sg_is_snan32(b)) ? b | 0x400000u : r;
    return (ieee & sg_is_snan32(a)) ? a | 0x400000u : r;
}

static inline uint64_t sg_min64(uint64_t a, uint64_t b, bool ieee)
{
    uint64_t r = sg_f64(a) < sg_f64(b) ? a : b;
    r = !((a | b) << 1) ? a | b : r;
    r = sg_is_nan64(b) ? a : r;
    r = sg_is_nan64(a) ? b : r;
    r = (ieee & sg_is_snan64(b)) ? b | 1ull << 51 : r;
    return (ieee & sg_is_snan64(a)) ? a | 1ull << 51 : r;
}

static inline uint64_t sg_max64(uint64_t a, uint64_t b, bool ieee)
{
    uint64_t r = sg_f64(a) > sg_f64(b) ? a : b;
    r = !((a | b) << 1) ? a & b : r;
    r = sg_is_nan64(b) ? a : r;
    r = sg_is_nan64(a) ? b : r;
    r = (ieee & sg_is_snan64(b)) ? b | 1ull << 51 : r;
    return (ieee & sg_is_snan64(a)) ? a | 1ull << 51 : r;
}

static inline uint32_t sg_min16(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = sg_f32_from_f16(a) < sg_f32_from_f16(b) ? a : b;
    r = !((a | b) & 0x7fff) ? a | b : r;
    r = sg_is_nan16(b) ? a : r;
    r = sg_is_nan16(a) ? b : r;
    r = (ieee & sg_is_snan16(b)) ? b | 0x200 : r;
    return (ieee & sg_is_snan16(a)) ? a | 0x200 : r;
}

static inline uint32_t sg_max16(uint32_t a, uint32_t b, bool ieee)
{
    uint32_t r = sg_f32_from_f16(a) > sg_f32_from_f16(b) ? a : b;
    r = !((a | b) & 0x7fff) ? a & b : r;
    r = sg_is_nan16(b) ? a : r;
    r = sg_is_nan16(a) ? b : r;
    r = (ieee & sg_is_snan16(b)) ? b | 0x200 : r;
    return (ieee & sg_is_snan16(a)) ? a | 0x200 : r;
}

// Rounding mode of MODE for the host's arithmetic; sg_round_leave restores nearest even. Both are free of
// cost in the usual mode. `field` is the two-bit rounding mode.
void sg_round_set(unsigned field);

static inline void sg_round_enter(unsigned field)
{
    if (field)
        sg_round_set(field);
}

static inline void sg_round_leave(unsigned field)
{
    if (field)
        sg_round_set(0);
}

#endif
