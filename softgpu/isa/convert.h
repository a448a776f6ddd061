// SPDX-License-Identifier: MIT
// Conversions between floats and integers as the ISA defines them: truncation with saturation, NaN to zero;
// and pieces of frexp and class.
#ifndef SG_CONVERT_H
#define SG_CONVERT_H

#include "softgpu/isa/fp.h"

static inline int32_t sg_i32_from_f64(double d)
{
    if (!(d > -2147483649.0))
        return d != d ? 0 : INT32_MIN;
    return d < 2147483648.0 ? (int32_t)d : INT32_MAX;
}

static inline uint32_t sg_u32_from_f64(double d)
{
    if (!(d > 0.0))
        return 0;
    return d < 4294967296.0 ? (uint32_t)d : UINT32_MAX;
}

static inline int32_t sg_i16_from_f32(float f)
{
    if (!(f > -32768.0f))
        return f != f ? 0 : -32768;
    return f < 32767.0f ? (int32_t)f : 32767;
}

static inline uint32_t sg_u16_from_f32(float f)
{
    if (!(f > 0.0f))
        return 0;
    return f < 65535.0f ? (uint32_t)f : 65535;
}

// Normalised: [-1, 1] to [-32767, 32767] and [0, 1] to [0, 65535], nearest even.
static inline uint32_t sg_snorm16(float f)
{
    if (f != f)
        return 0;
    const float c = f > 1.0f ? 1.0f : f < -1.0f ? -1.0f : f;
    return (uint32_t)(int32_t)rintf(c * 32767.0f) & 0xffff;
}

static inline uint32_t sg_unorm16(float f)
{
    if (!(f > 0.0f))
        return 0;
    return (uint32_t)rintf((f > 1.0f ? 1.0f : f) * 65535.0f);
}

// Exponent and mantissa such that x = mantissa * 2^exponent, mantissa in [0.5, 1). Zero, infinity and NaN
// have exponent 0 and are their own mantissa.
static inline int sg_frexp_exp(double x)
{
    int e = 0;
    if (isfinite(x))
        frexp(x, &e);
    return e;
}

static inline double sg_frexp_mant(double x)
{
    int e;
    return isfinite(x) ? frexp(x, &e) : x;
}

// Class of a float given by its parts, as the bit of V_CMP_CLASS: 0 signalling NaN, 1 quiet NaN, 2 -infinity,
// 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +infinity.
static inline unsigned sg_class_bit(bool negative, bool exponent_max, bool exponent_zero, bool fraction_zero,
                                    bool quiet)
{
    if (exponent_max && !fraction_zero)
        return quiet ? 1 : 0;
    const unsigned positive_bit = exponent_max ? 9 : !exponent_zero ? 8 : fraction_zero ? 6 : 7;
    return negative ? 11 - positive_bit : positive_bit;
}

// Transcendental operations, in transcend.c. Angles are in turns, as in V_SIN_F32.
float sg_sin_turns(float turns);
float sg_cos_turns(float turns);

// Bits of 2/pi for the argument reduction of large doubles (V_TRIG_PREOP_F64).
double sg_trig_preop(double x, uint32_t segment);

#endif
