// SPDX-License-Identifier: MIT
// Several GPUs together: direct access to a peer's memory, copies in all directions, atomics of all GPUs on one word
// of a GPU's and of the host's memory while their kernels wait for each other, and each GPU's own amount of memory.
// Argument: the number of GPUs.
#include "check.h"

#include <vector>

__global__ void add_peer(const int *peer, int *own, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        own[i] += peer[i];
}

// Each GPU's kernel counts itself and waits for the others; then all lanes add.
__global__ void meet(unsigned *arrived, unsigned *sum, unsigned gpus)
{
    if (threadIdx.x == 0) {
        __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
        while (__hip_atomic_load(arrived, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM) < gpus)
            ;
    }
    __syncthreads();
    for (int i = 0; i < 100; i++)
        __hip_atomic_fetch_add(sum, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

static void atomics(unsigned *words, int gpus)
{
    for (int d = 0; d < gpus; d++) {
        HIP(hipSetDevice(d));
        meet<<<1, 64>>>(words, words + 1, gpus);
        HIP(hipGetLastError());
    }
    for (int d = 0; d < gpus; d++) {
        HIP(hipSetDevice(d));
        HIP(hipDeviceSynchronize());
    }
    unsigned back[2];
    HIP(hipMemcpy(back, words, sizeof(back), hipMemcpyDefault));
    EXPECT(back[0] == (unsigned)gpus);
    EXPECT(back[1] == 6400u * gpus);
}

int main(int argc, char **argv)
{
    const int n = 5000;
    int gpus = 0, expected = argc > 1 ? std::atoi(argv[1]) : 2;
    HIP(hipGetDeviceCount(&gpus));
    EXPECT(gpus == expected);
    std::vector<int *> memory(gpus);
    std::vector<int> host(n), back(n);
    for (int d = 0; d < gpus; d++) {
        HIP(hipSetDevice(d));
        HIP(hipMalloc(&memory[d], n * sizeof(int)));
        for (int i = 0; i < n; i++)
            host[i] = i + 100000 * d;
        HIP(hipMemcpy(memory[d], host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    }
    for (int d = 0; d < gpus; d++) {
        const int peer = (d + 1) % gpus;
        int can = 0;
        HIP(hipDeviceCanAccessPeer(&can, d, peer));
        std::printf("gpu %d can%s access gpu %d\n", d, can ? "" : " not", peer);
        HIP(hipSetDevice(d));
        if (can)
            HIP(hipDeviceEnablePeerAccess(peer, 0));
        EXPECT(can);
    }
    // In turn: each adds what its neighbour holds by then.
    for (int d = 0; d < gpus; d++) {
        HIP(hipSetDevice(d));
        add_peer<<<(n + 255) / 256, 256>>>(memory[(d + 1) % gpus], memory[d], n);
        HIP(hipDeviceSynchronize());
    }
    for (int d = 0; d < gpus; d++) {
        HIP(hipMemcpy(back.data(), memory[d], n * sizeof(int), hipMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            EXPECT(back[i] == (d + 1 < gpus ? 2 * i + 100000 * (2 * d + 1) : 3 * i + 100000 * gpus));
    }
    int *other;
    HIP(hipSetDevice(gpus - 1));
    HIP(hipMalloc(&other, n * sizeof(int)));
    HIP(hipMemcpyPeer(other, gpus - 1, memory[0], 0, n * sizeof(int)));
    HIP(hipMemcpy(host.data(), memory[0], n * sizeof(int), hipMemcpyDeviceToHost));
    HIP(hipMemcpy(back.data(), other, n * sizeof(int), hipMemcpyDeviceToHost));
    EXPECT(back == host);

    unsigned *words;
    HIP(hipSetDevice(0));
    HIP(hipMalloc(&words, 2 * sizeof(*words)));
    HIP(hipMemset(words, 0, 2 * sizeof(*words)));
    HIP(hipDeviceSynchronize());
    atomics(words, gpus);
    HIP(hipHostMalloc(&words, 2 * sizeof(*words), hipHostMallocDefault));
    words[0] = words[1] = 0;
    atomics(words, gpus);

    for (int d = 0; d < gpus; d++) {
        size_t free_bytes, total;
        HIP(hipSetDevice(d));
        HIP(hipMemGetInfo(&free_bytes, &total));
        void *p;
        EXPECT(hipMalloc(&p, total + (64 << 20)) == hipErrorOutOfMemory);
    }
    std::puts("gpus: all right");
    return 0;
}
