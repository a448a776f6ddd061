// SPDX-License-Identifier: MIT
// Managed and pinned host memory: kernels and the host take turns on the same addresses.
#include "check.hpp"

constexpr int N = 1000;
__managed__ int counter = 5;

__global__ void add(int *v, int n, int what)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] += what;
    if (i == 0)
        counter += what;
}

int main()
{
    int *managed, *pinned, *mapped;
    CHECK(hipMallocManaged(&managed, N * sizeof(int)));
    CHECK(hipHostMalloc(&pinned, N * sizeof(int), hipHostMallocMapped));
    CHECK(hipHostGetDevicePointer((void **)&mapped, pinned, 0));
    for (int i = 0; i < N; i++)
        managed[i] = pinned[i] = i;
    size_t wrong = 0;
    for (int round = 1; round <= 3; round++) {
        add<<<(N + 127) / 128, 128>>>(managed, N, round);
        add<<<(N + 127) / 128, 128>>>(mapped, N, 10 * round);
        CHECK(hipDeviceSynchronize());
        for (int i = 0; i < N; i++) {
            wrong += managed[i] != i + round * (round + 1) / 2;
            wrong += pinned[i] != i + 10 * round * (round + 1) / 2;
        }
    }
    wrong += counter != 5 + 6 + 60;
    CHECK(hipFree(managed));
    CHECK(hipHostFree(pinned));
    return report("managed_memory", wrong);
}
