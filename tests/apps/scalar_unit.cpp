// SPDX-License-Identifier: MIT
// Values that are the same in all lanes: 32- and 64-bit arithmetic, shifts, comparisons with constants and
// bit tests, which the compiler leaves to the scalar unit; arguments of many sizes. One work-group, one lane,
// a loop over the cases.
#include "check.hpp"

#ifdef __HIP_DEVICE_COMPILE__
#define UNIFORM(v) ((decltype(v))__builtin_amdgcn_readfirstlane((int)(v)))
#else
#define UNIFORM(v) (v)
#endif

constexpr int N = 300, RESULTS = 30;

struct result {
    unsigned long long v[RESULTS];
};

struct many {
    unsigned long long wide[8];
    unsigned narrow[16];
    short shorts[4];
};

__host__ __device__ result compute(unsigned a, unsigned b, const many &m)
{
    a = UNIFORM(a);
    b = UNIFORM(b);
    const int sa = (int)a, sb = (int)b;
    const unsigned long long wide = (unsigned long long)b << 32 | a;
    const long long wide_signed = (long long)wide;
    result r;
    r.v[0] = a + b;
    r.v[1] = a - b;
    r.v[2] = wide + m.wide[a & 7];
    r.v[3] = wide - m.wide[b & 7];
    r.v[4] = (unsigned long long)a * b;
    r.v[5] = (unsigned long long)((long long)sa * sb);
    r.v[6] = wide >> (b & 63);
    r.v[7] = wide << (a & 63);
    r.v[8] = (unsigned long long)(wide_signed >> (b & 63));
    r.v[9] = (unsigned)(sa < sb ? sa : sb) + ((unsigned long long)(unsigned)(sa > sb ? sa : sb) << 32);
    r.v[10] = (a < b ? a : b) + ((unsigned long long)(a > b ? a : b) << 32);
    unsigned flags = 0;
    const auto branch = [&](bool taken, int bit) { // a branch, not a select: the scalar unit's condition code
        if (taken) {
            flags = flags * 3 + (1u << bit);
            asm volatile("");
        }
    };
    branch(sa <= sb, 0);
    branch(sa >= sb, 1);
    branch(sa < sb, 2);
    branch(a <= b, 3);
    branch(a >= b, 4);
    branch(a > 1000, 5);
    branch(a < 77, 6);
    branch(sa > 500, 7);
    branch(sa < -500, 8);
    branch(sa == 12, 9);
    branch(a != 0x1234, 10);
    branch(a & 1u << 7, 11);
    branch(!(a & 1u << 9), 12);
    branch(wide == m.wide[1], 13);
    branch(wide < m.wide[2], 14);
    branch(sa <= 30000, 15);
    branch(sa >= -3000, 16);
    branch(a >= 60000, 17);
    branch(a <= 70, 18);
    r.v[11] = flags;
    r.v[12] = a * 1000u + (unsigned)(sa * -7);
    r.v[13] = (unsigned)__builtin_popcount(a) + (unsigned)__builtin_popcountll(wide) * 100u;
    r.v[14] = a ? (unsigned)__builtin_clz(a) : 32;
    r.v[15] = wide ? (unsigned)__builtin_ctzll(wide) : 64;
    r.v[16] = wide ? (unsigned)__builtin_clzll(wide) : 64;
    r.v[17] = (a & ~b) ^ (a | ~b);
    r.v[18] = (wide & ~m.wide[3]) + (wide | ~m.wide[4]) + ~(wide ^ m.wide[5]);
    r.v[19] = (unsigned)(sa << 5 >> 20);
    r.v[20] = a >> 9 & 0x7ff;
    r.v[21] = (unsigned long long)(wide_signed << 13 >> 40);
    r.v[22] = (wide >> 11) & 0xffffffffffull;
    r.v[23] = (unsigned long long)(long long)(signed char)a + (unsigned long long)(long long)(short)b;
    r.v[24] = sa < 0 ? -(unsigned)sa : a;
    r.v[25] = a << 3 | a << 2 << 8;
    r.v[26] = (a << 1) + b + ((a << 2) + b) * 3 + ((a << 3) + b) * 5 + ((a << 4) + b) * 7;
    r.v[27] = (a & 0xffff) | b << 16;
    r.v[28] = (a >> 16) | (b & 0xffff0000u);
    r.v[29] = 0;
    for (int i = 0; i < 16; i++)
        r.v[29] = r.v[29] * 31 + m.narrow[i] + (unsigned)m.shorts[i & 3];
    return r;
}

__global__ void run(const unsigned *a, const unsigned *b, result *out, many m)
{
    for (int i = 0; i < N; i++)
        out[i] = compute(a[i], b[i], m);
}

int main()
{
    random_source random;
    std::vector<unsigned> a(N), b(N);
    many m;
    for (int i = 0; i < N; i++) {
        a[i] = random.bits() >> random.below(32);
        b[i] = i % 7 == 0 ? a[i] : random.bits() >> random.below(32);
        if (i % 3 == 0)
            a[i] = -a[i];
        if (i % 5 == 0)
            b[i] = ~b[i];
    }
    a[1] = 12;
    a[2] = 0x1234;
    a[3] = b[3] = 0;
    for (auto &v : m.wide)
        v = random.bits64();
    m.wide[1] = (unsigned long long)b[5] << 32 | a[5];
    for (auto &v : m.narrow)
        v = random.bits();
    for (auto &v : m.shorts)
        v = (short)random.bits();
    gpu_array<unsigned> da(a), db(b);
    gpu_array<result> out(N);
    run<<<1, 1>>>(da, db, out, m);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const result want = compute(a[i], b[i], m);
        wrong += std::memcmp(&got[i], &want, sizeof(want)) != 0;
    }
    return report("scalar_unit", wrong);
}
