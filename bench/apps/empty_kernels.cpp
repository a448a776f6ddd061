// SPDX-License-Identifier: MIT
// N launches of an empty kernel, each waited for: what a dispatch costs beside its work. Usage: empty_kernels N
#include <hip/hip_runtime.h>

#include <cstdlib>

__global__ void empty() {}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    for (int i = 0; i < n; ++i) {
        empty<<<1, 64>>>();
        if (hipDeviceSynchronize() != hipSuccess)
            return 1;
    }
    return 0;
}
