// SPDX-License-Identifier: MIT
// Two streams that take turns on one buffer, ordered by events only; pinned host memory for asynchronous copies.
#include "check.h"

__global__ void multiply_add(unsigned *data, unsigned by, unsigned plus, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * by + plus;
}

int main()
{
    const int n = 1 << 18;
    cudaStream_t streams[2];
    cudaEvent_t done[2];
    unsigned *data, *host, wanted = 1;
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMallocHost(&host, n * sizeof *host));
    for (int i = 0; i < n; i++)
        host[i] = 1;
    for (int s = 0; s < 2; s++) {
        CUDA(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CUDA(cudaEventCreate(&done[s]));
    }
    CUDA(cudaMemcpyAsync(data, host, n * sizeof *data, cudaMemcpyHostToDevice, streams[0]));
    CUDA(cudaEventRecord(done[1], streams[0]));
    for (int turn = 0; turn < 8; turn++) {
        int s = turn % 2;
        CUDA(cudaStreamWaitEvent(streams[s], done[1 - s], 0));
        multiply_add<<<n / 256, 256, 0, streams[s]>>>(data, 3, turn, n);
        LAUNCHED();
        CUDA(cudaEventRecord(done[s], streams[s]));
        wanted = wanted * 3 + turn;
    }
    CUDA(cudaMemcpyAsync(host, data, n * sizeof *data, cudaMemcpyDeviceToHost, streams[1]));
    CUDA(cudaStreamSynchronize(streams[1]));
    for (int i = 0; i < n; i++)
        expect(host[i] == wanted, "element", host[i], wanted);
    return 0;
}
