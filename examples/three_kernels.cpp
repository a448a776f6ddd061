// SPDX-License-Identifier: MIT
// Three kernels of different shape over the same arrays, checked against the host: a vector add, an in-place saxpy that
// also counts its launches in a module variable, and an in-place scale. Usage: three_kernels [elements [iterations]]
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

__device__ unsigned int launches; // how often saxpy_in_place has run

__global__ void vector_add(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}

__global__ void saxpy_in_place(float a, const float *x, float *y, size_t n)
{
    size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (first == 0)
        launches += 1;
    for (size_t i = first; i < n; i += (size_t)gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void scale_in_place(float factor, float *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        x[i] *= factor;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1048576;
    const int iterations = argc > 2 ? std::atoi(argv[2]) : 1;
    if (n == 0 || iterations < 1) {
        std::fprintf(stderr, "usage: three_kernels [elements [iterations]]\n");
        return 2;
    }

    // Small integers, so that every result is exact in float and the check needs no tolerance.
    std::vector<float> a(n), b(n), c(n);
    for (size_t i = 0; i < n; ++i) {
        a[i] = (float)(i % 1000);
        b[i] = (float)(i % 77);
    }

    float *da, *db, *dc;
    CHECK(hipMalloc(&da, n * sizeof(float)));
    CHECK(hipMalloc(&db, n * sizeof(float)));
    CHECK(hipMalloc(&dc, n * sizeof(float)));
    CHECK(hipMemcpy(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice));

    size_t wrong = 0;
    for (int k = 0; k < iterations; ++k) {
        vector_add<<<1024, 1024>>>(da, db, dc, n);
        CHECK(hipGetLastError());
        saxpy_in_place<<<512, 512>>>(2.0f, da, dc, n);
        CHECK(hipGetLastError());
        scale_in_place<<<256, 256>>>(0.5f, dc, n);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost));
        for (size_t i = 0; i < n; ++i)
            wrong += c[i] != (a[i] + b[i] + 2.0f * a[i]) * 0.5f;
    }
    unsigned int counted = 0;
    CHECK(hipMemcpyFromSymbol(&counted, HIP_SYMBOL(launches), sizeof(counted)));

    std::printf("three_kernels: n=%zu iterations=%d wrong=%zu launches counted on the device=%u\n", n, iterations, wrong,
                counted);
    const bool ok = wrong == 0 && counted == (unsigned)iterations;
    std::printf("%s\n", ok ? "PASS" : "FAIL");
    CHECK(hipFree(da));
    CHECK(hipFree(db));
    CHECK(hipFree(dc));
    return ok ? 0 : 1;
}
