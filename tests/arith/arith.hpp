// SPDX-License-Identifier: MIT
// One instruction, many operands: each operation is a kernel of one assembly instruction and the same thing
// written for the host; both take 64-bit patterns of which they use what they need. Operands are drawn from
// special values and from random bits of their kind, with close exponents often enough that cancellation and
// ties occur.
#pragma once

#include "../apps/check.hpp"

typedef uint64_t bits64;
typedef uint32_t bits32;

// How operands are drawn.
enum kind { INT32, INT64, SHIFT, F32, F64, F16, PAIR32, NONE };
// How results are compared: all bits; all bits but any NaN equals any other; the low 16 bits alone.
enum compare { EXACT, NAN32, NAN64, NAN16, NAN_PAIR16, LOW16 };

struct operation {
    const char *name;
    void (*kernel)(const bits64 *, const bits64 *, const bits64 *, bits64 *);
    bits64 (*host)(bits64, bits64, bits64);
    kind a, b, c;
    compare how;
};

static inline float f32(bits64 v)
{
    const bits32 low = (bits32)v;
    float f;
    std::memcpy(&f, &low, sizeof(f));
    return f;
}

static inline double f64(bits64 v)
{
    double d;
    std::memcpy(&d, &v, sizeof(d));
    return d;
}

static inline bits64 bits(float f)
{
    bits32 v;
    std::memcpy(&v, &f, sizeof(v));
    return v;
}

static inline bits64 bits(double d)
{
    bits64 v;
    std::memcpy(&v, &d, sizeof(v));
    return v;
}

static inline double f16(bits64 v) // exact
{
    const unsigned exponent = v >> 10 & 31, fraction = v & 0x3ff;
    double d = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                              : ldexp(fraction, -24);
    return v & 0x8000 ? -d : d;
}

// To nearest even, from the exact value or one rounded to odd.
static inline bits64 half(double d)
{
    const bits64 sign = bits(d) >> 48 & 0x8000;
    const double m = fabs(d);
    if (d != d)
        return 0x7e00;
    if (m == 0 || m >= 65520)
        return m == 0 ? sign : sign | 0x7c00;
    int exponent = 0;
    frexp(m, &exponent);
    const int unit = exponent > -13 ? exponent - 11 : -24; // of the last place
    const double scaled = nearbyint(ldexp(m, -unit));      // at most 2048
    return sign | (exponent > -13 ? (bits64)((exponent + 13) << 10) + (bits64)scaled : (bits64)scaled);
}

// The sum is exact in 64 bits; rounded to odd in 53 it rounds once more to f16 correctly.
static inline bits64 half_fma(double a, double b, double c)
{
    const long double exact = (long double)(a * b) + c;
    const double d = (double)exact;
    if (!std::isfinite(d) || d == exact)
        return half(d);
    bits64 v = bits(d);
    v -= fabsl(exact) < fabs(d);
    return half(f64(v | 1));
}

static inline bool is_nan(bits64 v, compare how)
{
    switch (how) {
    case NAN32:
        return (v & 0x7fffffff) > 0x7f800000;
    case NAN64:
        return (v & ~(1ull << 63)) > 0x7ff0000000000000;
    case NAN16:
        return (v & 0x7fff) > 0x7c00;
    default:
        return false;
    }
}

static inline bool same(bits64 a, bits64 b, compare how)
{
    if (how == NAN_PAIR16)
        return same(a & 0xffff, b & 0xffff, NAN16) && same(a >> 16 & 0xffff, b >> 16 & 0xffff, NAN16);
    if (how == LOW16 || how == NAN16) {
        a &= 0xffff;
        b &= 0xffff;
    }
    return a == b || (is_nan(a, how) && is_nan(b, how));
}

