// SPDX-License-Identifier: MIT
// A kernel that never ends, or (argument "short") one that does.
#include "check.h"

#include <cstring>

__global__ void forever(int *p)
{
    while (__atomic_load_n(p, __ATOMIC_RELAXED) == 0)
        ;
}

__global__ void brief(int *p)
{
    *p = 5;
}

int main(int argc, char **argv)
{
    int *p, back = 0;
    HIP(hipMalloc(&p, sizeof(int)));
    HIP(hipMemset(p, 0, sizeof(int)));
    if (argc > 1 && !std::strcmp(argv[1], "forever"))
        forever<<<4, 64>>>(p);
    else
        brief<<<1, 1>>>(p);
    HIP(hipMemcpy(&back, p, sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(back == 5);
    std::puts("endless: all right");
    return 0;
}
