// SPDX-License-Identifier: MIT
// Five kernels of different kinds, launched twice each (the second time is warm), whose counts do not depend on chance:
// for comparing values with another profiler. five [binary logarithm of the elements]
#include "check.h"

__global__ void stream_copy(float4 *to, const float4 *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

__global__ void fma_chain(float *data, int rounds)
{
    float a = data[blockIdx.x * blockDim.x + threadIdx.x], b = 1.0001f;
    for (int i = 0; i < rounds; i++)
        a = a * b + 0.5f;
    data[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__global__ void strided(float *data, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / stride)
        data[i * stride] += 1;
}

__global__ void reduce(const float *data, float *sums)
{
    __shared__ float part[256];
    part[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x * 8] = part[0]; // a sector of its own: whether neighbours meet is chance
}

__global__ void branches(unsigned *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    for (unsigned step = 0; step < 96; step++)
        x = x & 1 ? x * 3 + 1 : x / 2;
    data[i] = x;
}

int main(int argc, char **argv)
{
    // By default 128 MB each, more than the L2 cache, and 20 us or more for each kernel on an H200.
    const int n = 1 << (argc > 1 ? atoi(argv[1]) : 25), blocks = n >> 13;
    float *a, *b;
    CUDA(cudaMalloc(&a, n * sizeof *a));
    CUDA(cudaMalloc(&b, n * sizeof *b));
    CUDA(cudaMemset(a, 0, n * sizeof *a));
    CUDA(cudaMemset(b, 0, n * sizeof *b));
    for (int round = 0; round < 2; round++) {
        stream_copy<<<blocks, 256>>>((float4 *)b, (const float4 *)a, n / 4);
        fma_chain<<<blocks, 256>>>(a, blocks / 4);
        strided<<<n / 32 / 256, 256>>>(a, 32, n);
        reduce<<<n / 256, 256>>>(a, b);
        branches<<<blocks, 256>>>((unsigned *)b);
    }
    LAUNCHED();
    CUDA(cudaDeviceSynchronize());
    return 0;
}
