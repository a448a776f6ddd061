// SPDX-License-Identifier: MIT
// f32 instructions against the host, bit for bit: arithmetic, fused forms, minimum and maximum with their NaN
// rules, rounding to integers, scaling, conversions, and input and output modifiers. Rules of minimum and
// maximum: "AMD Instinct MI200 Instruction Set Architecture", V_MIN_F32, in IEEE mode.
#include "arith.hpp"

static bits64 quiet(bits64 v)
{
    return v | 0x400000;
}

static bool nan(bits64 v)
{
    return is_nan(v, NAN32);
}

static bool signalling(bits64 v)
{
    return nan(v) && !(v & 0x400000);
}

static bits64 extreme(bits64 a, bits64 b, bool largest)
{
    if (signalling(a) || signalling(b))
        return quiet(signalling(a) ? a : b);
    if (nan(a) || nan(b))
        return nan(a) ? b : a;
    if (f32(a) == 0 && f32(b) == 0)
        return largest ? a & b : a | b;
    return (f32(a) < f32(b)) != largest ? a : b;
}

static bits64 median(bits64 a, bits64 b, bits64 c)
{
    if (nan(a) || nan(b) || nan(c))
        return extreme(extreme(a, b, false), c, false);
    const bits64 top = extreme(extreme(a, b, true), c, true);
    if (f32(top) == f32(a))
        return extreme(b, c, true);
    return f32(top) == f32(b) ? extreme(a, c, true) : extreme(a, b, true);
}

static float fraction(float x)
{
    const float f = x - floorf(x);
    return f >= 1 ? 0x1.fffffep-1f : f;
}

static float clamp(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0; // NaN too: DX10 clamp
}

static bits64 to_int(double x, double low, double high)
{
    return x != x ? 0 : (bits64)(long long)(x < low ? low : x > high ? high : x) & 0xffffffff;
}

static double sanitized(double x)
{
    return std::isfinite(x) ? x : 0;
}

static int exponent_of(double x)
{
    int e = 0;
    frexp(sanitized(x), &e);
    return e;
}

static double mantissa_of(double x)
{
    int e;
    return std::isfinite(x) ? frexp(x, &e) : x;
}

// The bit of V_CMP_CLASS_F32's mask.
static unsigned class_of(bits64 v)
{
    const bool negative = std::signbit(f32(v));
    switch (std::fpclassify(f32(v))) {
    case FP_NAN:
        return !signalling(v);
    case FP_INFINITE:
        return negative ? 2 : 9;
    case FP_NORMAL:
        return negative ? 3 : 8;
    case FP_SUBNORMAL:
        return negative ? 4 : 7;
    default:
        return negative ? 5 : 6;
    }
}

