// SPDX-License-Identifier: MIT
// A list on the device's heap, built by a kernel that is only ever launched in a graph, and found through a variable of its
// module. What walks it afterwards must not be repeated: nobody can put the heap back.
#include "check.h"

struct node {
    node *next;
    unsigned value;
};
__device__ node *first;

__global__ void touch(unsigned *data)
{
    data[threadIdx.x]++;
}

__global__ void build(int count)
{
    for (int i = 0; i < count; i++)
        first = new node{first, 0};
}

__global__ void walk(unsigned *sum)
{
    for (node *at = first; at; at = at->next)
        *sum += ++at->value;
}

int main()
{
    const int nodes = 10;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    unsigned *data, *sum;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&data, 32 * sizeof *data));
    CUDA(cudaMalloc(&sum, sizeof *sum));
    CUDA(cudaMemset(data, 0, 32 * sizeof *data));
    CUDA(cudaMemset(sum, 0, sizeof *sum));
    touch<<<1, 32, 0, stream>>>(data);
    CUDA(cudaStreamSynchronize(stream));

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    build<<<1, 1, 0, stream>>>(nodes);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&ready, graph, 0));
    CUDA(cudaGraphLaunch(ready, stream));
    for (int i = 0; i < 3; i++)
        walk<<<1, 1, 0, stream>>>(sum);
    LAUNCHED();
    CUDA(cudaStreamSynchronize(stream));
    expect_all(data, 32, 1u, "before");
    expect_all(sum, 1, (1u + 2u + 3u) * nodes, "values of the nodes");
    return 0;
}
