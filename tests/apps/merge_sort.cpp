// SPDX-License-Identifier: MIT
// Merge sort of 16-bit integers: each work-item finds its place in the other run by binary search.
#include "check.hpp"

#include <algorithm>

constexpr int N = 8192;

__global__ void merge(const short *from, short *to, int run)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int pair = i / (2 * run) * (2 * run);
    const bool left = i - pair < run;
    const short *other = from + pair + (left ? run : 0);
    const short v = from[i];
    int low = 0, high = run;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (left ? other[middle] < v : other[middle] <= v)
            low = middle + 1;
        else
            high = middle;
    }
    to[pair + (i - pair) % run + low] = v;
}

int main()
{
    random_source random;
    std::vector<short> v(N);
    for (short &x : v)
        x = (short)random.bits();
    gpu_array<short> a(v), b((size_t)N);
    short *from = a, *to = b;
    for (int run = 1; run < N; run *= 2) {
        merge<<<N / 256, 256>>>(from, to, run);
        std::swap(from, to);
    }
    std::vector<short> got(N);
    CHECK(hipMemcpy(got.data(), from, N * sizeof(short), hipMemcpyDeviceToHost));
    std::sort(v.begin(), v.end());
    return report("merge_sort", count_unequal(got, v));
}
