// SPDX-License-Identifier: MIT
// Module variables: one that the program knows by name, one that only kernels know, one with an initial value.
#include "check.h"

__device__ unsigned launches;
static __device__ unsigned threads;
__device__ unsigned table[64] = {100, 200};

__global__ void bump(unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        launches++;
    atomicAdd(&threads, 1);
    if (i < 64)
        table[i]++;
    out[i] = threads * 0 + launches * 0 + i;
}

__global__ void read_threads(unsigned *out)
{
    *out = threads;
}

int main()
{
    unsigned *out, value, seen[64];
    CUDA(cudaMalloc(&out, 1024 * sizeof *out));
    for (unsigned launch = 1; launch <= 5; launch++) {
        bump<<<4, 256>>>(out);
        LAUNCHED();
        CUDA(cudaMemcpyFromSymbol(&value, launches, sizeof value));
        expect(value == launch, "launches", value, launch);
        CUDA(cudaMemcpyFromSymbol(seen, table, sizeof seen));
        expect(seen[0] == 100 + launch, "table[0]", seen[0], 100 + launch);
        expect(seen[63] == launch, "table[63]", seen[63], launch);
        read_threads<<<1, 1>>>(out);
        CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
        expect(value == 1024 * launch, "threads", value, 1024 * launch);
    }
    return 0;
}
