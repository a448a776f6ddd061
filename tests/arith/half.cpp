// SPDX-License-Identifier: MIT
// f16 instructions against the host, bit for bit: scalar and packed arithmetic, fused and mixed forms, NaN
// rules of minimum and maximum, conversions with their rounding.
#include "arith.hpp"

static bool nan(bits64 v)
{
    return is_nan(v, NAN16);
}

static bool signalling(bits64 v)
{
    return nan(v) && !(v & 0x200);
}

static bits64 extreme(bits64 a, bits64 b, bool largest)
{
    a &= 0xffff;
    b &= 0xffff;
    if (signalling(a) || signalling(b))
        return (signalling(a) ? a : b) | 0x200;
    if (nan(a) || nan(b))
        return nan(a) ? b : a;
    if (f16(a) == 0 && f16(b) == 0)
        return largest ? a & b : a | b;
    return (f16(a) < f16(b)) != largest ? a : b;
}

static bits64 pair(bits64 low, bits64 high)
{
    return low | high << 16;
}

// Toward zero.
static bits64 truncated(double d)
{
    bits64 h = half(d);
    if (d == d && std::isfinite(d) && fabs(f16(h)) > fabs(d))
        h--;
    return d != d ? 0x7e00 : std::isinf(d) ? h : (h & 0x7fff) == 0x7c00 ? h - 1 : h;
}

static bits64 to_int(double x, double low, double high)
{
    return x != x ? 0 : (bits64)(long long)(x < low ? low : x > high ? high : x) & 0xffff;
}

static bits64 mixed(float a, double b, float c)
{
    return bits((float)fmaf(a, (float)b, c));
}

#define L(v) f16(v)
#define H(v) f16((v) >> 16)
#define LIST(X)                                                                                              \
    X(add, "v_add_f16 %0, %1, %2", F16, F16, NONE, NAN16, half(L(a) + L(b)))                                 \
    X(sub, "v_sub_f16 %0, %1, %2", F16, F16, NONE, NAN16, half(L(a) - L(b)))                                 \
    X(mul, "v_mul_f16 %0, %1, %2", F16, F16, NONE, NAN16, half(L(a) * L(b)))                                 \
    X(fma, "v_fma_f16 %0, %1, %2, %3", F16, F16, F16, NAN16, half_fma(L(a), L(b), L(c)))                     \
    X(fma_high, "v_fma_f16 %0, %1, -%2, |%3| op_sel:[1,0,1,0]", F16, F16, F16, NAN16,                        \
      half_fma(H(a), -L(b), fabs(H(c))))                                                                     \
    X(min, "v_min_f16 %0, %1, %2", F16, F16, NONE, LOW16, extreme(a, b, false))                              \
    X(max, "v_max_f16 %0, %1, %2", F16, F16, NONE, LOW16, extreme(a, b, true))                               \
    X(min3, "v_min3_f16 %0, %1, %2, %3", F16, F16, F16, NAN16, extreme(extreme(a, b, false), c, false))      \
    X(max3, "v_max3_f16 %0, %1, %2, %3", F16, F16, F16, NAN16, extreme(extreme(a, b, true), c, true))        \
    X(floor, "v_floor_f16 %0, %1", F16, NONE, NONE, NAN16, half(floor(L(a))))                                \
    X(ceil, "v_ceil_f16 %0, %1", F16, NONE, NONE, NAN16, half(ceil(L(a))))                                   \
    X(trunc, "v_trunc_f16 %0, %1", F16, NONE, NONE, NAN16, half(trunc(L(a))))                                \
    X(rndne, "v_rndne_f16 %0, %1", F16, NONE, NONE, NAN16, half(nearbyint(L(a))))                            \
    X(ldexp, "v_ldexp_f16 %0, %1, %2", F16, SHIFT, NONE, NAN16, half(ldexp(L(a), (short)b)))                 \
    X(to_f32, "v_cvt_f32_f16 %0, %1", F16, NONE, NONE, NAN32, bits((float)L(a)))                             \
    X(from_f32, "v_cvt_f16_f32 %0, %1", F32, NONE, NONE, NAN16, half(f32(a)))                                \
    X(pkrtz, "v_cvt_pkrtz_f16_f32 %0, %1, %2", F32, F32, NONE, NAN_PAIR16,                                   \
      pair(truncated(f32(a)), truncated(f32(b))))                                                            \
    X(to_u16, "v_cvt_u16_f16 %0, %1", F16, NONE, NONE, LOW16, to_int(L(a), 0, 65535))                        \
    X(to_i16, "v_cvt_i16_f16 %0, %1", F16, NONE, NONE, LOW16, to_int(L(a), -32768, 32767))                   \
    X(from_u16, "v_cvt_f16_u16 %0, %1", INT32, NONE, NONE, LOW16, half((double)(a & 0xffff)))                \
    X(from_i16, "v_cvt_f16_i16 %0, %1", INT32, NONE, NONE, LOW16, half((double)(short)a))                    \
    X(pk_add, "v_pk_add_f16 %0, %1, %2", F16, F16, NONE, NAN_PAIR16,                                         \
      pair(half(L(a) + L(b)), half(H(a) + H(b))))                                                            \
    X(pk_mul, "v_pk_mul_f16 %0, %1, %2 op_sel:[0,1] op_sel_hi:[1,0]", F16, F16, NONE, NAN_PAIR16,            \
      pair(half(L(a) * H(b)), half(H(a) * L(b))))                                                            \
    X(pk_fma, "v_pk_fma_f16 %0, %1, %2, %3", F16, F16, F16, NAN_PAIR16,                                      \
      pair(half_fma(L(a), L(b), L(c)), half_fma(H(a), H(b), H(c))))                                          \
    X(pk_neg, "v_pk_add_f16 %0, %1, %2 neg_lo:[1,0] neg_hi:[0,1]", F16, F16, NONE, NAN_PAIR16,               \
      pair(half(-L(a) + L(b)), half(H(a) - H(b))))                                                           \
    X(pk_min, "v_pk_min_f16 %0, %1, %2", F16, F16, NONE, NAN_PAIR16,                                         \
      pair(extreme(a, b, false), extreme(a >> 16, b >> 16, false)))                                          \
    X(pk_max, "v_pk_max_f16 %0, %1, %2", F16, F16, NONE, NAN_PAIR16,                                         \
      pair(extreme(a, b, true), extreme(a >> 16, b >> 16, true)))                                            \
    X(mix, "v_fma_mix_f32 %0, %1, %2, %3 op_sel:[0,1,0] op_sel_hi:[0,1,0]", F32, F16, F32, NAN32,            \
      mixed(f32(a), H(b), f32(c)))                                                                           \
    X(mix_neg, "v_fma_mix_f32 %0, -%1, %2, |%3| op_sel_hi:[0,1,0]", F32, F16, F32, NAN32,                    \
      mixed(-f32(a), L(b), fabsf(f32(c))))                                                                   \
    X(less, "v_cmp_lt_f16 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F16, F16, NONE, EXACT, L(a) < L(b))    \
    X(neq, "v_cmp_neq_f16 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", F16, F16, NONE, EXACT, !(L(a) == L(b)))

#define KERNEL(id, text, ka, kb, kc, how, host) VOP(id, bits32, bits32, bits32, bits32, text)
LIST(KERNEL)
#define ROW(id, text, ka, kb, kc, how, host) {#id, gpu_##id, HOST(host), ka, kb, kc, how},
static const operation operations[] = {LIST(ROW)};

int main()
{
    return run_operations("arith_half", operations);
}
