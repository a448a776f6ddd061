// SPDX-License-Identifier: MIT
// Streams of every priority and with masks of compute units: accepted, and the results are those of other streams.
#include "check.h"

__global__ void count(int *p)
{
    atomicAdd(p, 1);
}

static void use(hipStream_t stream)
{
    int *sum, back = 0;
    HIP(hipMalloc(&sum, sizeof(int)));
    HIP(hipMemsetAsync(sum, 0, sizeof(int), stream));
    count<<<20, 64, 0, stream>>>(sum);
    HIP(hipMemcpyAsync(&back, sum, sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    EXPECT(back == 20 * 64);
    HIP(hipFree(sum));
    HIP(hipStreamDestroy(stream));
}

int main()
{
    int least, greatest;
    hipStream_t stream;
    HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest < least);
    for (int priority = greatest; priority <= least; priority++) {
        HIP(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, priority));
        int got;
        HIP(hipStreamGetPriority(stream, &got));
        EXPECT(got == priority);
        use(stream);
    }
    for (uint32_t mask = 1; mask <= 0x80; mask <<= 1) {
        HIP(hipExtStreamCreateWithCUMask(&stream, 1, &mask));
        use(stream);
    }
    std::printf("queue settings: all right\n");
    return 0;
}
