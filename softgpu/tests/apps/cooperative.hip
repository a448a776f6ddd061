// SPDX-License-Identifier: MIT
// Cooperative launch: grid-wide barriers with as many groups as the occupancy query allows, refused beyond
// that; and barriers between groups and locks that a program writes itself, in ordinary launches.
#include "check.h"

#include <hip/hip_cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

// In each step every item becomes the sum of its neighbours, which other groups own.
__global__ void neighbours(int *a, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        int sum = a[(i + 1) % n] + a[(i + n - 1) % n];
        grid.sync();
        a[i] = sum & 0xffff;
        grid.sync();
    }
    if (!grid.is_valid() || grid.size() != (unsigned)n || grid.thread_rank() != (unsigned)i)
        a[i] = -1;
}

__device__ void own_barrier(unsigned *count, unsigned target)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < target)
            ;
    }
    __syncthreads();
}

__global__ void neighbours_own(int *a, int n, int steps, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned target = 0;
    for (int s = 0; s < steps; s++) {
        int sum = a[(i + 1) % n] + a[(i + n - 1) % n];
        own_barrier(count, target += gridDim.x);
        a[i] = sum & 0xffff;
        own_barrier(count, target += gridDim.x);
    }
}

__global__ void locked(unsigned *lock, unsigned *sum, int times)
{
    if (threadIdx.x)
        return;
    for (int i = 0; i < times; i++) {
        while (atomicCAS(lock, 0u, 1u))
            ;
        __threadfence();
        *(volatile unsigned *)sum = *(volatile unsigned *)sum + 1;
        __threadfence();
        atomicExch(lock, 0u);
    }
}

static std::vector<int> expected(std::vector<int> v, int steps)
{
    int n = (int)v.size();
    for (int s = 0; s < steps; s++) {
        std::vector<int> next(n);
        for (int i = 0; i < n; i++)
            next[i] = (v[(i + 1) % n] + v[(i + n - 1) % n]) & 0xffff;
        v = next;
    }
    return v;
}

int main()
{
    int per_cu = 0, steps = 4;
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    EXPECT(properties.cooperativeLaunch);
    HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, neighbours, 256, 0));
    int blocks = per_cu * properties.multiProcessorCount, n = blocks * 256;
    std::vector<int> start(n), back(n);
    for (int i = 0; i < n; i++)
        start[i] = i * 7 & 0xffff;
    std::vector<int> want = expected(start, steps);
    int *a;
    unsigned *words, sums[3];
    HIP(hipMalloc(&a, n * sizeof(int)));
    HIP(hipMalloc(&words, sizeof(sums)));
    void *args[] = {&a, &n, &steps};

    for (int round = 0; round < 2; round++) {
        HIP(hipMemcpy(a, start.data(), n * sizeof(int), hipMemcpyHostToDevice));
        HIP(hipLaunchCooperativeKernel((void *)neighbours, dim3(blocks), dim3(256), args, 0, 0));
        HIP(hipMemcpy(back.data(), a, n * sizeof(int), hipMemcpyDeviceToHost));
        EXPECT(back == want);
    }
    EXPECT(hipLaunchCooperativeKernel((void *)neighbours, dim3(blocks + 1), dim3(256), args, 0, 0) ==
           hipErrorCooperativeLaunchTooLarge);

    HIP(hipMemset(words, 0, sizeof(sums)));
    HIP(hipMemcpy(a, start.data(), n * sizeof(int), hipMemcpyHostToDevice));
    neighbours_own<<<blocks, 256>>>(a, n, steps, words);
    HIP(hipGetLastError());
    HIP(hipMemcpy(back.data(), a, n * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(back == want);

    locked<<<100, 64>>>(words + 1, words + 2, 50);
    HIP(hipGetLastError());
    HIP(hipMemcpy(sums, words, sizeof(sums), hipMemcpyDeviceToHost));
    EXPECT(sums[1] == 0 && sums[2] == 100 * 50);
    std::puts("cooperative: all right");
    return 0;
}
