// SPDX-License-Identifier: MIT
// In-place update, three launches: each element grows once a launch, never once a pass. Part of the memory is not
// written at all, and one buffer is freed and allocated anew between launches.
#include "check.h"

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

__global__ void fill(float *x, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

int main()
{
    const int n = 1 << 20;
    float *x, *y, *other;
    CUDA(cudaMalloc(&x, n * sizeof *x));
    CUDA(cudaMalloc(&y, n * sizeof *y));
    CUDA(cudaMalloc(&other, 12345 * sizeof *other)); // not a multiple of a block
    fill<<<n / 256, 256>>>(x, 2, n);
    fill<<<n / 256, 256>>>(y, 1, n);
    fill<<<49, 256>>>(other, 5, 12345);
    for (int launch = 1; launch <= 3; launch++) {
        saxpy<<<n / 512, 512>>>(y, x, 3, n / 2);
        LAUNCHED();
        expect_all(y, n / 2, 1 + 6.0f * launch, "updated half");
        expect_all(y + n / 2, n / 2, 1.0f, "other half");
        expect_all(other, 12345, 5.0f, "untouched buffer");
        CUDA(cudaFree(x));
        CUDA(cudaMalloc(&x, (n + launch) * sizeof *x));
        fill<<<n / 256, 256>>>(x, 2, n);
    }
    CUDA(cudaDeviceSynchronize());
    return 0;
}
