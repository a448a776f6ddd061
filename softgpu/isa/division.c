// SPDX-License-Identifier: MIT
// Scale, multiply-add and fix-up steps of division. Compiled division scales both operands away from overflow
// and denormals, refines a reciprocal with fused multiply-adds, scales the quotient back with one rounding
// and fixes the special cases. Source: "AMD Instinct MI200 Instruction Set Architecture" reference guide,
// V_DIV_SCALE_F32, V_DIV_FMAS_F32, V_DIV_FIXUP_F32 and their F64 forms.
#include "softgpu/isa/division.h"
#include "softgpu/isa/fp.h"

#include <fenv.h>

static int exponent32(uint32_t x)
{
    return (int)(x >> 23 & 0xff);
}

static int exponent64(uint64_t x)
{
    return (int)(x >> 52 & 0x7ff);
}

static bool is_denormal32(uint32_t x)
{
    return !exponent32(x) && x << 1;
}

static bool is_denormal64(uint64_t x)
{
    return !exponent64(x) && x << 1;
}

static uint32_t scale32(uint32_t x, int by)
{
    return sg_bits32(ldexpf(sg_f32(x), by));
}

static uint64_t scale64(uint64_t x, int by)
{
    return sg_bits64(ldexp(sg_f64(x), by));
}

uint32_t sg_div_scale32(uint32_t s, uint32_t d, uint32_t n, bool *post)
{
    *post = false;
    if (!(d << 1) || !(n << 1))
        return 0x7fc00000u;
    if (exponent32(n) - exponent32(d) >= 96) { // quotient near overflow: scale the denominator alone
        *post = true;
        return s == d ? scale32(s, 64) : s;
    }
    if (is_denormal32(d))
        return scale32(s, 64);
    const bool tiny_reciprocal = is_denormal32(sg_bits32(1.0f / sg_f32(d)));
    const bool tiny_quotient = is_denormal32(sg_bits32(sg_f32(n) / sg_f32(d)));
    if (tiny_reciprocal && tiny_quotient) { // huge denominator: scale it down alone
        *post = true;
        return s == d ? scale32(s, -64) : s;
    }
    if (tiny_reciprocal)
        return scale32(s, -64);
    if (tiny_quotient) { // scale the numerator alone
        *post = true;
        return s == n ? scale32(s, 64) : s;
    }
    return exponent32(n) <= 23 ? scale32(s, 64) : s; // tiny numerator
}

uint64_t sg_div_scale64(uint64_t s, uint64_t d, uint64_t n, bool *post)
{
    *post = false;
    if (!(d << 1) || !(n << 1))
        return 0x7ff8000000000000ull;
    if (exponent64(n) - exponent64(d) >= 768) {
        *post = true;
        return s == d ? scale64(s, 128) : s;
    }
    if (is_denormal64(d))
        return scale64(s, 128);
    const bool tiny_reciprocal = is_denormal64(sg_bits64(1.0 / sg_f64(d)));
    const bool tiny_quotient = is_denormal64(sg_bits64(sg_f64(n) / sg_f64(d)));
    if (tiny_reciprocal && tiny_quotient) {
        *post = true;
        return s == d ? scale64(s, -128) : s;
    }
    if (tiny_reciprocal)
        return scale64(s, -128);
    if (tiny_quotient) {
        *post = true;
        return s == n ? scale64(s, 128) : s;
    }
    return exponent64(n) <= 53 ? scale64(s, 128) : s;
}

// The quotient c shows which way it was scaled: a large one came from a denominator scaled up.
float sg_div_fmas32(float a, float b, float c, bool post)
{
    if (!post)
        return fmaf(a, b, c);
    const double exact = sg_add_odd((double)a * (double)b, (double)c);
    return (float)(exponent32(sg_bits32(c)) > 127 ? exact * 0x1p64 : exact * 0x1p-64);
}

