// SPDX-License-Identifier: MIT
// Two threads with a stream each work on buffers of their own, allocate, copy and free meanwhile, and share a counter
// that both kernels add to.
#include "check.h"

#include <thread>

__global__ void add(unsigned *data, unsigned *shared, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i]++;
    if (i == 0)
        atomicAdd(shared, 1);
}

static void work(unsigned *shared, int launches)
{
    const int n = 1 << 16;
    cudaStream_t stream;
    unsigned *data;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMemsetAsync(data, 0, n * sizeof *data, stream));
    for (int i = 0; i < launches; i++) {
        unsigned *scratch, value = 0;
        add<<<n / 256, 256, 0, stream>>>(data, shared, n);
        LAUNCHED();
        CUDA(cudaMalloc(&scratch, 4096 * (i + 1)));
        CUDA(cudaMemcpyAsync(&value, data + i, sizeof value, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        expect(value == (unsigned)i + 1, "element meanwhile", value, i + 1);
        CUDA(cudaFree(scratch));
    }
    expect_all(data, n, (unsigned)launches, "element");
    CUDA(cudaFree(data));
    CUDA(cudaStreamDestroy(stream));
}

int main()
{
    unsigned *shared, value;
    CUDA(cudaMalloc(&shared, sizeof *shared));
    CUDA(cudaMemset(shared, 0, sizeof *shared));
    std::thread one(work, shared, 12), two(work, shared, 12);
    one.join();
    two.join();
    CUDA(cudaMemcpy(&value, shared, sizeof value, cudaMemcpyDeviceToHost));
    expect(value == 24, "shared counter", value, 24);
    return 0;
}
