// SPDX-License-Identifier: MIT
// Host memory as a kernel argument (declined), stream-ordered memory (declined while it lives), a kernel that gives
// another result each time (found out; the program keeps the first).
#include "check.h"

__global__ void add(unsigned *data, unsigned plus)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += plus;
}

__global__ void now(long long *out)
{
    *out = clock64();
}

int main()
{
    const int n = 4096;
    unsigned *host, *pool, *data;
    long long *out, first, second;
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMallocHost(&host, n * sizeof *host));
    CUDA(cudaMalloc(&data, n * sizeof *data));
    CUDA(cudaMalloc(&out, sizeof *out));
    CUDA(cudaMemset(data, 0, n * sizeof *data));
    for (int i = 0; i < n; i++)
        host[i] = 1;
    add<<<n / 256, 256>>>(host, 2);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        expect(host[i] == 3, "host", host[i], 3);

    CUDA(cudaMallocAsync(&pool, n * sizeof *pool, stream));
    CUDA(cudaMemsetAsync(pool, 0, n * sizeof *pool, stream));
    add<<<n / 256, 256, 0, stream>>>(pool, 2);
    CUDA(cudaStreamSynchronize(stream));
    expect_all(pool, n, 2u, "pool");
    CUDA(cudaFreeAsync(pool, stream));
    CUDA(cudaStreamSynchronize(stream));
    add<<<n / 256, 256>>>(data, 4);
    expect_all(data, n, 4u, "device");

    now<<<1, 1>>>(out);
    CUDA(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&second, out, sizeof second, cudaMemcpyDeviceToHost));
    expect(first == second && first != 0, "clock", (double)second, (double)first);
    return 0;
}
