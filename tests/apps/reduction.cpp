// SPDX-License-Identifier: MIT
// Sums, minima and maxima of 32-bit, 64-bit and f64 arrays: tree in LDS, shuffles in the wave, one atomic for
// each group.
#include "check.hpp"

#include <algorithm>

constexpr int N = 10007;

template <typename T> __global__ void sum_lds(const T *in, T *out, int n)
{
    __shared__ T tile[256];
    T v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)
        v += in[i];
    tile[threadIdx.x] = v;
    for (int half = 128; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(out, tile[0]);
}

__global__ void extremes(const int *in, int *low, int *high, unsigned *low_u, unsigned *high_u, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int least = i < n ? in[i] : 0x7fffffff, most = i < n ? in[i] : -0x7fffffff - 1;
    unsigned least_u = i < n ? (unsigned)in[i] : ~0u, most_u = i < n ? (unsigned)in[i] : 0;
    for (int mask = 32; mask; mask /= 2) {
        least = min(least, __shfl_xor(least, mask));
        most = max(most, __shfl_xor(most, mask));
        least_u = min(least_u, __shfl_xor(least_u, mask));
        most_u = max(most_u, __shfl_xor(most_u, mask));
    }
    if ((threadIdx.x & 63) == 0) {
        atomicMin(low, least);
        atomicMax(high, most);
        atomicMin(low_u, least_u);
        atomicMax(high_u, most_u);
    }
}

int main()
{
    random_source random;
    std::vector<unsigned> u(N);
    std::vector<unsigned long long> ull(N);
    std::vector<double> d(N);
    std::vector<int> s(N);
    unsigned u_sum = 0;
    unsigned long long ull_sum = 0;
    double d_sum = 0;
    for (int i = 0; i < N; i++) {
        u_sum += u[i] = random.bits();
        ull_sum += ull[i] = random.bits64();
        d_sum += d[i] = (double)(int)random.bits(); // sums of integers below 2^53 are exact in any order
        s[i] = (int)random.bits();
    }
    gpu_array<unsigned> u_in(u), u_out(1), low_u(std::vector<unsigned>{~0u}), high_u(1);
    gpu_array<unsigned long long> ull_in(ull), ull_out(1);
    gpu_array<double> d_in(d), d_out(1);
    gpu_array<int> s_in(s), low(std::vector<int>{0x7fffffff}), high(std::vector<int>{-0x7fffffff - 1});
    sum_lds<<<8, 256>>>((const unsigned *)u_in, (unsigned *)u_out, N);
    sum_lds<<<8, 256>>>((const unsigned long long *)ull_in, (unsigned long long *)ull_out, N);
    sum_lds<<<8, 256>>>((const double *)d_in, (double *)d_out, N);
    extremes<<<(N + 255) / 256, 256>>>(s_in, low, high, low_u, high_u, N);
    size_t wrong = u_out.host()[0] != u_sum;
    wrong += ull_out.host()[0] != ull_sum;
    wrong += d_out.host()[0] != d_sum;
    wrong += low.host()[0] != *std::min_element(s.begin(), s.end());
    wrong += high.host()[0] != *std::max_element(s.begin(), s.end());
    const auto below = [](int a, int b) { return (unsigned)a < (unsigned)b; };
    wrong += low_u.host()[0] != (unsigned)*std::min_element(s.begin(), s.end(), below);
    wrong += high_u.host()[0] != (unsigned)*std::max_element(s.begin(), s.end(), below);
    return report("reduction", wrong);
}
