// SPDX-License-Identifier: MIT
// A diamond of work on four streams ordered by events: copies in, three branches, a join, the copy out.
#include "check.hpp"

constexpr int N = 2048;

__global__ void affine(const unsigned *in, unsigned *out, unsigned factor, unsigned offset)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * factor + offset;
}

__global__ void join(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (a[i] ^ b[i]) + c[i];
}

int main()
{
    unsigned *in, *out;
    CHECK(hipHostMalloc(&in, N * sizeof(unsigned), 0));
    CHECK(hipHostMalloc(&out, N * sizeof(unsigned), 0));
    hipStream_t stream[4];
    hipEvent_t start, done[3], stop;
    for (hipStream_t &s : stream)
        CHECK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    for (hipEvent_t &e : done)
        CHECK(hipEventCreateWithFlags(&e, hipEventDisableTiming));
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&stop));
    gpu_array<unsigned> source(N), sink(N), a(N), b(N), c(N);
    CHECK(hipDeviceSynchronize()); // hipMemset returns early, and these streams do not wait for it
    unsigned *branch[3] = {a, b, c};
    size_t wrong = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++)
            in[i] = i * 2654435761u + round;
        CHECK(hipMemcpyAsync(source, in, N * sizeof(unsigned), hipMemcpyHostToDevice, stream[0]));
        CHECK(hipEventRecord(start, stream[0]));
        for (int s = 0; s < 3; s++) {
            CHECK(hipStreamWaitEvent(stream[s + 1], start, 0));
            affine<<<N / 256, 256, 0, stream[s + 1]>>>(source, branch[s], 2 * s + 3, round);
            CHECK(hipEventRecord(done[s], stream[s + 1]));
            CHECK(hipStreamWaitEvent(stream[0], done[s], 0));
        }
        join<<<N / 256, 256, 0, stream[0]>>>(a, b, c, sink);
        CHECK(hipMemcpyAsync(out, sink, N * sizeof(unsigned), hipMemcpyDeviceToHost, stream[0]));
        CHECK(hipEventRecord(stop, stream[0]));
        CHECK(hipEventSynchronize(stop));
        float ms = -1;
        CHECK(hipEventElapsedTime(&ms, start, stop));
        wrong += !(ms >= 0);
        for (int i = 0; i < N; i++)
            wrong += out[i] != ((in[i] * 3 + round) ^ (in[i] * 5 + round)) + in[i] * 7 + round;
    }
    for (hipStream_t s : stream)
        CHECK(hipStreamDestroy(s));
    return report("multi_stream", wrong);
}
