// SPDX-License-Identifier: MIT
// Matrix-vector products with float4 and double2 loads, a wave for each row, sums in a fixed tree; exact
// against the same tree on the host.
#include "check.hpp"

constexpr int ROWS = 37, COLUMNS = 256;

template <typename T, typename V, int per> __global__ void multiply(const V *a, const V *x, T *y)
{
    const int row = blockIdx.x, lane = threadIdx.x;
    T sum = 0;
    for (int c = lane; c < COLUMNS / per; c += 64) {
        const V p = a[row * (COLUMNS / per) + c], q = x[c];
        const T *pp = (const T *)&p, *qq = (const T *)&q;
        for (int e = 0; e < per; e++)
            sum = fma(pp[e], qq[e], sum);
    }
    for (int step = 32; step; step /= 2)
        sum += __shfl_xor(sum, step);
    if (lane == 0)
        y[row] = sum;
}

template <typename T, typename V, int per> static size_t run()
{
    random_source random;
    std::vector<T> a(ROWS * COLUMNS), x(COLUMNS), want(ROWS);
    for (T &v : a)
        v = (T)random.between(-1, 1);
    for (T &v : x)
        v = (T)random.between(-1, 1);
    for (int row = 0; row < ROWS; row++) {
        T lane[64], next[64];
        for (int l = 0; l < 64; l++) {
            lane[l] = 0;
            for (int c = l; c < COLUMNS / per; c += 64)
                for (int e = 0; e < per; e++)
                    lane[l] = std::fma(a[row * COLUMNS + c * per + e], x[c * per + e], lane[l]);
        }
        for (int step = 32; step; step /= 2) {
            for (int l = 0; l < 64; l++)
                next[l] = lane[l] + lane[l ^ step];
            std::memcpy(lane, next, sizeof(lane));
        }
        want[row] = lane[0];
    }
    gpu_array<T> da(a), dx(x), y(ROWS);
    multiply<T, V, per><<<ROWS, 64>>>((const V *)(T *)da, (const V *)(T *)dx, y);
    return count_unequal(y.host(), want);
}

int main()
{
    return report("matvec", run<float, float4, 4>() + run<double, double2, 2>());
}
