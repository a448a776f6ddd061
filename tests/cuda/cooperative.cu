// SPDX-License-Identifier: MIT
// A cooperative kernel: all blocks meet in the middle.
#include "check.h"

#include <cooperative_groups.h>

__global__ void rotate(unsigned *from, unsigned *to, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
        to[i] = from[(i + 1) % n];
    grid.sync();
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
        from[i] = to[i] + 1;
}

int main()
{
    int n = 1 << 16;
    unsigned *from, *to, host[4];
    void *arguments[] = {&from, &to, &n};
    CUDA(cudaMalloc(&from, n * sizeof *from));
    CUDA(cudaMalloc(&to, n * sizeof *to));
    CUDA(cudaMemset(from, 0, n * sizeof *from));
    for (int i = 0; i < 3; i++)
        CUDA(cudaLaunchCooperativeKernel((void *)rotate, dim3(64), dim3(256), arguments, 0, 0));
    CUDA(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
    expect(host[0] == 3, "rotated", host[0], 3);
    return 0;
}
