// SPDX-License-Identifier: MIT
// Values kept where the compiler puts them when there are many: 200 live values in 64 VGPRs (spills to
// accumulation registers and scratch), arrays indexed by a value known at run time, and the upper halves of
// registers.
#include "check.hpp"

constexpr int N = 256, LIVE = 200;

__host__ __device__ __attribute__((always_inline)) inline unsigned churn(const unsigned *in, unsigned seed)
{
    unsigned v[LIVE];
#pragma unroll
    for (int i = 0; i < LIVE; i++)
        v[i] = in[i] * (seed + i);
#pragma unroll
    for (int i = 0; i < LIVE; i++)
        v[i] += v[(i * 77 + 13) % LIVE] ^ (v[(i + 101) % LIVE] >> 3);
    unsigned sum = 0;
#pragma unroll
    for (int i = LIVE - 1; i >= 0; i--)
        sum = sum * 31 + v[i];
    return sum;
}

__global__ void __launch_bounds__(1024) many(const unsigned *in, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = churn(in, i);
}

__host__ __device__ unsigned indexed(const unsigned *in, unsigned which)
{
    unsigned v[16];
    for (int i = 0; i < 16; i++)
        v[i] = in[i];
    for (int i = 0; i < 8; i++) {
        v[(which + i) & 15] += v[which & 15] + i;
        which = which * 5 + 3;
    }
    return v[which & 15];
}

__global__ void uniform_index(const unsigned *in, unsigned *out, unsigned which)
{
    out[blockIdx.x] = indexed(in, which + blockIdx.x);
}

__global__ void halves(const unsigned *in, unsigned char *bytes, unsigned short *shorts)
{
    const int i = threadIdx.x;
    bytes[i] = (unsigned char)(in[i] >> 16);
    shorts[i] = (unsigned short)(in[i] >> 16);
}

int main()
{
    random_source random;
    std::vector<unsigned> in(N), want(N), want_index(40);
    std::vector<unsigned char> want_bytes(N);
    std::vector<unsigned short> want_shorts(N);
    for (unsigned &v : in)
        v = random.bits();
    for (int i = 0; i < N; i++) {
        want[i] = churn(in.data(), i);
        want_bytes[i] = (unsigned char)(in[i] >> 16);
        want_shorts[i] = (unsigned short)(in[i] >> 16);
    }
    for (unsigned i = 0; i < 40; i++)
        want_index[i] = indexed(in.data(), 9 + i);
    gpu_array<unsigned> from(in), to(N), to_index(40);
    gpu_array<unsigned char> bytes(N);
    gpu_array<unsigned short> shorts(N);
    many<<<N / 64, 64>>>(from, to);
    uniform_index<<<40, 1>>>(from, to_index, 9);
    halves<<<1, N>>>(from, bytes, shorts);
    return report("registers", count_unequal(to.host(), want) + count_unequal(to_index.host(), want_index) +
                                   count_unequal(bytes.host(), want_bytes) +
                                   count_unequal(shorts.host(), want_shorts));
}
