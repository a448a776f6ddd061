// SPDX-License-Identifier: MIT
// Host memory as a kernel argument (declined), behind an address in device memory or in a module variable (declined while
// it is there), stream-ordered memory (declined while it lives), a kernel that gives
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

struct table {
    char odd[24]; // the address is not on a boundary of 16 bytes
    unsigned *data;
};

__device__ unsigned *variable;

__global__ void follow(const table *where)
{
    atomicAdd(where->data, 1);
}

__global__ void follow_variable()
{
    atomicAdd(variable, 1);
}

// The kernels that find their data through memory: twice each.
static void follow_both(unsigned *data, const table *device_table, unsigned wanted)
{
    table filled = {{0}, data};
    CUDA(cudaMemset(data, 0, sizeof *data));
    CUDA(cudaMemcpy((void *)device_table, &filled, sizeof filled, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyToSymbol(variable, &data, sizeof data));
    for (int i = 0; i < 2; i++) {
        follow<<<1, 1>>>(device_table);
        follow_variable<<<1, 1>>>();
    }
    unsigned got;
    CUDA(cudaMemcpy(&got, data, sizeof got, cudaMemcpyDefault));
    expect(got == wanted, "behind an address", got, wanted);
    filled.data = nullptr;
    CUDA(cudaMemcpy((void *)device_table, &filled, sizeof filled, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyToSymbol(variable, &filled.data, sizeof filled.data));
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

    table *device_table;
    CUDA(cudaMalloc(&device_table, sizeof *device_table));
    follow_both(data, device_table, 4); // replayed
    follow_both(host, device_table, 4); // declined

    now<<<1, 1>>>(out);
    CUDA(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&second, out, sizeof second, cudaMemcpyDeviceToHost));
    expect(first == second && first != 0, "clock", (double)second, (double)first);
    return 0;
}
