// SPDX-License-Identifier: MIT
// Order and time: streams, events, threads, GPUs and host callbacks. Usage: streams MODE
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

constexpr int threads = 256, items = 4 * threads;

__global__ void add(int *p, int n)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += n;
}

// Not commutative with add: a wrong order gives a wrong result.
__global__ void twice(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

static int *zeros()
{
    int *p;
    CHECK(hipMalloc(&p, items * sizeof(int)));
    CHECK(hipMemset(p, 0, items * sizeof(int)));
    CHECK(hipDeviceSynchronize());
    return p;
}

static size_t differing(const int *device, int expected)
{
    std::vector<int> host(items);
    CHECK(hipMemcpy(host.data(), device, items * sizeof(int), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int value : host)
        wrong += value != expected;
    return wrong;
}

// Two streams work in turn on the same memory; each waits for the other's event. 10 dispatches.
static size_t events()
{
    int *p = zeros();
    hipStream_t streams[2];
    hipEvent_t event;
    for (hipStream_t &stream : streams)
        CHECK(hipStreamCreate(&stream));
    CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    int expected = 0;
    for (int i = 0; i < 5; i++) {
        add<<<items / threads, threads, 0, streams[0]>>>(p, i + 1);
        CHECK(hipEventRecord(event, streams[0]));
        CHECK(hipStreamWaitEvent(streams[1], event, 0));
        twice<<<items / threads, threads, 0, streams[1]>>>(p);
        CHECK(hipEventRecord(event, streams[1]));
        CHECK(hipStreamWaitEvent(streams[0], event, 0));
        expected = (expected + i + 1) * 2;
    }
    CHECK(hipDeviceSynchronize());
    return differing(p, expected);
}

// Time between events: more than nothing, less than what the host's clock saw around it. 4 dispatches.
static size_t elapsed()
{
    int *p = zeros();
    hipEvent_t begin, end;
    CHECK(hipEventCreate(&begin));
    CHECK(hipEventCreate(&end));
    size_t wrong = 0;
    for (int i = 0; i < 4; i++) {
        const auto before = std::chrono::steady_clock::now();
        CHECK(hipEventRecord(begin, nullptr));
        add<<<items / threads, threads>>>(p, 1);
        CHECK(hipEventRecord(end, nullptr));
        CHECK(hipEventSynchronize(end));
        const std::chrono::duration<float, std::milli> wall = std::chrono::steady_clock::now() - before;
        float between = -1;
        CHECK(hipEventElapsedTime(&between, begin, end));
        if (!(between > 0 && between < wall.count())) {
            std::printf("elapsed %f ms, wall %f ms\n", between, wall.count());
            wrong++;
        }
    }
    return wrong + differing(p, 4);
}

// More launches than any queue of packets holds, and nobody waits between them. 3000 dispatches.
static size_t many()
{
    int *p = zeros();
    for (int i = 0; i < 3000; i++)
        add<<<1, 64>>>(p, 1);
    CHECK(hipDeviceSynchronize());
    std::vector<int> host(items);
    CHECK(hipMemcpy(host.data(), p, items * sizeof(int), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int i = 0; i < items; i++)
        wrong += host[i] != (i < 64 ? 3000 : 0);
    return wrong;
}

// Each of two threads launches into a stream of its own. 20 dispatches.
static size_t two_threads()
{
    int *memory[2] = {zeros(), zeros()};
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; i++)
        workers.emplace_back([i, &memory] {
            hipStream_t stream;
            CHECK(hipStreamCreate(&stream));
            for (int n = 0; n < 5; n++) {
                add<<<items / threads, threads, 0, stream>>>(memory[i], i + 1);
                twice<<<items / threads, threads, 0, stream>>>(memory[i]);
            }
            CHECK(hipStreamSynchronize(stream));
        });
    for (std::thread &worker : workers)
        worker.join();
    return differing(memory[0], 62) + differing(memory[1], 124); // x -> 2(x + n), five times from 0
}

// Two GPUs, each with its own memory, then a copy between them. 6 dispatches.
static size_t two_gpus()
{
    int count = 0, *memory[2];
    CHECK(hipGetDeviceCount(&count));
    if (count < 2)
        return 1;
    for (int device = 0; device < 2; device++) {
        CHECK(hipSetDevice(device));
        memory[device] = zeros();
    }
    for (int i = 0; i < 2; i++)
        for (int device = 0; device < 2; device++) {
            CHECK(hipSetDevice(device));
            add<<<items / threads, threads>>>(memory[device], device + 1);
        }
    size_t wrong = 0;
    for (int device = 0; device < 2; device++) {
        CHECK(hipSetDevice(device));
        CHECK(hipDeviceSynchronize());
        wrong += differing(memory[device], 2 * (device + 1));
    }
    CHECK(hipMemcpy(memory[0], memory[1], items * sizeof(int), hipMemcpyDeviceToDevice));
    for (int device = 0; device < 2; device++) {
        CHECK(hipSetDevice(device));
        add<<<items / threads, threads>>>(memory[device], 10);
        CHECK(hipDeviceSynchronize());
        wrong += differing(memory[device], 14);
    }
    return wrong;
}

static std::atomic<int> called;

// Host work between the kernels of a stream. 4 dispatches.
static size_t callbacks()
{
    int *p = zeros();
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    size_t wrong = 0;
    for (int i = 0; i < 2; i++) {
        add<<<items / threads, threads, 0, stream>>>(p, 1);
        CHECK(hipStreamAddCallback(
            stream, [](hipStream_t, hipError_t status, void *) { called += status == hipSuccess ? 1 : 100; },
            nullptr, 0));
        twice<<<items / threads, threads, 0, stream>>>(p);
        CHECK(hipStreamAddCallback(
            stream,
            [](hipStream_t, hipError_t status, void *) { called += status == hipSuccess ? 10 : 1000; },
            nullptr, 0));
        CHECK(hipStreamSynchronize(stream));
        // A callback belongs to the stream: when the stream is done, so is the callback.
        wrong += called != 11 * (i + 1);
    }
    return wrong + differing(p, 6);
}

int main(int argc, char **argv)
{
    const mode modes[] = {
        {"events", events},           {"elapsed", elapsed},   {"many", many},
        {"two_threads", two_threads}, {"two_gpus", two_gpus}, {"callbacks", callbacks},
    };
    return run_mode(modes, argc, argv);
}
