// SPDX-License-Identifier: MIT
// Atomic additions, minima and maxima of f32 and f64 in global memory and LDS, by compare-and-swap and by the
// hardware's instructions. Values are small integers, so that sums are exact in any order.
#include "check.hpp"

constexpr int N = 3000, CELLS = 7;

struct sums {
    float f[CELLS], g[CELLS], low[CELLS];
    double d[CELLS], e[CELLS], high[CELLS];
};

template <typename T> __device__ void keep(T *cell, T v, bool smaller)
{
    // One word compared and swapped until nobody interferes.
    using word = typename std::conditional<sizeof(T) == 4, unsigned, unsigned long long>::type;
    word *p = (word *)cell, old = *p;
    for (;;) {
        T now;
        __builtin_memcpy(&now, &old, sizeof(T));
        if (smaller ? now <= v : now >= v)
            return;
        word wanted;
        __builtin_memcpy(&wanted, &v, sizeof(T));
        const word seen = atomicCAS(p, old, wanted);
        if (seen == old)
            return;
        old = seen;
    }
}

__global__ void in_global(const int *data, sums *s, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int c = i % CELLS;
    atomicAdd(&s->f[c], (float)data[i]);
    unsafeAtomicAdd(&s->g[c], (float)data[i]);
    atomicAdd(&s->d[c], (double)data[i]);
    unsafeAtomicAdd(&s->e[c], (double)data[i]);
    keep(&s->low[c], (float)data[i], true);
    keep(&s->high[c], (double)data[i], false);
}

__global__ void in_lds(const int *data, sums *out, int n)
{
    __shared__ sums s;
    for (int i = threadIdx.x; i < (int)(sizeof(s) / 4); i += blockDim.x)
        ((unsigned *)&s)[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int c = i % CELLS;
        atomicAdd(&s.f[c], (float)data[i]);
        unsafeAtomicAdd(&s.g[c], (float)data[i]);
        atomicAdd(&s.d[c], (double)data[i]);
        unsafeAtomicAdd(&s.e[c], (double)data[i]);
        keep(&s.low[c], (float)data[i], true);
        keep(&s.high[c], (double)data[i], false);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (int)(sizeof(s) / 4); i += blockDim.x)
        ((unsigned *)out)[i] = ((unsigned *)&s)[i];
}

int main()
{
    random_source random;
    std::vector<int> data(N);
    std::vector<sums> want(1);
    std::memset(want.data(), 0, sizeof(sums));
    for (int i = 0; i < N; i++) {
        data[i] = (int)random.below(2001) - 1000;
        const int c = i % CELLS;
        want[0].f[c] = want[0].g[c] += (float)data[i];
        want[0].d[c] = want[0].e[c] += data[i];
        want[0].low[c] = fminf(want[0].low[c], (float)data[i]);
        want[0].high[c] = fmax(want[0].high[c], data[i]);
    }
    gpu_array<int> in(data);
    gpu_array<sums> global(1), lds(1);
    in_global<<<(N + 255) / 256, 256>>>(in, global, N);
    in_lds<<<1, 256>>>(in, lds, N);
    const auto a = global.host(), b = lds.host();
    size_t wrong = 0;
    for (const sums *s : {&a[0], &b[0]})
        for (int c = 0; c < CELLS; c++) {
            wrong += s->f[c] != want[0].f[c];
            wrong += s->g[c] != want[0].g[c];
            wrong += s->d[c] != want[0].d[c];
            wrong += s->e[c] != want[0].e[c];
            wrong += s->low[c] != want[0].low[c];
            wrong += s->high[c] != want[0].high[c];
        }
    return report("float_atomics", wrong);
}
