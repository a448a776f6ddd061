// SPDX-License-Identifier: MIT
// Several GPUs: each runs its own work on its own memory, copies between them arrive, properties differ where
// they must. Argument: the number of GPUs that must be there.
#include "check.h"

#include <cstring>
#include <vector>

__global__ void scale(int *p, int factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= factor;
}

int main(int argc, char **argv)
{
    int devices = 0, expected = argc > 1 ? std::atoi(argv[1]) : 1;
    const int n = 20000;
    HIP(hipGetDeviceCount(&devices));
    EXPECT(devices == expected);
    std::vector<int *> memory(devices);
    std::vector<int> host(n), back(n);
    int last_bus = -1;
    for (int i = 0; i < n; i++)
        host[i] = i;
    for (int d = 0; d < devices; d++) {
        hipDeviceProp_t properties;
        HIP(hipGetDeviceProperties(&properties, d));
        EXPECT(std::strncmp(properties.gcnArchName, "gfx90a", 6) == 0);
        EXPECT(std::strcmp(properties.name, "Software gfx90a") == 0);
        EXPECT(properties.warpSize == 64 && properties.multiProcessorCount == 8);
        EXPECT(properties.pciBusID != last_bus);
        last_bus = properties.pciBusID;
        HIP(hipSetDevice(d));
        HIP(hipMalloc(&memory[d], n * sizeof(int)));
        HIP(hipMemcpy(memory[d], host.data(), n * sizeof(int), hipMemcpyHostToDevice));
        scale<<<(n + 255) / 256, 256>>>(memory[d], d + 2, n);
        HIP(hipGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        HIP(hipSetDevice(d));
        HIP(hipDeviceSynchronize());
        HIP(hipMemcpy(back.data(), memory[d], n * sizeof(int), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            EXPECT(back[i] == i * (d + 2));
    }
    if (devices > 1) {
        HIP(hipMemcpyPeer(memory[1], 1, memory[0], 0, n * sizeof(int)));
        HIP(hipMemcpy(back.data(), memory[1], n * sizeof(int), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            EXPECT(back[i] == i * 2);
    }
    std::puts("devices: all right");
    return 0;
}
