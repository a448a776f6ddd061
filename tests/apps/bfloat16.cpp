// SPDX-License-Identifier: MIT
// bf16 by integer operations: rounding to nearest even from f32, widening, a dot product in f32 of bf16
// pairs.
#include "check.hpp"

constexpr int N = 4096;

__host__ __device__ unsigned bits_of(float f)
{
    unsigned bits;
    __builtin_memcpy(&bits, &f, sizeof(bits));
    return bits;
}

__host__ __device__ float widen(unsigned short h)
{
    const unsigned bits = (unsigned)h << 16;
    float f;
    __builtin_memcpy(&f, &bits, sizeof(f));
    return f;
}

__host__ __device__ unsigned short narrow(float f)
{
    const unsigned bits = bits_of(f);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (unsigned short)(bits >> 16 | 0x40);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

__global__ void run(const float *a, unsigned short *rounded, const unsigned short *pairs, float *dot)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rounded[i] = narrow(a[i]);
    const unsigned short *p = pairs + 4 * i;
    dot[i] = fmaf(widen(p[0]), widen(p[1]), widen(p[2]) * widen(p[3]));
}

int main()
{
    random_source random;
    std::vector<float> a(N), want_dot(N);
    std::vector<unsigned short> pairs(4 * N), want(N);
    for (float &v : a) {
        const unsigned bits = random.bits();
        std::memcpy(&v, &bits, sizeof(v));
    }
    a[0] = INFINITY;
    a[1] = 3.3953e38f; // rounds to infinity
    for (auto &v : pairs)
        v = narrow(random.between(-100, 100));
    for (int i = 0; i < N; i++) {
        const unsigned short *p = &pairs[4 * i];
        want[i] = narrow(a[i]);
        want_dot[i] = fmaf(widen(p[0]), widen(p[1]), widen(p[2]) * widen(p[3]));
    }
    gpu_array<float> da(a), dot(N);
    gpu_array<unsigned short> rounded(N), dpairs(pairs);
    run<<<N / 256, 256>>>(da, rounded, dpairs, dot);
    return report("bfloat16", count_unequal(rounded.host(), want) + count_unequal(dot.host(), want_dot));
}
