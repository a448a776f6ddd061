// SPDX-License-Identifier: MIT
// Memory of all kinds that kernels change and the host looks at. Usage: memory MODE
#include "check.hpp"

#include <vector>

__global__ void add_one(unsigned char *p, size_t n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

static void add(unsigned char *p, size_t n)
{
    add_one<<<(n + 255) / 256, 256>>>(p, n);
    CHECK(hipGetLastError());
}

// Copies of many sizes in both directions, and fills, between dispatches. 2 dispatches a size, 9 sizes.
static size_t copies()
{
    const size_t sizes[] = {1, 3, 64, 255, 4095, 4096, 65537, 262144, 1048579};
    unsigned char *device;
    size_t wrong = 0;
    CHECK(hipMalloc(&device, sizes[8]));
    for (size_t n : sizes) {
        std::vector<unsigned char> to(n), back(n);
        for (size_t i = 0; i < n; i++)
            to[i] = (unsigned char)(i * 7 + n);
        CHECK(hipMemcpy(device, to.data(), n, hipMemcpyHostToDevice));
        add(device, n);
        CHECK(hipMemcpy(back.data(), device, n, hipMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            wrong += back[i] != (unsigned char)(to[i] + 1);
        CHECK(hipMemset(device, 0x5a, n));
        add(device, n);
        CHECK(hipMemcpy(back.data(), device, n, hipMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            wrong += back[i] != 0x5b;
    }
    return wrong;
}

// The kernel writes host memory: a repetition could not be undone. 3 dispatches.
static size_t pinned()
{
    const size_t n = 5000;
    unsigned char *host;
    size_t wrong = 0;
    CHECK(hipHostMalloc(reinterpret_cast<void **>(&host), n, hipHostMallocDefault));
    std::memset(host, 7, n);
    for (int i = 0; i < 3; i++)
        add(host, n);
    CHECK(hipDeviceSynchronize());
    for (size_t i = 0; i < n; i++)
        wrong += host[i] != 10;
    return wrong;
}

static __device__ int file_local[64];
__device__ int global[64];

__global__ void step_variables(int n)
{
    file_local[threadIdx.x] += n;
    global[threadIdx.x] += file_local[threadIdx.x];
}

// Writable variables of the module, read and written by the host between dispatches. 4 dispatches.
static size_t variables()
{
    int values[64], expected_local = 0, expected_global = 0;
    size_t wrong = 0;
    for (int i = 0; i < 4; i++) {
        step_variables<<<1, 64>>>(i + 1);
        expected_local += i + 1;
        expected_global += expected_local;
        CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(file_local), sizeof(values)));
        for (int value : values)
            wrong += value != expected_local;
        CHECK(hipMemcpyFromSymbol(values, HIP_SYMBOL(global), sizeof(values)));
        for (int &value : values) {
            wrong += value != expected_global;
            value = i;
        }
        CHECK(hipMemcpyToSymbol(HIP_SYMBOL(global), values, sizeof(values)));
        expected_global = i;
    }
    return wrong;
}

// Memory is freed and allocated again between launches, mostly at the same address. 12 dispatches.
static size_t reuse()
{
    size_t wrong = 0, same = 0;
    unsigned char *before = nullptr, *other;
    CHECK(hipMalloc(&other, 4096));
    CHECK(hipMemset(other, 0, 4096));
    for (int i = 0; i < 6; i++) {
        const size_t n = 1 << 20 | (size_t)i << 12;
        std::vector<unsigned char> back(n);
        unsigned char *p;
        CHECK(hipMalloc(&p, n));
        same += p == before;
        before = p;
        CHECK(hipMemset(p, i, n));
        add(p, n);
        add(other, 4096);
        CHECK(hipMemcpy(back.data(), p, n, hipMemcpyDeviceToHost));
        for (unsigned char value : back)
            wrong += value != i + 1;
        CHECK(hipMemcpy(back.data(), other, 4096, hipMemcpyDeviceToHost));
        for (size_t k = 0; k < 4096; k++)
            wrong += back[k] != i + 1;
        CHECK(hipFree(p));
    }
    std::printf("%zu of 5 at the same address\n", same);
    return wrong;
}

int main(int argc, char **argv)
{
    const mode modes[] = {{"copies", copies}, {"pinned", pinned}, {"variables", variables}, {"reuse", reuse}};
    return run_mode(modes, argc, argv);
}
