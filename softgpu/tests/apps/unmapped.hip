// SPDX-License-Identifier: MIT
// GPU 0 stores to memory of GPU 1: with access, then to memory that it was never given access to, a memory fault.
#include "check.h"

__global__ void clear(int *p)
{
    p[threadIdx.x] = 0;
}

static int *memory_of(int device)
{
    int *p;
    HIP(hipSetDevice(device));
    HIP(hipMalloc(&p, 4 << 20)); // more than what the runtime cuts out of blocks
    return p;
}

int main()
{
    int *far = memory_of(1);
    HIP(hipSetDevice(0));
    HIP(hipDeviceEnablePeerAccess(1, 0));
    clear<<<1, 64>>>(far);
    HIP(hipDeviceSynchronize());
    std::printf("peer access: all right\n");
    std::fflush(stdout);
    HIP(hipDeviceDisablePeerAccess(1));
    far = memory_of(1);
    HIP(hipSetDevice(0));
    clear<<<1, 64>>>(far);
    HIP(hipDeviceSynchronize());
    return 1;
}
