// SPDX-License-Identifier: MIT
// Launches five kernels and leaves without waiting for them. Usage: leave exit|_exit
#include "check.hpp"

#include <unistd.h>

__global__ void add(int *p)
{
    p[threadIdx.x] += 1;
}

int main(int argc, char **argv)
{
    const bool at_once = argc == 2 && std::strcmp(argv[1], "_exit") == 0;
    if (!at_once && (argc != 2 || std::strcmp(argv[1], "exit") != 0))
        return 2;
    int *p;
    CHECK(hipMalloc(&p, 64 * sizeof(int)));
    for (int i = 0; i < 5; i++)
        add<<<1, 64>>>(p);
    if (at_once)
        _exit(17);
    return 17;
}
