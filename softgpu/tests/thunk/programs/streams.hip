// SPDX-License-Identifier: MIT
// Streams, events and their times, waits across streams, callbacks, pinned and managed memory.
#include "check.h"

#include <atomic>
#include <vector>

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void add_one(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

static void check_saxpy()
{
    const int n = 100003;
    std::vector<float> x(n), y(n), r(n);
    for (int i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    float *dx = nullptr, *dy = nullptr;
    hipEvent_t start, stop;
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipMalloc(&dx, n * sizeof(float)));
    HIP(hipMalloc(&dy, n * sizeof(float)));
    HIP(hipMemcpy(dx, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipMemcpy(dy, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
    HIP(hipEventRecord(start));
    saxpy<<<(n + 255) / 256, 256>>>(3, dx, dy, n);
    HIP(hipGetLastError());
    HIP(hipEventRecord(stop));
    HIP(hipEventSynchronize(stop));
    float ms = 0;
    HIP(hipEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0);
    HIP(hipMemcpy(r.data(), dy, n * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(r[i] == 3 * x[i] + y[i]);
    HIP(hipFree(dx));
    HIP(hipFree(dy));
}

// A chain over many streams: each stream's work waits for the stream before, so the sum shows a missed wait.
static void check_chain()
{
    const int streams = 12, n = 1000, rounds = 5;
    int *p = nullptr;
    std::vector<hipStream_t> s(streams);
    std::vector<hipEvent_t> e(streams * rounds);
    std::vector<int> r(n);
    HIP(hipMalloc(&p, n * sizeof(int)));
    HIP(hipMemset(p, 0, n * sizeof(int)));
    for (auto &stream : s)
        HIP(hipStreamCreate(&stream));
    for (auto &event : e)
        HIP(hipEventCreate(&event));
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < streams * rounds; i++) {
        if (i > 0)
            HIP(hipStreamWaitEvent(s[i % streams], e[i - 1], 0));
        add_one<<<(n + 63) / 64, 64, 0, s[i % streams]>>>(p, n);
        HIP(hipEventRecord(e[i], s[i % streams]));
    }
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(r.data(), p, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int v : r)
        EXPECT(v == streams * rounds);
    for (auto &stream : s)
        HIP(hipStreamDestroy(stream));
    HIP(hipFree(p));
}

static void count_call(hipStream_t, hipError_t status, void *data)
{
    if (status == hipSuccess)
        ++*(std::atomic<int> *)data;
}

static void check_callback_and_pinned()
{
    const int n = 50000;
    std::atomic<int> calls{0};
    int *host = nullptr, *device = nullptr;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    HIP(hipHostMalloc(&host, n * sizeof(int)));
    HIP(hipMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    HIP(hipMemcpyAsync(device, host, n * sizeof(int), hipMemcpyHostToDevice, stream));
    add_one<<<(n + 255) / 256, 256, 0, stream>>>(device, n);
    HIP(hipMemcpyAsync(host, device, n * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP(hipStreamAddCallback(stream, count_call, &calls, 0));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == i + 1);
    EXPECT(calls == 1);
    // The kernel writes to host memory itself.
    add_one<<<(n + 255) / 256, 256, 0, stream>>>(host, n);
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == i + 2);
    HIP(hipFree(device));
    HIP(hipHostFree(host));
    HIP(hipStreamDestroy(stream));
}

static void check_managed()
{
    const int n = 3000;
    int *p = nullptr;
    HIP(hipMallocManaged(&p, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        p[i] = 7 * i;
    add_one<<<(n + 255) / 256, 256>>>(p, n);
    HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(p[i] == 7 * i + 1);
    HIP(hipFree(p));
}

static void check_many_launches()
{
    const int n = 64, launches = 5000;
    int *p = nullptr, r[64];
    HIP(hipMalloc(&p, n * sizeof(int)));
    HIP(hipMemset(p, 0, n * sizeof(int)));
    for (int i = 0; i < launches; i++)
        add_one<<<1, 64>>>(p, n);
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(r, p, sizeof(r), hipMemcpyDeviceToHost));
    for (int v : r)
        EXPECT(v == launches);
    HIP(hipFree(p));
}

int main()
{
    check_saxpy();
    check_chain();
    check_callback_and_pinned();
    check_managed();
    check_many_launches();
    std::puts("streams: all right");
    return 0;
}
