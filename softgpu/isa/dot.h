// SPDX-License-Identifier: MIT
// Dot products of packed elements and the fused multiply-add of f16, shared by VOP2, VOP3 and VOP3P.
#ifndef SG_DOT_H
#define SG_DOT_H

#include "softgpu/isa/fp.h"

// f16 bit patterns in and out, one rounding (mode as in MODE): the product of two f16 is exact in f64, and
// the sum rounded to odd keeps what the last rounding needs.
static inline uint32_t sg_fma16(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
{
    const double p = (double)sg_f32_from_f16(a) * (double)sg_f32_from_f16(b);
    return sg_f16_from_f64(sg_add_odd(p, (double)sg_f32_from_f16(c)), mode);
}

static inline uint32_t sg_normal16(uint32_t h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

static inline float sg_normal32(float f)
{
    const uint32_t bits = sg_bits32(f);
    return sg_f32(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

// Whatever MODE says, denormals are zeros here, in and out, and rounding is to nearest. Sources: "AMD Instinct MI300
// Instruction Set Architecture", V_DOT2 in section Denormals and Rounding; PyTorch documentation, "Numerical accuracy"
// (of MI200).
static inline float sg_dot2_f16(uint32_t a, uint32_t b, float c)
{
    const float a0 = sg_f32_from_f16(sg_normal16(a & 0xffff)), a1 = sg_f32_from_f16(sg_normal16(a >> 16));
    const float b0 = sg_f32_from_f16(sg_normal16(b & 0xffff)), b1 = sg_f32_from_f16(sg_normal16(b >> 16));
    return sg_normal32(sg_fma32(a1, b1, sg_fma32(a0, b0, sg_normal32(c))));
}

// Sum of products of the signed `bits`-wide elements of a and b, plus c; saturating with clamp.
static inline uint32_t sg_dot_signed(uint32_t a, uint32_t b, uint32_t c, unsigned bits, bool clamp)
{
    int64_t sum = (int32_t)c;
    for (unsigned at = 0; at < 32; at += bits) {
        const int32_t x = (int32_t)(a << (32 - bits - at)) >> (32 - bits);
        const int32_t y = (int32_t)(b << (32 - bits - at)) >> (32 - bits);
        sum += (int64_t)x * y;
    }
    if (clamp)
        sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
    return (uint32_t)sum;
}

static inline uint32_t sg_dot_unsigned(uint32_t a, uint32_t b, uint32_t c, unsigned bits, bool clamp)
{
    uint64_t sum = c;
    for (unsigned at = 0; at < 32; at += bits) {
        const uint32_t mask = (1u << bits) - 1;
        sum += (uint64_t)(a >> at & mask) * (b >> at & mask);
    }
    return clamp && sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

#endif
