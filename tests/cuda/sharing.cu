// SPDX-License-Identifier: MIT
// Memory that other processes may open from some time on: until then its kernel is replayed.
#include "check.h"

__global__ void add(unsigned *data, unsigned plus)
{
    data[threadIdx.x] += plus;
}

int main()
{
    unsigned *data;
    cudaIpcMemHandle_t handle;
    CUDA(cudaMalloc(&data, 32 * sizeof *data));
    CUDA(cudaMemset(data, 0, 32 * sizeof *data));
    add<<<1, 32>>>(data, 1);
    CUDA(cudaIpcGetMemHandle(&handle, data));
    add<<<1, 32>>>(data, 10);
    LAUNCHED();
    CUDA(cudaDeviceSynchronize());
    expect_all(data, 32, 11u, "sums");
    return 0;
}
