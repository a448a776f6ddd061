// SPDX-License-Identifier: MIT
// Would notice a broken restore: three launches of an in-place saxpy. The buffer starts at 100 and each launch adds 2;
// a module variable counts the launches. After launch k they are 100 + 2k and k, however often a profiler ran the
// kernel meanwhile. Usage: in_place [elements]
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

__device__ unsigned int launches;

__global__ void add_in_place(float a, const float *x, float *y, size_t n)
{
    size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (first == 0)
        launches += 1;
    for (size_t i = first; i < n; i += (size_t)gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1048576;
    std::vector<float> ones(n, 1.0f), y(n, 100.0f);
    float *dx, *dy;
    CHECK(hipMalloc(&dx, n * sizeof(float)));
    CHECK(hipMalloc(&dy, n * sizeof(float)));
    CHECK(hipMemcpy(dx, ones.data(), n * sizeof(float), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));

    bool ok = true;
    for (unsigned int k = 1; k <= 3; ++k) {
        add_in_place<<<512, 512>>>(2.0f, dx, dy, n);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(y.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
        unsigned int counted = 0;
        CHECK(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(launches), sizeof(counted)));
        size_t wrong = 0;
        for (size_t i = 0; i < n; ++i)
            wrong += y[i] != 100.0f + 2.0f * k;
        std::printf("in_place: launch %u: buffer[0]=%g (expected %g), wrong=%zu, counter=%u (expected %u)\n", k, y[0],
                    100.0f + 2.0f * k, wrong, counted, k);
        ok = ok && wrong == 0 && counted == k;
    }
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    CHECK(hipFree(dx));
    CHECK(hipFree(dy));
    return ok ? 0 : 1;
}
