// SPDX-License-Identifier: MIT
// Packed f32 instructions (two in one) with their selections and negations, and multiply-adds in the other
// rounding modes and with denormals flushed, set in the MODE register around the instruction, against the
// host in the same mode.
#include "arith.hpp"

#include <cfenv>

static float low(bits64 v)
{
    return f32(v);
}

static float high(bits64 v)
{
    return f32(v >> 32);
}

// A NaN of any kind becomes one, in both halves.
static bits64 pair(float x, float y)
{
    const bits64 p = x != x ? 0x7fc00000 : bits(x), q = y != y ? 0x7fc00000 : bits(y);
    return p | q << 32;
}

static float flushed(float x)
{
    return std::fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

template <typename F> static auto rounding(int mode, F compute) -> decltype(compute())
{
    fesetround(mode);
    const auto r = compute();
    fesetround(FE_TONEAREST);
    return r;
}

// The compiler must not move or fold arithmetic across the change of mode.
template <typename T> static T opaque(T v)
{
    volatile T copy = v;
    return copy;
}

#define D bits64
#define U bits32
// MODE[1:0] is the rounding of f32, [3:2] of f64, [5:4] denormals of f32; set, used, and put back to the
// usual.
#define IN_MODE(offset, width, value, text)                                                                  \
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, " #offset ", " #width "), " #value "\n s_nop 1\n " text           \
    "\n s_nop 1\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0"
#define ADD32               (opaque(f32(a)) + opaque(f32(b)))
#define MUL32               (opaque(f32(a)) * opaque(f32(b)))
#define FMA32               fmaf(opaque(f32(a)), opaque(f32(b)), opaque(f32(c)))
#define ADD64               (opaque(f64(a)) + opaque(f64(b)))
#define FMA64               fma(opaque(f64(a)), opaque(f64(b)), opaque(f64(c)))
#define ROUNDED(mode, T, e) bits(rounding(mode, [&]() -> T { return opaque<T>(e); }))

#define PACKED(X)                                                                                            \
    X(pk_add, "v_pk_add_f32 %0, %1, %2", pair(low(a) + low(b), high(a) + high(b)))                           \
    X(pk_mul, "v_pk_mul_f32 %0, %1, %2", pair(low(a) * low(b), high(a) * high(b)))                           \
    X(pk_fma, "v_pk_fma_f32 %0, %1, %2, %3",                                                                 \
      pair(fmaf(low(a), low(b), low(c)), fmaf(high(a), high(b), high(c))))                                   \
    X(pk_add_swapped, "v_pk_add_f32 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1]",                                \
      pair(high(a) + low(b), low(a) + high(b)))                                                              \
    X(pk_mul_one, "v_pk_mul_f32 %0, %1, %2 op_sel_hi:[1,0]", pair(low(a) * low(b), high(a) * low(b)))        \
    X(pk_fma_neg, "v_pk_fma_f32 %0, %1, %2, %3 neg_lo:[1,0,0] neg_hi:[0,0,1]",                               \
      pair(fmaf(-low(a), low(b), low(c)), fmaf(high(a), high(b), -high(c))))

#define MODES(X)                                                                                             \
    X(add_up, U, IN_MODE(0, 2, 1, "v_add_f32 %0, %1, %2"), F32, NAN32, ROUNDED(FE_UPWARD, float, ADD32))     \
    X(add_down, U, IN_MODE(0, 2, 2, "v_add_f32 %0, %1, %2"), F32, NAN32, ROUNDED(FE_DOWNWARD, float, ADD32)) \
    X(add_zero, U, IN_MODE(0, 2, 3, "v_add_f32 %0, %1, %2"), F32, NAN32,                                     \
      ROUNDED(FE_TOWARDZERO, float, ADD32))                                                                  \
    X(mul_up, U, IN_MODE(0, 2, 1, "v_mul_f32 %0, %1, %2"), F32, NAN32, ROUNDED(FE_UPWARD, float, MUL32))     \
    X(fma_up, U, IN_MODE(0, 2, 1, "v_fma_f32 %0, %1, %2, %3"), F32, NAN32, ROUNDED(FE_UPWARD, float, FMA32)) \
    X(fma_down, U, IN_MODE(0, 2, 2, "v_fma_f32 %0, %1, %2, %3"), F32, NAN32,                                 \
      ROUNDED(FE_DOWNWARD, float, FMA32))                                                                    \
    X(fma_zero, U, IN_MODE(0, 2, 3, "v_fma_f32 %0, %1, %2, %3"), F32, NAN32,                                 \
      ROUNDED(FE_TOWARDZERO, float, FMA32))                                                                  \
    X(add64_up, D, IN_MODE(2, 2, 1, "v_add_f64 %0, %1, %2"), F64, NAN64, ROUNDED(FE_UPWARD, double, ADD64))  \
    X(fma64_zero, D, IN_MODE(2, 2, 3, "v_fma_f64 %0, %1, %2, %3"), F64, NAN64,                               \
      ROUNDED(FE_TOWARDZERO, double, FMA64))                                                                 \
    X(fma64_down, D, IN_MODE(2, 2, 2, "v_fma_f64 %0, %1, %2, %3"), F64, NAN64,                               \
      ROUNDED(FE_DOWNWARD, double, FMA64))                                                                   \
    X(to_f32_up, U, IN_MODE(0, 2, 1, "v_cvt_f32_i32 %0, %1"), INT32, NAN32,                                  \
      ROUNDED(FE_UPWARD, float, (float)opaque((int)a)))                                                      \
    X(flush_add, U, IN_MODE(4, 2, 0, "v_add_f32 %0, %1, %2"), F32, NAN32,                                    \
      bits(flushed(flushed(f32(a)) + flushed(f32(b)))))                                                      \
    X(flush_mul, U, IN_MODE(4, 2, 0, "v_mul_f32 %0, %1, %2"), F32, NAN32,                                    \
      bits(flushed(flushed(f32(a)) * flushed(f32(b)))))                                                      \
    X(flush_inputs, U, IN_MODE(4, 2, 2, "v_mul_f32 %0, %1, %2"), F32, NAN32,                                 \
      bits(flushed(f32(a)) * flushed(f32(b))))                                                               \
    X(flush_outputs, U, IN_MODE(4, 2, 1, "v_mul_f32 %0, %1, %2"), F32, NAN32, bits(flushed(f32(a) * f32(b))))

// Each NaN among the halves becomes the one that pair() makes.
#define KERNEL(id, text, host)                                                                               \
    __global__ void gpu_##id(const bits64 *a, const bits64 *b, const bits64 *c, bits64 *out)                 \
    {                                                                                                        \
        const bits64 x = a[AT], y = b[AT], z = c[AT];                                                        \
        bits64 r;                                                                                            \
        asm volatile(text : "=&v"(r) : "v"(x), "v"(y), "v"(z));                                              \
        const U p = (U)r, q = (U)(r >> 32);                                                                  \
        out[AT] = ((p & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : p) |                                         \
                  (bits64)((q & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : q) << 32;                            \
    }
#define ROW(id, text, host)                {#id, gpu_##id, HOST(host), PAIR32, PAIR32, PAIR32, EXACT},
#define KERNEL2(id, T, text, k, how, host) VOP(id, T, T, T, T, text)
#define ROW2(id, T, text, k, how, host)    {#id, gpu_##id, HOST(host), k, k, k, how},
PACKED(KERNEL)
MODES(KERNEL2)
static const operation operations[] = {PACKED(ROW) MODES(ROW2)};

int main()
{
    return run_operations("arith_packed", operations);
}
