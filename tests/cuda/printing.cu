// SPDX-License-Identifier: MIT
// A kernel that prints must print once.
#include "check.h"

__global__ void say(unsigned *data)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("hello from the GPU\n");
    data[blockIdx.x * blockDim.x + threadIdx.x]++;
}

int main()
{
    const int n = 1 << 12;
    unsigned *data;
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMemset(data, 0, n * sizeof *data));
    say<<<n / 256, 256>>>(data);
    CUDA(cudaDeviceSynchronize());
    expect_all(data, n, 1u, "element");
    return 0;
}
