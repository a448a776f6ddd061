// SPDX-License-Identifier: MIT
// A kernel whose instruction count depends on memory that it changes itself: each work-item loops steps[i] times and
// then adds one to steps[i]. Between launches the host writes other values. Passes that start from anything but the
// live run's inputs execute another number of instructions. Usage: data_dependent
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                            \
    do {                                                                                                       \
        hipError_t error_ = (call);                                                                            \
        if (error_ != hipSuccess) {                                                                            \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));                                \
            std::exit(1);                                                                                      \
        }                                                                                                      \
    } while (0)

__global__ void count_up(unsigned *steps, unsigned *sums)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (volatile unsigned k = 0; k < steps[i]; k = k + 1)
        sum += k;
    sums[i] = sum;
    steps[i] += 1;
}

int main()
{
    const size_t n = 16384;
    std::vector<unsigned> steps(n), sums(n);
    unsigned *device_steps, *device_sums;
    CHECK(hipMalloc(&device_steps, n * sizeof(unsigned)));
    CHECK(hipMalloc(&device_sums, n * sizeof(unsigned)));

    size_t wrong = 0;
    for (unsigned launch = 0; launch < 3; ++launch) {
        const unsigned start = 5 + 7 * launch;
        std::vector<unsigned> input(n, start);
        CHECK(hipMemcpy(device_steps, input.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
        count_up<<<n / 256, 256>>>(device_steps, device_sums);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(steps.data(), device_steps, n * sizeof(unsigned), hipMemcpyDeviceToHost));
        CHECK(hipMemcpy(sums.data(), device_sums, n * sizeof(unsigned), hipMemcpyDeviceToHost));
        for (size_t i = 0; i < n; ++i)
            wrong += steps[i] != start + 1 || sums[i] != start * (start - 1) / 2;
    }
    std::printf("data_dependent: wrong=%zu\n%s\n", wrong, wrong == 0 ? "PASS" : "FAIL");
    return wrong == 0 ? 0 : 1;
}
