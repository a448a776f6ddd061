// SPDX-License-Identifier: MIT
// Least-significant-digit radix sort of 64-bit keys with 32-bit values, one bit a pass, stable: ballots rank
// the items of a wave, one group of 1024 work-items sorts.
#include "check.hpp"

constexpr int N = 1024, WAVES = N / 64;

__global__ void __launch_bounds__(N) sort(unsigned long long *keys, unsigned *values, int bits)
{
    __shared__ unsigned long long key[N];
    __shared__ unsigned value[N], zeros[WAVES];
    const int t = threadIdx.x, lane = t & 63, wave = t / 64;
    key[t] = keys[t];
    value[t] = values[t];
    for (int bit = 0; bit < bits; bit++) {
        __syncthreads();
        const unsigned long long k = key[t];
        const unsigned v = value[t];
        const bool one = k >> bit & 1;
        const unsigned long long ones = __ballot(one), below = (1ull << lane) - 1;
        if (lane == 0)
            zeros[wave] = 64 - __popcll(ones);
        __syncthreads();
        unsigned zeros_before = 0, zeros_all = 0;
        for (int w = 0; w < WAVES; w++) {
            zeros_before += w < wave ? zeros[w] : 0;
            zeros_all += zeros[w];
        }
        const unsigned ones_before = wave * 64 - zeros_before;
        const unsigned to =
            one ? zeros_all + ones_before + __popcll(ones & below) : zeros_before + __popcll(~ones & below);
        key[to] = k;
        value[to] = v;
    }
    __syncthreads();
    keys[t] = key[t];
    values[t] = value[t];
}

int main()
{
    random_source random;
    std::vector<unsigned long long> keys(N);
    std::vector<unsigned> values(N);
    for (int i = 0; i < N; i++) {
        keys[i] = random.bits64() >> 44; // with some equal ones
        values[i] = i;
    }
    gpu_array<unsigned long long> device_keys(keys);
    gpu_array<unsigned> device_values(values);
    sort<<<1, N>>>(device_keys, device_values, 20);
    const auto sorted = device_keys.host();
    const auto order = device_values.host();
    std::vector<unsigned> seen(N);
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        seen[order[i] % N]++;
        wrong += sorted[i] != keys[order[i] % N];
        if (i)
            wrong += sorted[i] < sorted[i - 1] || (sorted[i] == sorted[i - 1] && order[i] < order[i - 1]);
    }
    return report("radix_sort", wrong + count_unequal(seen, std::vector<unsigned>(N, 1)));
}
