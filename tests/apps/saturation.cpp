// SPDX-License-Identifier: MIT
// Saturating 16- and 32-bit additions, subtractions and packing, scalar and packed; the compiler's saturating
// builtins against wide host arithmetic.
#include "check.hpp"

typedef short short2v __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2v __attribute__((ext_vector_type(2)));

constexpr int N = 2048, RESULTS = 12;

struct result {
    unsigned v[RESULTS];
};

template <typename T> __device__ T as(unsigned v)
{
    T t;
    __builtin_memcpy(&t, &v, sizeof(t));
    return t;
}

template <typename T> __device__ unsigned bits_of(T t)
{
    unsigned v;
    __builtin_memcpy(&v, &t, sizeof(v));
    return v;
}

__global__ void run(const unsigned *a, const unsigned *b, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = a[i], y = b[i];
    result r;
    r.v[0] = __builtin_elementwise_add_sat(x, y);
    r.v[1] = __builtin_elementwise_sub_sat(x, y);
    r.v[2] = (unsigned)__builtin_elementwise_add_sat((int)x, (int)y);
    r.v[3] = (unsigned)__builtin_elementwise_sub_sat((int)x, (int)y);
    // The builtins promote single 16-bit values to 32 bits.
    asm("v_add_u16_e64 %0, %1, %2 clamp" : "=v"(r.v[4]) : "v"(x), "v"(y));
    asm("v_sub_u16_e64 %0, %1, %2 clamp" : "=v"(r.v[5]) : "v"(x), "v"(y));
    asm("v_add_i16 %0, %1, %2 clamp" : "=v"(r.v[6]) : "v"(x), "v"(y));
    asm("v_sub_i16 %0, %1, %2 clamp" : "=v"(r.v[7]) : "v"(x), "v"(y));
    r.v[6] &= 0xffff; // these two leave the upper half of the register alone
    r.v[7] &= 0xffff;
    r.v[8] = bits_of(__builtin_elementwise_add_sat(as<ushort2v>(x), as<ushort2v>(y)));
    r.v[9] = bits_of(__builtin_elementwise_sub_sat(as<ushort2v>(x), as<ushort2v>(y)));
    r.v[10] = bits_of(__builtin_elementwise_add_sat(as<short2v>(x), as<short2v>(y)));
    r.v[11] = bits_of(__builtin_elementwise_sub_sat(as<short2v>(x), as<short2v>(y)));
    out[i] = r;
}

static long long clamp_to(long long v, long long low, long long high)
{
    return v < low ? low : v > high ? high : v;
}

static unsigned u16(int v)
{
    return (unsigned)clamp_to(v, 0, 65535);
}

static unsigned s16(int v)
{
    return (unsigned)clamp_to(v, -32768, 32767) & 0xffff;
}

int main()
{
    random_source random;
    std::vector<unsigned> a(N), b(N);
    const unsigned edges[8] = {0, 1, ~0u, 0x7fffffff, 0x80000000, 0x7fff8000, 0x80007fff, 0xffff};
    for (int i = 0; i < N; i++) {
        a[i] = i < 64 ? edges[i / 8] : random.bits();
        b[i] = i < 64 ? edges[i % 8] : random.bits();
    }
    gpu_array<unsigned> da(a), db(b);
    gpu_array<result> out(N);
    run<<<N / 256, 256>>>(da, db, out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const long long x = a[i], y = b[i], sx = (int)a[i], sy = (int)b[i];
        const int xl = a[i] & 0xffff, xh = a[i] >> 16, yl = b[i] & 0xffff, yh = b[i] >> 16;
        const int sxl = (short)xl, sxh = (short)xh, syl = (short)yl, syh = (short)yh;
        const unsigned want[RESULTS] = {(unsigned)clamp_to(x + y, 0, 0xffffffffll),
                                        (unsigned)clamp_to(x - y, 0, 0xffffffffll),
                                        (unsigned)clamp_to(sx + sy, -0x80000000ll, 0x7fffffff),
                                        (unsigned)clamp_to(sx - sy, -0x80000000ll, 0x7fffffff),
                                        u16(xl + yl),
                                        u16(xl - yl),
                                        s16(sxl + syl),
                                        s16(sxl - syl),
                                        u16(xl + yl) | u16(xh + yh) << 16,
                                        u16(xl - yl) | u16(xh - yh) << 16,
                                        s16(sxl + syl) | s16(sxh + syh) << 16,
                                        s16(sxl - syl) | s16(sxh - syh) << 16};
        wrong += std::memcmp(got[i].v, want, sizeof(want)) != 0;
    }
    return report("saturation", wrong);
}
