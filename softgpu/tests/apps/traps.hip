// SPDX-License-Identifier: MIT
// Ways in which a kernel stops itself, as the argument says (assert, trap, abort, message, halt), and a debug
// trap, after which it goes on; and clocks that run forward at their rates.
#include "check.h"

#undef NDEBUG
#include <cassert>
#include <string>

__global__ void asserts(int n)
{
    assert((int)threadIdx.x < n && "small enough");
}

__global__ void traps()
{
    __builtin_trap();
}

__global__ void aborts()
{
    abort();
}

__global__ void sends()
{
    __builtin_amdgcn_s_sendmsg(10, 0);
}

__global__ void halts()
{
    __builtin_amdgcn_s_sendmsghalt(1, 0);
}

__global__ void goes_on(long long *out)
{
    __builtin_debugtrap();
    out[0] = clock64();
    out[1] = (long long)__builtin_amdgcn_s_memrealtime();
    for (int i = 0; i < 20000; i++)
        __builtin_amdgcn_s_sleep(1);
    out[2] = clock64();
    out[3] = (long long)__builtin_amdgcn_s_memrealtime();
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "assert")
        asserts<<<1, 64>>>(62);
    else if (mode == "trap")
        traps<<<1, 64>>>();
    else if (mode == "abort")
        aborts<<<1, 1>>>();
    else if (mode == "message")
        sends<<<1, 1>>>();
    else if (mode == "halt")
        halts<<<1, 1>>>();
    HIP(hipDeviceSynchronize());

    long long *out, back[4];
    HIP(hipMalloc(&out, sizeof(back)));
    goes_on<<<1, 1>>>(out);
    HIP(hipMemcpy(back, out, sizeof(back), hipMemcpyDeviceToHost));
    const long long real = back[3] - back[1], core = back[2] - back[0];
    EXPECT(real > 0 && core > 0);
    // 1700 MHz and 25 MHz; the two were not read at the same moment.
    EXPECT(core / 68 <= real + 100000 && core / 68 + 100000 >= real);
    std::puts("traps: all right");
    return 0;
}
