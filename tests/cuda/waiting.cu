// SPDX-License-Identifier: MIT
// Two kernels that wait for each other: the first can end only when the second runs. Under replay the wait for the
// first is bounded and it stands as the plain run. Needs CUDA_MODULE_LOADING=EAGER: loading the second would wait too.
#include "check.h"

__global__ void wait_for(volatile unsigned *flag, unsigned *out)
{
    while (*flag == 0)
        continue;
    *out += 1;
}

__global__ void raise(volatile unsigned *flag)
{
    *flag = 1;
}

int main()
{
    cudaStream_t one, two;
    unsigned *flag, *out, value;
    CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&flag, sizeof *flag));
    CUDA(cudaMalloc(&out, sizeof *out));
    CUDA(cudaMemset(flag, 0, sizeof *flag));
    CUDA(cudaMemset(out, 0, sizeof *out));
    CUDA(cudaDeviceSynchronize());
    wait_for<<<1, 1, 0, one>>>(flag, out);
    raise<<<1, 1, 0, two>>>(flag);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    expect(value == 1, "out", value, 1);
    return 0;
}
