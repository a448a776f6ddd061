// SPDX-License-Identifier: MIT
// All shortest paths between 48 vertices, one launch for each intermediate vertex; 16-bit lengths with
// saturation.
#include "check.hpp"

constexpr int N = 48;
constexpr unsigned short FAR = 0xffff;

__host__ __device__ unsigned short join(unsigned short direct, unsigned short a, unsigned short b)
{
    const unsigned through = (unsigned)a + b;
    return (unsigned short)(through < direct ? through : direct);
}

__global__ void relax(unsigned short *d, int k)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    d[y * N + x] = join(d[y * N + x], d[y * N + k], d[k * N + x]);
}

int main()
{
    random_source random;
    std::vector<unsigned short> d(N * N, FAR);
    for (int i = 0; i < N; i++) {
        d[i * N + i] = 0;
        for (int e = 0; e < 3; e++)
            d[i * N + random.below(N)] = (unsigned short)(1 + random.below(9000));
    }
    gpu_array<unsigned short> device(d);
    for (int k = 0; k < N; k++) {
        relax<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(device, k);
        for (int i = 0; i < N * N; i++)
            d[i] = join(d[i], d[i / N * N + k], d[k * N + i % N]);
    }
    return report("floyd_warshall", count_unequal(device.host(), d));
}
