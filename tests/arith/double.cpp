// SPDX-License-Identifier: MIT
// f64 instructions against the host, bit for bit, and conversions between f64 and everything else.
#include "arith.hpp"

static bool nan(bits64 v)
{
    return is_nan(v, NAN64);
}

static bool signalling(bits64 v)
{
    return nan(v) && !(v & 1ull << 51);
}

static bits64 extreme(bits64 a, bits64 b, bool largest)
{
    if (signalling(a) || signalling(b))
        return (signalling(a) ? a : b) | 1ull << 51;
    if (nan(a) || nan(b))
        return nan(a) ? b : a;
    if (f64(a) == 0 && f64(b) == 0)
        return largest ? a & b : a | b;
    return (f64(a) < f64(b)) != largest ? a : b;
}

static double fraction(double x)
{
    const double f = x - floor(x);
    return f >= 1 ? 0x1.fffffffffffffp-1 : f;
}

static bits64 to_int(double x, double low, double high)
{
    return x != x ? 0 : (bits64)(long long)(x < low ? low : x > high ? high : x) & 0xffffffff;
}

static int exponent_of(double x)
{
    int e = 0;
    if (std::isfinite(x))
        frexp(x, &e);
    return e;
}

static double mantissa_of(double x)
{
    int e;
    return std::isfinite(x) ? frexp(x, &e) : x;
}

#define U bits32
#define D bits64
#define LIST(X)                                                                                              \
    X(add, D, D, D, D, "v_add_f64 %0, %1, %2", F64, F64, NONE, NAN64, bits(f64(a) + f64(b)))                 \
    X(add_neg, D, D, D, D, "v_add_f64 %0, -|%1|, %2", F64, F64, NONE, NAN64, bits(-fabs(f64(a)) + f64(b)))   \
    X(mul, D, D, D, D, "v_mul_f64 %0, %1, %2", F64, F64, NONE, NAN64, bits(f64(a) * f64(b)))                 \
    X(fma, D, D, D, D, "v_fma_f64 %0, %1, %2, %3", F64, F64, F64, NAN64, bits(fma(f64(a), f64(b), f64(c))))  \
    X(min, D, D, D, D, "v_min_f64 %0, %1, %2", F64, F64, NONE, EXACT, extreme(a, b, false))                  \
    X(max, D, D, D, D, "v_max_f64 %0, %1, %2", F64, F64, NONE, EXACT, extreme(a, b, true))                   \
    X(floor, D, D, D, D, "v_floor_f64 %0, %1", F64, NONE, NONE, NAN64, bits(floor(f64(a))))                  \
    X(ceil, D, D, D, D, "v_ceil_f64 %0, %1", F64, NONE, NONE, NAN64, bits(ceil(f64(a))))                     \
    X(trunc, D, D, D, D, "v_trunc_f64 %0, %1", F64, NONE, NONE, NAN64, bits(trunc(f64(a))))                  \
    X(rndne, D, D, D, D, "v_rndne_f64 %0, %1", F64, NONE, NONE, NAN64, bits(nearbyint(f64(a))))              \
    X(fract, D, D, D, D, "v_fract_f64 %0, %1", F64, NONE, NONE, NAN64, bits(fraction(f64(a))))               \
    X(ldexp, D, D, U, D, "v_ldexp_f64 %0, %1, %2", F64, INT32, NONE, NAN64,                                  \
      bits(ldexp(f64(a), (int)b > 4000    ? 4000                                                             \
                         : (int)b < -4000 ? -4000                                                            \
                                          : (int)b)))                                                        \
    X(frexp_exp, U, D, D, D, "v_frexp_exp_i32_f64 %0, %1", F64, NONE, NONE, EXACT, (U)exponent_of(f64(a)))   \
    X(frexp_mant, D, D, D, D, "v_frexp_mant_f64 %0, %1", F64, NONE, NONE, NAN64, bits(mantissa_of(f64(a))))  \
    X(to_i32, U, D, D, D, "v_cvt_i32_f64 %0, %1", F64, NONE, NONE, EXACT,                                    \
      to_int(f64(a), -0x1p31, 0x7fffffff))                                                                   \
    X(to_u32, U, D, D, D, "v_cvt_u32_f64 %0, %1", F64, NONE, NONE, EXACT, to_int(f64(a), 0, 0xffffffffu))    \
    X(to_f32, U, D, D, D, "v_cvt_f32_f64 %0, %1", F64, NONE, NONE, NAN32, bits((float)f64(a)))               \
    X(from_f32, D, U, D, D, "v_cvt_f64_f32 %0, %1", F32, NONE, NONE, NAN64, bits((double)f32(a)))            \
    X(from_i32, D, U, D, D, "v_cvt_f64_i32 %0, %1", INT32, NONE, NONE, EXACT, bits((double)(int)a))          \
    X(from_u32, D, U, D, D, "v_cvt_f64_u32 %0, %1", INT32, NONE, NONE, EXACT, bits((double)(U)a))            \
    X(less, U, D, D, D, "v_cmp_lt_f64 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F64, F64, NONE, EXACT,     \
      f64(a) < f64(b))                                                                                       \
    X(nle, U, D, D, D, "v_cmp_nle_f64 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F64, F64, NONE, EXACT,     \
      !(f64(a) <= f64(b)))                                                                                   \
    X(ordered, U, D, D, D, "v_cmp_o_f64 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F64, F64, NONE, EXACT,   \
      !nan(a) && !nan(b))

#define KERNEL(id, R, A, B, C, text, ka, kb, kc, how, host) VOP(id, R, A, B, C, text)
LIST(KERNEL)
#define ROW(id, R, A, B, C, text, ka, kb, kc, how, host) {#id, gpu_##id, HOST(host), ka, kb, kc, how},
static const operation operations[] = {LIST(ROW)};

int main()
{
    return run_operations("arith_double", operations);
}
