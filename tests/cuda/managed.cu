// SPDX-License-Identifier: MIT
// Managed memory: nothing is replayed while it lives.
#include "check.h"

__global__ void add(unsigned *data, unsigned plus)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += plus;
}

int main()
{
    const int n = 1 << 16;
    unsigned *managed, *data;
    CUDA(cudaMallocManaged(&managed, n * sizeof *managed));
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMemset(data, 0, n * sizeof *data));
    for (int i = 0; i < n; i++)
        managed[i] = 5;
    add<<<n / 256, 256>>>(managed, 3);
    add<<<n / 256, 256>>>(data, 3);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        expect(managed[i] == 8, "managed", managed[i], 8);
    CUDA(cudaFree(managed));
    add<<<n / 256, 256>>>(data, 4); // replayed again
    expect_all(data, n, 7u, "device");
    return 0;
}
