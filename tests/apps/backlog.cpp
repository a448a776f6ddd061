// SPDX-License-Identifier: MIT
// Many dispatches that nobody waits for, from several threads into four streams: all must run, in order within each
// stream, and the process must not grow with their number. Usage: backlog THREADS DISPATCHES
#include "check.hpp"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

constexpr int streams = 4;

// Order within a stream shows: the value is a function of the sequence. One work-item, so that the rest is cost.
__global__ void step(unsigned *p, unsigned n)
{
    *p = *p * 1664525u + n;
}

__global__ void count(unsigned *p)
{
    atomicAdd(p, 1u);
}

static long peak_kib()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    long kib = 0;
    while (status >> word)
        if (word == "VmHWM:")
            status >> kib;
    return kib;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1, dispatches = argc > 2 ? std::atoi(argv[2]) : 1000;
    unsigned *memory;
    hipStream_t stream[streams];
    CHECK(hipMalloc(&memory, streams * 64));
    CHECK(hipMemset(memory, 0, streams * 64));
    for (hipStream_t &s : stream)
        CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    CHECK(hipDeviceSynchronize());
    count<<<1, 1>>>(memory + 1); // everything is set up before memory is looked at
    CHECK(hipDeviceSynchronize());
    const long before = peak_kib();

    std::vector<std::thread> workers;
    for (int t = 0; t < threads; t++)
        workers.emplace_back([=] {
            for (int i = t; i < dispatches; i += threads) {
                const int s = i % streams;
                if (threads == 1)
                    step<<<1, 1, 0, stream[s]>>>(memory + 16 * s, (unsigned)i);
                else
                    count<<<1, 1, 0, stream[s]>>>(memory + 16 * s);
                CHECK(hipGetLastError());
            }
        });
    for (std::thread &worker : workers)
        worker.join();
    CHECK(hipDeviceSynchronize());

    size_t wrong = 0;
    for (int s = 0; s < streams; s++) {
        unsigned value = 0, expected = 0;
        CHECK(hipMemcpy(&value, memory + 16 * s, sizeof(value), hipMemcpyDeviceToHost));
        for (int i = s; i < dispatches; i += streams)
            expected = threads == 1 ? expected * 1664525u + (unsigned)i : expected + 1;
        wrong += value != expected;
    }
    std::printf("grown by %ld KiB\n", peak_kib() - before);
    return report("backlog", wrong);
}
