// SPDX-License-Identifier: MIT
// Kernels that are hard to repeat. Usage: kernels MODE
#include "check.hpp"

#include <vector>

__global__ void greet()
{
    if (threadIdx.x == 5)
        printf("hello from work-item %d of work-group %d\n", (int)threadIdx.x, (int)blockIdx.x);
}

// Says one line per work-group: a repetition would say it again. 1 dispatch.
static size_t says()
{
    greet<<<3, 64>>>();
    CHECK(hipDeviceSynchronize());
    return 0;
}

__global__ void count(const unsigned char *data, unsigned *bins)
{
    atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x]], 1u);
}

// Atomic additions in place; integers, so that the order does not show. 3 dispatches.
static size_t histogram()
{
    const size_t n = 1 << 15;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> bins(256), expected(256);
    for (size_t i = 0; i < n; i++) {
        data[i] = (unsigned char)(i * i >> 3);
        expected[data[i]] += 3;
    }
    unsigned char *device_data;
    unsigned *device_bins;
    CHECK(hipMalloc(&device_data, n));
    CHECK(hipMalloc(&device_bins, bins.size() * sizeof(unsigned)));
    CHECK(hipMemcpy(device_data, data.data(), n, hipMemcpyHostToDevice));
    CHECK(hipMemset(device_bins, 0, bins.size() * sizeof(unsigned)));
    for (int i = 0; i < 3; i++)
        count<<<n / 256, 256>>>(device_data, device_bins);
    CHECK(hipMemcpy(bins.data(), device_bins, bins.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < bins.size(); i++)
        wrong += bins[i] != expected[i];
    return wrong;
}

__global__ void stamp(unsigned long long *times, unsigned *launches)
{
    times[0] = __builtin_amdgcn_s_memrealtime();
    launches[0] += 1;
    times[1] = __builtin_amdgcn_s_memrealtime();
}

// The result is the time, another one in each execution; the caller compares it with the dispatch's. 3
// dispatches.
static size_t clock_reader()
{
    unsigned long long *times, host[2];
    unsigned *launches, count = 0;
    size_t wrong = 0;
    CHECK(hipMalloc(&times, sizeof(host)));
    CHECK(hipMalloc(&launches, sizeof(count)));
    CHECK(hipMemset(launches, 0, sizeof(count)));
    for (unsigned i = 1; i <= 3; i++) {
        stamp<<<1, 1>>>(times, launches);
        CHECK(hipMemcpy(host, times, sizeof(host), hipMemcpyDeviceToHost));
        CHECK(hipMemcpy(&count, launches, sizeof(count), hipMemcpyDeviceToHost));
        wrong += count != i;
        wrong += host[0] > host[1];
        std::printf("stamp %llu %llu\n", host[0], host[1]);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const mode modes[] = {{"says", says}, {"histogram", histogram}, {"clock", clock_reader}};
    return run_mode(modes, argc, argv);
}
