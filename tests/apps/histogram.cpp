// SPDX-License-Identifier: MIT
// Histograms with atomics in LDS and in global memory, of counts and of sums of every atomic kind that has a
// host answer whatever the order.
#include "check.hpp"

constexpr int N = 6000, BINS = 32, BLOCK = 256;

struct bins {
    unsigned count[BINS], low[BINS], high[BINS], all_and[BINS], all_or[BINS], all_xor[BINS];
    int signed_low[BINS], signed_high[BINS];
    unsigned long long sum[BINS], wide_low[BINS], wide_high[BINS], wide_and[BINS], wide_or[BINS],
        wide_xor[BINS];
};

__host__ __device__ void clear_bin(bins &b, int i)
{
    b.count[i] = b.high[i] = b.all_or[i] = b.all_xor[i] = 0;
    b.low[i] = b.all_and[i] = ~0u;
    b.signed_low[i] = 0x7fffffff;
    b.signed_high[i] = -0x7fffffff - 1;
    b.sum[i] = b.wide_high[i] = b.wide_or[i] = b.wide_xor[i] = 0;
    b.wide_low[i] = b.wide_and[i] = ~0ull;
}

__host__ __device__ unsigned long long widen(unsigned v)
{
    return v * 0x9e3779b97f4a7c15ull;
}

__device__ void add(bins &b, int i, unsigned v)
{
    atomicAdd(&b.count[i], 1u);
    atomicMin(&b.low[i], v);
    atomicMax(&b.high[i], v);
    atomicAnd(&b.all_and[i], v | 0xff);
    atomicOr(&b.all_or[i], v & 0xff);
    atomicXor(&b.all_xor[i], v);
    atomicMin(&b.signed_low[i], (int)v);
    atomicMax(&b.signed_high[i], (int)v);
    atomicAdd(&b.sum[i], widen(v));
    atomicMin(&b.wide_low[i], widen(v));
    atomicMax(&b.wide_high[i], widen(v));
    atomicAnd(&b.wide_and[i], widen(v) | 0xffff);
    atomicOr(&b.wide_or[i], widen(v) & 0xffff);
    atomicXor(&b.wide_xor[i], widen(v));
}

__global__ void in_global(const unsigned *data, bins *out, int n)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        add(*out, data[i] % BINS, data[i]);
}

__global__ void in_lds(const unsigned *data, bins *out, int n)
{
    __shared__ bins b;
    for (int i = threadIdx.x; i < BINS; i += BLOCK)
        clear_bin(b, i);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += BLOCK)
        add(b, data[i] % BINS, data[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < (int)(sizeof(b) / 4); i += BLOCK)
        ((unsigned *)out)[i] = ((unsigned *)&b)[i];
}

int main()
{
    random_source random;
    std::vector<unsigned> data(N);
    std::vector<bins> expected(1), empty(1);
    for (int i = 0; i < BINS; i++) {
        clear_bin(expected[0], i);
        clear_bin(empty[0], i);
    }
    bins &b = expected[0];
    for (unsigned &v : data) {
        v = random.bits();
        const int i = v % BINS;
        const unsigned long long wide = widen(v);
        b.count[i]++;
        b.low[i] = v < b.low[i] ? v : b.low[i];
        b.high[i] = v > b.high[i] ? v : b.high[i];
        b.all_and[i] &= v | 0xff;
        b.all_or[i] |= v & 0xff;
        b.all_xor[i] ^= v;
        b.signed_low[i] = (int)v < b.signed_low[i] ? (int)v : b.signed_low[i];
        b.signed_high[i] = (int)v > b.signed_high[i] ? (int)v : b.signed_high[i];
        b.sum[i] += wide;
        b.wide_low[i] = wide < b.wide_low[i] ? wide : b.wide_low[i];
        b.wide_high[i] = wide > b.wide_high[i] ? wide : b.wide_high[i];
        b.wide_and[i] &= wide | 0xffff;
        b.wide_or[i] |= wide & 0xffff;
        b.wide_xor[i] ^= wide;
    }
    gpu_array<unsigned> in(data);
    gpu_array<bins> global(empty), lds(1);
    in_global<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(in, global, N);
    in_lds<<<1, BLOCK>>>(in, lds, N);
    const auto one = global.host(), two = lds.host();
    size_t wrong = std::memcmp(one.data(), expected.data(), sizeof(bins)) != 0;
    wrong += std::memcmp(two.data(), expected.data(), sizeof(bins)) != 0;
    return report("histogram", wrong);
}