// a * b + c cut off towards zero; *inexact says whether something was cut off.
static double fma_truncated(double a, double b, double c, bool *inexact)
{
    const int mode = fegetround();
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_INEXACT);
    volatile double x = a, y = b, z = c;
    volatile double truncated = fma(x, y, z);
    *inexact = fetestexcept(FE_INEXACT);
    fesetround(mode);
    return truncated;
}

// x * 2^-128 as a denormal, to nearest even. x is normal and cut off; `inexact` stands for the bits below it.
static double scale_to_denormal(double x, bool inexact)
{
    const uint64_t bits = sg_bits64(x), sign = bits & 1ull << 63;
    const uint64_t m = ((bits & 0xfffffffffffffull) | 1ull << 52) << 1 | inexact;
    // The last bit of m is worth 2^(exponent - 1076); one of a denormal is worth 2^-1074.
    const int shift = 128 + 2 - exponent64(bits);
    if (shift > 55)
        return sg_f64(sign);
    const uint64_t kept = m >> shift, rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    return sg_f64(sign | (kept + (rest > half || (rest == half && kept & 1))));
}

double sg_div_fmas64(double a, double b, double c, bool post)
{
    if (!post)
        return fma(a, b, c);
    if (exponent64(sg_bits64(c)) > 1023)
        return fma(a, b, c) * 0x1p128;
    bool inexact;
    const double truncated = fma_truncated(a, b, c, &inexact);
    const int exponent = exponent64(sg_bits64(truncated));
    return exponent && exponent <= 128 ? scale_to_denormal(truncated, inexact) : fma(a, b, c) * 0x1p-128;
}

uint32_t sg_div_fixup32(uint32_t q, uint32_t d, uint32_t n)
{
    const uint32_t sign = (d ^ n) & 0x80000000u, abs_d = d & 0x7fffffffu, abs_n = n & 0x7fffffffu;
    if (sg_is_nan32(n))
        return n | 0x400000u;
    if (sg_is_nan32(d))
        return d | 0x400000u;
    if ((!abs_d && !abs_n) || (abs_d == 0x7f800000u && abs_n == 0x7f800000u))
        return 0xffc00000u;
    if (!abs_d || abs_n == 0x7f800000u)
        return sign | 0x7f800000u;
    if (!abs_n || abs_d == 0x7f800000u || exponent32(n) - exponent32(d) < -150)
        return sign;
    return sign | (sg_is_nan32(q) ? 0x7f800000u : q & 0x7fffffffu); // refinement of an overflow ends in NaN
}

uint64_t sg_div_fixup64(uint64_t q, uint64_t d, uint64_t n)
{
    const uint64_t top = 1ull << 63, inf = 0x7ff0000000000000ull;
    const uint64_t sign = (d ^ n) & top, abs_d = d & ~top, abs_n = n & ~top;
    if (sg_is_nan64(n))
        return n | 1ull << 51;
    if (sg_is_nan64(d))
        return d | 1ull << 51;
    if ((!abs_d && !abs_n) || (abs_d == inf && abs_n == inf))
        return 0xfff8000000000000ull;
    if (!abs_d || abs_n == inf)
        return sign | inf;
    if (!abs_n || abs_d == inf || exponent64(n) - exponent64(d) < -1075)
        return sign;
    return sign | (sg_is_nan64(q) ? inf : q & ~top);
}

uint32_t sg_div_fixup16(uint32_t q, uint32_t d, uint32_t n)
{
    const uint32_t sign = (d ^ n) & 0x8000, abs_d = d & 0x7fff, abs_n = n & 0x7fff;
    if (sg_is_nan16(n))
        return n | 0x200;
    if (sg_is_nan16(d))
        return d | 0x200;
    if ((!abs_d && !abs_n) || (abs_d == 0x7c00 && abs_n == 0x7c00))
        return 0xfe00;
    if (!abs_d || abs_n == 0x7c00)
        return sign | 0x7c00;
    if (!abs_n || abs_d == 0x7c00)
        return sign;
    return sign | (sg_is_nan16(q) ? 0x7c00 : q & 0x7fff);
}
