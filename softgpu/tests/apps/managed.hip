// SPDX-License-Identifier: MIT
// Managed memory, memory of a stream's order, and what the runtime says of them.
#include "check.h"

__managed__ int counter = 5;

__global__ void touch(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * 2 + 1;
    if (i == 0)
        counter += 10;
}

int main()
{
    const int n = 3000;
    int *p;
    HIP(hipMallocManaged(&p, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        p[i] = i;
    for (int round = 0; round < 3; round++) {
        touch<<<(n + 255) / 256, 256>>>(p, n);
        HIP(hipDeviceSynchronize());
        for (int i = 0; i < n; i++) {
            EXPECT(p[i] == (round == 0 ? 2 * i + 1 : round == 1 ? 4 * i + 3 : 8 * i + 7));
        }
        EXPECT(counter == 15 + 10 * round);
    }
    HIP(hipFree(p));

    int pools = 0;
    HIP(hipDeviceGetAttribute(&pools, hipDeviceAttributeMemoryPoolsSupported, 0));
    std::printf("memory pools: %d\n", pools);
    if (pools) {
        hipStream_t stream;
        HIP(hipStreamCreate(&stream));
        int first = 0, back = 0;
        for (int round = 0; round < 20; round++) {
            int *q;
            HIP(hipMallocAsync((void **)&q, n * sizeof(int), stream));
            first = round;
            HIP(hipMemcpyAsync(q, &first, sizeof(int), hipMemcpyHostToDevice, stream));
            touch<<<(n + 255) / 256, 256, 0, stream>>>(q, n);
            HIP(hipMemcpyAsync(&back, q, sizeof(int), hipMemcpyDeviceToHost, stream));
            HIP(hipFreeAsync(q, stream));
            HIP(hipStreamSynchronize(stream));
            EXPECT(back == 2 * round + 1);
        }
        // The stream is not destroyed: HIP 5.2.3 was seen to loop for ever in that call once pools were used.
    }
    std::puts("managed: all right");
    return 0;
}
