// SPDX-License-Identifier: MIT
// The out-of-line part of fp.h: conversions with all rounding modes, and the host's rounding mode.
#include "softgpu/isa/fp.h"

#include <fenv.h>

void sg_round_set(unsigned field)
{
    static const int host[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(host[field & 3]);
}

// Drops the lower `shift` bits (1..63) of m in a rounding mode.
static uint64_t round_shift(uint64_t m, unsigned shift, unsigned mode, bool negative)
{
    const uint64_t kept = m >> shift, rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    bool up = false;
    if (mode == 0)
        up = rest > half || (rest == half && kept & 1);
    else if (mode == 1)
        up = rest && !negative;
    else if (mode == 2)
        up = rest && negative;
    return kept + up;
}

uint32_t sg_f16_from_f64(double d, unsigned mode)
{
    const uint64_t bits = sg_bits64(d);
    const uint32_t sign = bits >> 48 & 0x8000;
    const bool negative = sign != 0;
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    const uint64_t fraction = bits & 0xfffffffffffffull;
    if (exponent == 1024)
        return sign | 0x7c00 | (fraction ? 0x200 | (uint32_t)(fraction >> 42) : 0);
    if (exponent == -1023 && !fraction)
        return sign;
    // The value is m * 2^(exponent - 52); an f16 keeps 11 bits, fewer below 2^-14.
    const uint64_t m = exponent == -1023 ? fraction : fraction | 1ull << 52;
    unsigned shift = exponent >= -14 ? 42 : (unsigned)(42 + (-14 - exponent));
    if (shift > 60)
        shift = 60; // far below the smallest denormal: only the sticky part counts
    const uint64_t r = round_shift(m, shift, mode, negative);
    const int64_t h = exponent >= -14 ? (int64_t)r + ((int64_t)(exponent + 14) << 10) : (int64_t)r;
    if (h < 0x7c00)
        return sign | (uint32_t)h;
    const bool to_infinity = mode == 0 || (mode == 1 && !negative) || (mode == 2 && negative);
    return sign | (to_infinity ? 0x7c00 : 0x7bff);
}

uint32_t sg_clamp_f16(uint32_t h, bool nan_to_zero)
{
    h &= 0xffff;
    if (sg_is_nan16(h))
        return nan_to_zero ? 0 : h;
    if (h & 0x8000)
        return 0;
    return h > 0x3c00 ? 0x3c00 : h;
}
