// SPDX-License-Identifier: MIT
// Bitonic sort of 4096 signed integers: large strides in global memory, small ones in LDS.
#include "check.hpp"

#include <algorithm>

constexpr int N = 4096, TILE = 512;

__device__ void exchange(int &a, int &b, bool up)
{
    if ((a > b) == up) {
        const int t = a;
        a = b;
        b = t;
    }
}

__global__ void far(int *v, int size, int stride)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = 2 * t - (t & (stride - 1));
    exchange(v[i], v[i + stride], (i & size) == 0);
}

__global__ void near(int *v, int first_size, int last_size)
{
    __shared__ int tile[TILE];
    const int base = blockIdx.x * TILE, t = threadIdx.x;
    tile[t] = v[base + t];
    tile[t + TILE / 2] = v[base + t + TILE / 2];
    for (int size = first_size; size <= last_size; size *= 2)
        for (int stride = std::min(size, TILE) / 2; stride; stride /= 2) {
            __syncthreads();
            const int i = 2 * t - (t & (stride - 1));
            exchange(tile[i], tile[i + stride], ((base + i) & size) == 0);
        }
    __syncthreads();
    v[base + t] = tile[t];
    v[base + t + TILE / 2] = tile[t + TILE / 2];
}

int main()
{
    random_source random;
    std::vector<int> v(N);
    for (int &x : v)
        x = (int)random.bits();
    gpu_array<int> device(v);
    near<<<N / TILE, TILE / 2>>>(device, 2, TILE);
    for (int size = 2 * TILE; size <= N; size *= 2) {
        for (int stride = size / 2; stride >= TILE; stride /= 2)
            far<<<N / 512, 256>>>(device, size, stride);
        near<<<N / TILE, TILE / 2>>>(device, size, size);
    }
    std::sort(v.begin(), v.end());
    return report("bitonic_sort", count_unequal(device.host(), v));
}
