// SPDX-License-Identifier: MIT
// Operations that need more than one expression: trigonometry in turns and the digits of 2/pi.
// Source: "AMD Instinct MI200 Instruction Set Architecture" reference guide, V_SIN_F32 and V_TRIG_PREOP_F64.
#include "softgpu/isa/convert.h"

#define TWO_PI 6.283185307179586476925286766559
// Beyond this many turns the functions give what they give at 0; compiled code reduces the angle before.
#define MAX_TURNS 256.0

float sg_sin_turns(float turns)
{
    const double t = fabsf(turns) <= MAX_TURNS || !isfinite(turns) ? (double)turns : 0.0;
    return (float)sin((t - floor(t)) * TWO_PI);
}

float sg_cos_turns(float turns)
{
    const double t = fabsf(turns) <= MAX_TURNS || !isfinite(turns) ? (double)turns : 0.0;
    return (float)cos((t - floor(t)) * TWO_PI);
}

// The first 1280 bits of the fraction 2/pi, most significant word first; computed with Machin's formula.
static const uint64_t two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

// 53 bits of 2/pi from bit position `first` (0 = most significant).
static uint64_t two_over_pi_bits(unsigned first)
{
    const unsigned word = first / 64, bit = first % 64;
    if (word >= 20)
        return 0;
    uint64_t v = two_over_pi[word] << bit;
    if (bit && word + 1 < 20)
        v |= two_over_pi[word + 1] >> (64 - bit);
    return v >> 11;
}

double sg_trig_preop(double x, uint32_t segment)
{
    const int exponent = (int)(sg_bits64(x) >> 52 & 0x7ff);
    int shift = (int)(segment & 31) * 53;
    if (exponent > 1077)
        shift += exponent - 1077;
    int scale = -53 - shift;
    if (exponent >= 1968)
        scale += 128;
    return ldexp((double)two_over_pi_bits((unsigned)shift), scale);
}