#define U bits32
#define LIST(X)                                                                                              \
    X(add, "v_add_f32 %0, %1, %2", F32, F32, NONE, NAN32, bits(f32(a) + f32(b)))                             \
    X(sub, "v_sub_f32 %0, %1, %2", F32, F32, NONE, NAN32, bits(f32(a) - f32(b)))                             \
    X(subrev, "v_subrev_f32 %0, %1, %2", F32, F32, NONE, NAN32, bits(f32(b) - f32(a)))                       \
    X(mul, "v_mul_f32 %0, %1, %2", F32, F32, NONE, NAN32, bits(f32(a) * f32(b)))                             \
    X(fma, "v_fma_f32 %0, %1, %2, %3", F32, F32, F32, NAN32, bits(fmaf(f32(a), f32(b), f32(c))))             \
    X(fma_neg, "v_fma_f32 %0, -%1, |%2|, -|%3|", F32, F32, F32, NAN32,                                       \
      bits(fmaf(-f32(a), fabsf(f32(b)), -fabsf(f32(c)))))                                                    \
    X(fma_half, "v_fma_f32 %0, %1, 0.5, %3", F32, NONE, F32, NAN32, bits(fmaf(f32(a), 0.5f, f32(c))))        \
    X(fmac, "v_mov_b32 %0, %3\n v_fmac_f32 %0, %1, %2", F32, F32, F32, NAN32,                                \
      bits(fmaf(f32(a), f32(b), f32(c))))                                                                    \
    X(fma_clamp, "v_fma_f32 %0, %1, %2, %3 clamp", F32, F32, F32, NAN32,                                     \
      bits(clamp(fmaf(f32(a), f32(b), f32(c)))))                                                             \
    X(add_clamp, "v_add_f32_e64 %0, %1, %2 clamp", F32, F32, NONE, NAN32, bits(clamp(f32(a) + f32(b))))      \
    X(min, "v_min_f32 %0, %1, %2", F32, F32, NONE, EXACT, extreme(a, b, false))                              \
    X(max, "v_max_f32 %0, %1, %2", F32, F32, NONE, EXACT, extreme(a, b, true))                               \
    X(min3, "v_min3_f32 %0, %1, %2, %3", F32, F32, F32, EXACT, extreme(extreme(a, b, false), c, false))      \
    X(max3, "v_max3_f32 %0, %1, %2, %3", F32, F32, F32, EXACT, extreme(extreme(a, b, true), c, true))        \
    X(med3, "v_med3_f32 %0, %1, %2, %3", F32, F32, F32, NAN32, median(a, b, c))                              \
    X(floor, "v_floor_f32 %0, %1", F32, NONE, NONE, NAN32, bits(floorf(f32(a))))                             \
    X(ceil, "v_ceil_f32 %0, %1", F32, NONE, NONE, NAN32, bits(ceilf(f32(a))))                                \
    X(trunc, "v_trunc_f32 %0, %1", F32, NONE, NONE, NAN32, bits(truncf(f32(a))))                             \
    X(rndne, "v_rndne_f32 %0, %1", F32, NONE, NONE, NAN32, bits(nearbyintf(f32(a))))                         \
    X(fract, "v_fract_f32 %0, %1", F32, NONE, NONE, NAN32, bits(fraction(f32(a))))                           \
    X(ldexp, "v_ldexp_f32 %0, %1, %2", F32, SHIFT, NONE, NAN32,                                              \
      bits(ldexpf(f32(a), (int)b > 400    ? 400                                                              \
                          : (int)b < -400 ? -400                                                             \
                                          : (int)b)))                                                        \
    X(frexp_exp, "v_frexp_exp_i32_f32 %0, %1", F32, NONE, NONE, EXACT, (U)exponent_of(f32(a)))               \
    X(frexp_mant, "v_frexp_mant_f32 %0, %1", F32, NONE, NONE, NAN32, bits((float)mantissa_of(f32(a))))       \
    X(to_i32, "v_cvt_i32_f32 %0, %1", F32, NONE, NONE, EXACT, to_int(f32(a), -0x1p31, 0x7fffffff))           \
    X(to_u32, "v_cvt_u32_f32 %0, %1", F32, NONE, NONE, EXACT, to_int(f32(a), 0, 0xffffffffu))                \
    X(to_flr, "v_cvt_flr_i32_f32 %0, %1", F32, NONE, NONE, EXACT,                                            \
      to_int(floor(f32(a)), -0x1p31, 0x7fffffff))                                                            \
    X(to_rpi, "v_cvt_rpi_i32_f32 %0, %1", F32, NONE, NONE, EXACT,                                            \
      to_int(floor((double)f32(a) + 0.5), -0x1p31, 0x7fffffff))                                              \
    X(from_i32, "v_cvt_f32_i32 %0, %1", INT32, NONE, NONE, EXACT, bits((float)(int)a))                       \
    X(from_u32, "v_cvt_f32_u32 %0, %1", INT32, NONE, NONE, EXACT, bits((float)(U)a))                         \
    X(ubyte0, "v_cvt_f32_ubyte0 %0, %1", INT32, NONE, NONE, EXACT, bits((float)(a & 0xff)))                  \
    X(ubyte3, "v_cvt_f32_ubyte3 %0, %1", INT32, NONE, NONE, EXACT, bits((float)(a >> 24 & 0xff)))            \
    X(omod, "v_mul_f32_e64 %0, %1, %2 clamp", F32, F32, NONE, NAN32, bits(clamp(f32(a) * f32(b))))           \
    X(less, "v_cmp_lt_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F32, F32, NONE, EXACT,                 \
      f32(a) < f32(b))                                                                                       \
    X(nge, "v_cmp_nge_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F32, F32, NONE, EXACT,                 \
      !(f32(a) >= f32(b)))                                                                                   \
    X(lg, "v_cmp_lg_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F32, F32, NONE, EXACT,                   \
      f32(a) < f32(b) || f32(a) > f32(b))                                                                    \
    X(unordered, "v_cmp_u_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F32, F32, NONE, EXACT,             \
      nan(a) || nan(b))                                                                                      \
    X(class_normal, "v_cmp_class_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F32, SHIFT, NONE, EXACT,    \
      b >> class_of(a) & 1)

#define KERNEL(id, text, ka, kb, kc, how, host) VOP(id, U, U, U, U, text)
LIST(KERNEL)
#define ROW(id, text, ka, kb, kc, how, host) {#id, gpu_##id, HOST(host), ka, kb, kc, how},
static const operation operations[] = {LIST(ROW)};

int main()
{
    return run_operations("arith_single", operations);
}
