// SPDX-License-Identifier: MIT
// Writes 100 integers, or as the argument says: one more (past), some far more (gap), after the memory was freed
// (freed), to memory of the host that the GPU was not given (host), or past the end of dynamic LDS (lds).
#include "check.h"

#include <string>
#include <vector>

__global__ void fill(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i;
}

__global__ void fill_lds(int *p, int n)
{
    extern __shared__ int lds[];
    int i = threadIdx.x;
    if (i < n)
        lds[i] = i;
    __syncthreads();
    if (i < 100)
        p[i] = lds[99 - i];
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "clean";
    std::vector<int> back(100);
    int *p, *q, *host = (int *)std::malloc(400);
    HIP(hipMalloc(&p, 400));
    HIP(hipMalloc(&q, 400));
    if (mode == "freed")
        HIP(hipFree(p));
    if (mode == "lds")
        fill_lds<<<1, 128, 400>>>(p, 101);
    else if (mode == "gap")
        fill<<<1, 64>>>(p + 1200, 64);
    else
        fill<<<1, 128>>>(mode == "host" ? host : p, mode == "past" ? 101 : 100);
    HIP(hipGetLastError());
    HIP(hipDeviceSynchronize());
    fill_lds<<<1, 128, 400>>>(q, 100);
    HIP(hipMemcpy(back.data(), q, 400, hipMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        EXPECT(back[i] == 99 - i);
    std::free(host);
    std::puts("bounds: all right");
    return 0;
}
