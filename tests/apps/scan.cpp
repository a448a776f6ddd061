// SPDX-License-Identifier: MIT
// Inclusive prefix sum of 20000 integers: shuffles inside a wave, LDS between waves, a second level between
// groups.
#include "check.hpp"

constexpr int N = 20000, BLOCK = 256;

__device__ unsigned scan_wave(unsigned v)
{
    const int lane = threadIdx.x & 63;
    for (int step = 1; step < 64; step *= 2) {
        const unsigned left = __shfl_up(v, step);
        v += lane >= step ? left : 0;
    }
    return v;
}

__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, int n)
{
    __shared__ unsigned wave_sum[BLOCK / 64];
    const int i = blockIdx.x * BLOCK + threadIdx.x, wave = threadIdx.x / 64;
    unsigned v = scan_wave(i < n ? in[i] : 0);
    if ((threadIdx.x & 63) == 63)
        wave_sum[wave] = v;
    __syncthreads();
    for (int w = 0; w < wave; w++)
        v += wave_sum[w];
    if (i < n)
        out[i] = v;
    if (threadIdx.x == BLOCK - 1)
        sums[blockIdx.x] = v;
}

__global__ void add_sums(unsigned *out, const unsigned *sums, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && blockIdx.x)
        out[i] += sums[blockIdx.x - 1];
}

int main()
{
    random_source random;
    std::vector<unsigned> in(N), expected(N);
    unsigned sum = 0;
    for (int i = 0; i < N; i++) {
        in[i] = random.bits();
        expected[i] = sum += in[i];
    }
    const int blocks = (N + BLOCK - 1) / BLOCK;
    gpu_array<unsigned> from(in), to(N), sums(blocks), scanned(blocks), total(1);
    scan_blocks<<<blocks, BLOCK>>>(from, to, sums, N);
    scan_blocks<<<1, BLOCK>>>(sums, scanned, total, blocks);
    add_sums<<<blocks, BLOCK>>>(to, scanned, N);
    return report("scan", count_unequal(to.host(), expected) + (total.host()[0] != sum));
}
