// SPDX-License-Identifier: MIT
// Kernels captured into a graph that is launched three times: the graph is not replayed, a launch on another stream
// during the capture is not either, and what follows is.
#include "check.h"

__global__ void add(unsigned *data, unsigned plus)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += plus;
}

int main()
{
    const int n = 1 << 16;
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    unsigned *data, *second;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMalloc(&second, n * sizeof *second));
    CUDA(cudaMemset(data, 0, n * sizeof *data));
    CUDA(cudaMemset(second, 0, n * sizeof *second));
    add<<<n / 256, 256, 0, stream>>>(data, 1);
    CUDA(cudaStreamSynchronize(stream));

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<n / 256, 256, 0, stream>>>(data, 10);
    add<<<n / 256, 256, 0, other>>>(second, 7); // runs now
    add<<<n / 256, 256, 0, stream>>>(data, 100);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphLaunch(ready, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamSynchronize(other));
    expect_all(data, n, 331u, "captured");
    expect_all(second, n, 7u, "meanwhile");
    add<<<n / 256, 256, 0, stream>>>(data, 1000);
    CUDA(cudaStreamSynchronize(stream));
    expect_all(data, n, 1331u, "afterwards");
    return 0;
}
