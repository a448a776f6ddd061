// SPDX-License-Identifier: MIT
// Pi by counting random points in a circle: a counter-based generator (Philox 2x32-10) on both sides, equal
// counts. Source of the generator: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#include "check.hpp"

constexpr unsigned ITEMS = 1024, POINTS = 32;

__host__ __device__ void philox(unsigned counter0, unsigned counter1, unsigned key, unsigned *out)
{
    for (int round = 0; round < 10; round++) {
        const unsigned long long product = 0xd256d193ull * counter0;
        counter0 = (unsigned)(product >> 32) ^ key ^ counter1;
        counter1 = (unsigned)product;
        key += 0x9e3779b9u;
    }
    out[0] = counter0;
    out[1] = counter1;
}

__host__ __device__ unsigned inside(unsigned item)
{
    unsigned count = 0;
    for (unsigned p = 0; p < POINTS; p++) {
        unsigned r[2];
        philox(item, p, 7, r);
        const unsigned long long x = r[0], y = r[1];
        count += ((x * x) >> 1) + ((y * y) >> 1) < 1ull << 63;
    }
    return count;
}

__global__ void throw_points(unsigned *count)
{
    unsigned n = inside(blockIdx.x * blockDim.x + threadIdx.x);
    for (int step = 32; step; step /= 2)
        n += __shfl_xor(n, step);
    if (threadIdx.x % 64 == 0)
        atomicAdd(count, n);
}

int main()
{
    gpu_array<unsigned> count(1);
    throw_points<<<ITEMS / 128, 128>>>(count);
    unsigned expected = 0;
    for (unsigned i = 0; i < ITEMS; i++)
        expected += inside(i);
    const double pi = 4.0 * expected / (ITEMS * POINTS);
    return report("monte_carlo", (count.host()[0] != expected) + !(fabs(pi - M_PI) < 0.05));
}
