// SPDX-License-Identifier: MIT
// A thousand allocations of odd sizes; each launch changes some of them in place, at their first and last bytes.
#include "check.h"

#include <vector>

enum { BUFFERS = 1000, LAUNCHES = 12 };

struct buffer {
    unsigned char *at;
    size_t bytes;
};

__global__ void touch(buffer *list, int first, int step)
{
    int i = first + (blockIdx.x * blockDim.x + threadIdx.x) * step;
    if (i >= BUFFERS)
        return;
    list[i].at[0] += 1;
    list[i].at[list[i].bytes - 1] += 2;
}

static size_t size_of(int i)
{
    return i % 50 == 0 ? 3000001 + i : 1 + (size_t)i * 37 % 20000;
}

int main()
{
    std::vector<buffer> list(BUFFERS);
    std::vector<unsigned char> first(BUFFERS), last(BUFFERS), host(4000000);
    buffer *device;
    for (int i = 0; i < BUFFERS; i++) {
        list[i].bytes = size_of(i);
        CUDA(cudaMalloc(&list[i].at, list[i].bytes));
        CUDA(cudaMemset(list[i].at, 0, list[i].bytes));
    }
    CUDA(cudaMalloc(&device, BUFFERS * sizeof *device));
    CUDA(cudaMemcpy(device, list.data(), BUFFERS * sizeof *device, cudaMemcpyHostToDevice));
    for (int round = 0; round < LAUNCHES; round++) {
        int step = round % 2 ? 7 : 1;
        touch<<<8, 128>>>(device, round, step);
        LAUNCHED();
        for (int i = round; i < BUFFERS; i += step) {
            first[i] += 1;
            (list[i].bytes == 1 ? first : last)[i] += 2;
        }
    }
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < BUFFERS; i++) {
        size_t bytes = list[i].bytes;
        CUDA(cudaMemcpy(host.data(), list[i].at, bytes, cudaMemcpyDeviceToHost));
        expect(host[0] == first[i], "first byte", host[0], first[i]);
        if (bytes > 1)
            expect(host[bytes - 1] == last[i], "last byte", host[bytes - 1], last[i]);
        for (size_t k = 1; k + 1 < bytes; k++)
            expect(host[k] == 0, "byte between", host[k], 0);
    }
    return 0;
}