static inline bits64 draw(random_source &random, kind k, bits64 near)
{
    static const bits32 s32[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,
                                 0x3f800000, 0xbf800000, 0x3f000000, 0x3fffffff, 0x7f7fffff, 0xff7fffff,
                                 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffa00000, 0x4b000000,
                                 0x4b800001, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x5f000000};
    static const bits64 s64[] = {0,
                                 1ull << 63,
                                 1,
                                 0xfffffffffffff,
                                 0x10000000000000,
                                 0x3ff0000000000000,
                                 0xbff0000000000000,
                                 0x7fefffffffffffff,
                                 0x7ff0000000000000,
                                 0xfff0000000000000,
                                 0x7ff8000000000000,
                                 0x7ff0000000000001,
                                 0x41dfffffffc00000,
                                 0x41e0000000000000,
                                 0xc1e0000000000000,
                                 0x41efffffffe00000,
                                 0x4330000000000001,
                                 0x3fe0000000000000};
    static const bits32 i32[] = {0,          1,          2,          0xffffffff, 0xfffffffe,
                                 0x7fffffff, 0x80000000, 0x80000001, 0xffff,     0x10000,
                                 0x7fff,     0x8000,     0xffff8000, 0xffffff,   0x1000000,
                                 0x7fffff,   0x800000,   0xff,       0x80008000};
    const unsigned way = random.below(8);
    switch (k) {
    case F32:
        if (way == 0)
            return s32[random.below(sizeof(s32) / 4)];
        if (way < 4) // within a few powers of two of the other operand
            return ((bits32)near & 0x7f800000u) + (random.below(7) << 23) - (3u << 23) +
                   (random.bits() & 0x807fffffu);
        return way == 4 ? bits((float)((int)random.bits() >> random.below(31)) * (way & 1 ? 0.5f : 1.0f))
                        : random.bits();
    case F64:
        if (way == 0)
            return s64[random.below(sizeof(s64) / 8)];
        if (way < 4)
            return (near & 0x7ff0000000000000) + ((bits64)random.below(7) << 52) - (3ull << 52) +
                   (random.bits64() & 0x800fffffffffffffull);
        return way == 4 ? bits((double)(long long)random.bits64() / (double)(1ull << random.below(63)))
                        : random.bits64();
    case F16: // two of them
        return way < 3 ? ((bits32)near & 0x7c007c00u) | (random.bits() & 0x83ff83ffu) : random.bits();
    case INT32:
        return way < 2 ? i32[random.below(sizeof(i32) / 4)]
                       : random.bits() >> (way == 3 ? random.below(32) : 0);
    case INT64:
        return way < 2 ? (bits64)(long long)(int)i32[random.below(sizeof(i32) / 4)] << (way * 31)
                       : random.bits64() >> (way == 3 ? random.below(64) : 0);
    case SHIFT:
        return way ? random.below(72) : random.bits();
    case PAIR32: { // of f32
        const bits64 low = draw(random, F32, near);
        return low | draw(random, F32, near >> 32) << 32;
    }
    default:
        return 0;
    }
}

// Runs all operations on `n` operands each (a multiple of `block`); prints what differs, and the number of
// cases.
template <size_t COUNT>
int run_operations(const char *name, const operation (&operations)[COUNT], unsigned n = 65536,
                   unsigned block = 256)
{
    size_t wrong = 0, cases = 0;
    gpu_array<bits64> da(n), db(n), dc(n), out(n);
    std::vector<bits64> a(n), b(n), c(n);
    for (const operation &op : operations) {
        random_source random(cases + 1);
        for (unsigned i = 0; i < n; i++) {
            a[i] = draw(random, op.a, random.bits64());
            b[i] = draw(random, op.b, a[i]);
            c[i] = draw(random, op.c, random.below(2) ? a[i] : b[i]);
        }
        CHECK(hipMemcpy(da, a.data(), n * sizeof(bits64), hipMemcpyHostToDevice));
        CHECK(hipMemcpy(db, b.data(), n * sizeof(bits64), hipMemcpyHostToDevice));
        CHECK(hipMemcpy(dc, c.data(), n * sizeof(bits64), hipMemcpyHostToDevice));
        op.kernel<<<n / block, block>>>(da, db, dc, out);
        const auto got = out.host();
        size_t here = 0;
        for (unsigned i = 0; i < n; i++) {
            const bits64 want = op.host(a[i], b[i], c[i]);
            if (same(got[i], want, op.how) || here++ > 3)
                continue;
            std::printf("%s(%llx, %llx, %llx) = %llx, host %llx\n", op.name, (unsigned long long)a[i],
                        (unsigned long long)b[i], (unsigned long long)c[i], (unsigned long long)got[i],
                        (unsigned long long)want);
        }
        wrong += here;
        cases += n;
    }
    std::printf("%s: %zu operations, %zu cases\n", name, COUNT, cases);
    return report(name, wrong);
}

// What an instruction does, as an expression of its operands a, b and c.
#define HOST(expression)                                                                                     \
    [](bits64 a, bits64 b, bits64 c) -> bits64 { return (void)a, (void)b, (void)c, (bits64)(expression); }
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
// A vector instruction with one, two or three register operands of type A (32 or 64 bits) and a result of
// type R.
#define VOP(id, R, A, B, C, text)                                                                            \
    __global__ void gpu_##id(const bits64 *a, const bits64 *b, const bits64 *c, bits64 *out)                 \
    {                                                                                                        \
        const A x = (A)a[AT];                                                                                \
        const B y = (B)b[AT];                                                                                \
        const C z = (C)c[AT];                                                                                \
        R r = 0;                                                                                             \
        asm volatile(text : "=&v"(r) : "v"(x), "v"(y), "v"(z) : "vcc", "scc", "a0", "v40", "v41");           \
        out[AT] = r;                                                                                         \
    }
// A scalar instruction; one lane for each group, so that operands are uniform.
#define SOP(id, R, A, B, text)                                                                               \
    __global__ void gpu_##id(const bits64 *a, const bits64 *b, const bits64 *, bits64 *out)                  \
    {                                                                                                        \
        const A x = (A)a[blockIdx.x];                                                                        \
        const B y = (B)b[blockIdx.x];                                                                        \
        R r = 0;                                                                                             \
        asm volatile(text : "=&s"(r) : "s"(x), "s"(y) : "vcc", "scc");                                       \
        out[blockIdx.x] = r;                                                                                 \
    }
