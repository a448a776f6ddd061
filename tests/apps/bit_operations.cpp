// SPDX-License-Identifier: MIT
// Counting, finding, reversing, extracting and permuting bits and bytes, per lane and in uniform values,
// which the compiler gives to the scalar unit.
#include "check.hpp"

constexpr int N = 2048, RESULTS = 20;

struct result {
    unsigned v[RESULTS];
};

__host__ __device__ unsigned reverse_bits(unsigned v)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}

#ifdef __HIP_DEVICE_COMPILE__
#define HERE(device, host) (device)
#else
#define HERE(device, host) (host)
#endif

__host__ __device__ result compute(unsigned a, unsigned b, unsigned s)
{
    const unsigned long long wide = (unsigned long long)a << 32 | b;
    const unsigned shift = s & 31;
    result r;
    r.v[0] = (unsigned)__builtin_popcount(a);
    r.v[1] = (unsigned)__builtin_popcountll(wide);
    r.v[2] = HERE((unsigned)__clz((int)a), a ? (unsigned)__builtin_clz(a) : 32);
    r.v[3] = HERE((unsigned)__clzll((long long)wide), wide ? (unsigned)__builtin_clzll(wide) : 64);
    r.v[4] = HERE((unsigned)__ffs((int)a), (unsigned)__builtin_ffs((int)a));
    r.v[5] = HERE((unsigned)__ffsll(wide), (unsigned)__builtin_ffsll((long long)wide));
    r.v[6] = HERE(__brev(a), reverse_bits(a));
    r.v[7] = HERE((unsigned)(__brevll(wide) >> 32), reverse_bits(b));
    r.v[8] = a << shift | a >> ((32 - shift) & 31);
    r.v[9] = (unsigned)((int)(a << 11) >> 23);
    r.v[10] = a >> 7 & 0x1ff;
    r.v[11] = (a & b) | (~a & s);
    r.v[12] = __builtin_bswap32(a);
    r.v[13] = HERE(__byte_perm(a, b, 0x6153),
                   (b >> 16 & 0xff) << 24 | (a >> 8 & 0xff) << 16 | (b >> 8 & 0xff) << 8 | (a >> 24 & 0xff));
    r.v[14] = (unsigned)(wide >> shift);
    r.v[15] = a ^ b ^ s;
    r.v[16] = ~(a ^ b);
    r.v[17] = (a | b) & ~s;
    r.v[18] = HERE(__builtin_amdgcn_ubfe(a, shift, b & 31), a >> shift & ((1u << (b & 31)) - 1));
    r.v[19] = (unsigned)__builtin_parity(a) | (unsigned)__builtin_clrsbll((long long)(wide ^ s)) << 1;
    return r;
}

__global__ void lanes(const unsigned *a, const unsigned *b, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = compute(a[i], b[i], i);
}

__global__ void uniform(const unsigned *a, const unsigned *b, result *out)
{
    const int i = blockIdx.x;
    out[i] = compute(a[i], b[i], i);
}

int main()
{
    random_source random;
    std::vector<unsigned> a(N), b(N);
    for (int i = 0; i < N; i++) {
        a[i] = random.bits() >> random.below(32);
        b[i] = random.bits() << random.below(32);
        if (i % 50 == 0)
            a[i] = i % 100 ? 0 : ~0u;
    }
    gpu_array<unsigned> da(a), db(b);
    gpu_array<result> by_lane(N), by_group(256);
    lanes<<<N / 256, 256>>>(da, db, by_lane);
    uniform<<<256, 1>>>(da, db, by_group);
    const auto one = by_lane.host(), two = by_group.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const result want = compute(a[i], b[i], i);
        wrong += std::memcmp(&one[i], &want, sizeof(want)) != 0;
        wrong += i < 256 && std::memcmp(&two[i], &want, sizeof(want)) != 0;
    }
    return report("bit_operations", wrong);
}
