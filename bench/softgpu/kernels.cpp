// SPDX-License-Identifier: MIT
// The loops that bench/softgpu/run measures, on the GPU and on the host. Usage: kernels WHAT REPEATS. Prints a line
// "gpu" or "host" with the seconds of each repetition; empty launches are a hundred a repetition.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

constexpr unsigned alu_items = 64 * 1024, alu_rounds = 1000, copy_items = 64 * 1024, copy_words = 1u << 25;
constexpr unsigned n = 1024, tile = 16, launches = 100;

// Two multiply-adds, four integer operations and a conversion a round.
__host__ __device__ inline void alu_round(float &x, float &y, unsigned &u)
{
    x = fmaf(x, 0.999f, y);
    y = fmaf(y, -0.5f, 0.25f);
    u ^= u << 13;
    u = (u >> 7) + u;
    x += static_cast<float>(u & 255u);
}

__host__ __device__ inline float alu_work(unsigned item)
{
    float x = static_cast<float>(item), y = 1.0f;
    unsigned u = item | 1u;
#pragma unroll 8
    for (unsigned i = 0; i < alu_rounds; ++i)
        alu_round(x, y, u);
    return x + y;
}

__global__ void alu(float *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = alu_work(i);
}

__global__ void copy(float *out, const float *in)
{
    const unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < copy_words; i += step)
        out[i] = in[i];
}

__global__ void matmul(float *c, const float *a, const float *b)
{
    __shared__ float as[tile][tile], bs[tile][tile];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned row = blockIdx.y * tile + y, column = blockIdx.x * tile + x;
    float sum = 0;
    for (unsigned t = 0; t < n; t += tile) {
        as[y][x] = a[row * n + t + x];
        bs[y][x] = b[(t + y) * n + column];
        __syncthreads();
        for (unsigned k = 0; k < tile; ++k)
            sum = fmaf(as[y][k], bs[k][x], sum);
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void empty() {}

static void check(hipError_t status)
{
    if (status == hipSuccess)
        return;
    std::fprintf(stderr, "%s\n", hipGetErrorString(status));
    std::exit(1);
}

static float *device(std::size_t words)
{
    float *p = nullptr;
    check(hipMalloc(&p, words * sizeof(float)));
    return p;
}

static void measure(const char *where, int repeats, const std::function<void()> &work)
{
    std::printf("%s", where);
    for (int i = 0; i <= repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        if (i) // the first one warms up
            std::printf(" %.9f", took.count());
    }
    std::printf("\n");
}

static void multiply(float *c, const float *a, const float *b)
{
    std::memset(c, 0, n * n * sizeof(float));
    for (unsigned i = 0; i < n; ++i)
        for (unsigned k = 0; k < n; ++k)
            for (unsigned j = 0; j < n; ++j)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void run_alu(int repeats)
{
    float *out = device(alu_items);
    std::vector<float> mine(alu_items);
    measure("gpu", repeats, [=] {
        alu<<<alu_items / 256, 256>>>(out);
        check(hipDeviceSynchronize());
    });
    measure("host", repeats, [&] {
        for (unsigned i = 0; i < alu_items; ++i)
            mine[i] = alu_work(i);
    });
}

static void run_copy(int repeats)
{
    float *in = device(copy_words), *out = device(copy_words);
    std::vector<float> from(copy_words, 1), to(copy_words);
    check(hipMemcpy(in, from.data(), copy_words * sizeof(float), hipMemcpyHostToDevice));
    measure("gpu", repeats, [=] {
        copy<<<copy_items / 256, 256>>>(out, in);
        check(hipDeviceSynchronize());
    });
    measure("host", repeats, [&] { std::memcpy(to.data(), from.data(), copy_words * sizeof(float)); });
}

static void run_matmul(int repeats)
{
    std::vector<float> a(n * n), b(n * n), c(n * n), d(n * n);
    for (unsigned i = 0; i < n * n; ++i) {
        a[i] = static_cast<float>(i % 7);
        b[i] = static_cast<float>(i % 5);
    }
    float *da = device(n * n), *db = device(n * n), *dc = device(n * n);
    check(hipMemcpy(da, a.data(), n * n * sizeof(float), hipMemcpyHostToDevice));
    check(hipMemcpy(db, b.data(), n * n * sizeof(float), hipMemcpyHostToDevice));
    measure("gpu", repeats, [=] {
        matmul<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(dc, da, db);
        check(hipDeviceSynchronize());
    });
    check(hipMemcpy(d.data(), dc, n * n * sizeof(float), hipMemcpyDeviceToHost));
    measure("host", repeats, [&] { multiply(c.data(), a.data(), b.data()); });
    if (c == d)
        return;
    std::fprintf(stderr, "the products differ\n");
    std::exit(1);
}

static void run_launch(int repeats)
{
    measure("gpu", repeats, [] {
        for (unsigned i = 0; i < launches; ++i) {
            empty<<<1, 64>>>();
            check(hipDeviceSynchronize());
        }
    });
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
    // The waiting program must not take the processor that is measured.
    check(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
    if (!std::strcmp(what, "alu"))
        run_alu(repeats);
    else if (!std::strcmp(what, "copy"))
        run_copy(repeats);
    else if (!std::strcmp(what, "matmul"))
        run_matmul(repeats);
    else if (!std::strcmp(what, "launch"))
        run_launch(repeats);
    else
        return 2;
    return 0;
}
