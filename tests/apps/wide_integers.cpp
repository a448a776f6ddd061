// SPDX-License-Identifier: MIT
// 64-bit integer arithmetic and 128-bit products: multiplication, division, remainders, shifts, comparison,
// carries.
#include "check.hpp"

constexpr int N = 4096, RESULTS = 16;

struct result {
    unsigned long long v[RESULTS];
};

__host__ __device__ result compute(unsigned long long a, unsigned long long b, unsigned s)
{
    const long long sa = (long long)a, sb = (long long)b;
    const __uint128_t product = (__uint128_t)a * b;
    const __int128 signed_product = (__int128)sa * sb;
    const __uint128_t sum = ((__uint128_t)a << 64 | b) + product;
    result r;
    r.v[0] = (unsigned long long)product;
    r.v[1] = (unsigned long long)(product >> 64);
    r.v[2] = (unsigned long long)(signed_product >> 64);
    r.v[3] = (unsigned long long)(sum >> 64);
    r.v[4] = b ? a / b : 0;
    r.v[5] = b ? a % b : 0;
    r.v[6] = b && sb != -1 ? (unsigned long long)(sa / sb) : 0;
    r.v[7] = b && sb != -1 ? (unsigned long long)(sa % sb) : 0;
    r.v[8] = a << (s & 63);
    r.v[9] = a >> (s & 63);
    r.v[10] = (unsigned long long)(sa >> (s & 63));
    r.v[11] = (a < b) | (sa < sb) << 1 | (a == b) << 2 | (a >= b) << 3 | (sa > sb) << 4 | (sa <= sb) << 5;
    r.v[12] = a - b + (a < b);
    r.v[13] = a > b ? a : b;
    r.v[14] = (unsigned long long)(sa < sb ? sa : sb);
    r.v[15] = (unsigned long long)((unsigned)a * (unsigned long long)(unsigned)b + b) ^
              (unsigned long long)((int)a * (long long)(int)b + sb);
    return r;
}

__global__ void run(const unsigned long long *a, const unsigned long long *b, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = compute(a[i], b[i], i);
}

int main()
{
    random_source random;
    std::vector<unsigned long long> a(N), b(N);
    for (int i = 0; i < N; i++) {
        a[i] = random.bits64() >> random.below(64);
        b[i] = random.bits64() >> random.below(64);
        if (i % 3 == 1)
            a[i] = ~a[i];
        if (i % 5 == 1)
            b[i] = ~b[i];
        if (i % 17 == 1)
            b[i] = a[i];
    }
    gpu_array<unsigned long long> da(a), db(b);
    gpu_array<result> out(N);
    run<<<N / 256, 256>>>(da, db, out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const result want = compute(a[i], b[i], i);
        wrong += std::memcmp(&got[i], &want, sizeof(want)) != 0;
    }
    return report("wide_integers", wrong);
}
