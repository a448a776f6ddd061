// SPDX-License-Identifier: MIT
// Matrix products of f32, f64, f16 and integers: naive, and tiled with register blocks. The elements are
// small integers, so that every sum is exact in any order.
#include "check.hpp"

#include <hip/hip_fp16.h>

constexpr int M = 50, N = 66, K = 35, TILE = 16;

template <typename T, typename S> __global__ void naive(const T *a, const T *b, S *c)
{
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= N || y >= M)
        return;
    S sum = (S)0;
    for (int k = 0; k < K; k++)
        sum += (S)a[y * K + k] * (S)b[k * N + x];
    c[y * N + x] = sum;
}

// Each work-item computes 2 x 2 elements.
template <typename T, typename S> __global__ void tiled(const T *a, const T *b, S *c)
{
    __shared__ S left[2 * TILE][TILE], right[TILE][2 * TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 2 * TILE, y0 = blockIdx.y * 2 * TILE;
    S sum[2][2] = {{(S)0, (S)0}, {(S)0, (S)0}};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        __syncthreads();
        for (int h = 0; h < 2; h++) {
            const int y = y0 + ty + h * TILE, x = x0 + tx + h * TILE;
            left[ty + h * TILE][tx] = y < M && k0 + tx < K ? (S)a[y * K + k0 + tx] : (S)0;
            right[ty][tx + h * TILE] = x < N && k0 + ty < K ? (S)b[(k0 + ty) * N + x] : (S)0;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    sum[i][j] += left[ty + i * TILE][k] * right[k][tx + j * TILE];
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int y = y0 + ty + i * TILE, x = x0 + tx + j * TILE;
            if (x < N && y < M)
                c[y * N + x] = sum[i][j];
        }
}

template <typename T, typename S> static size_t run()
{
    random_source random;
    std::vector<T> a(M * K), b(K * N);
    for (T &v : a)
        v = (T)(float)((int)random.below(7) - 3);
    for (T &v : b)
        v = (T)(float)((int)random.below(7) - 3);
    gpu_array<T> da(a), db(b);
    gpu_array<S> one(M * N), two(M * N);
    naive<T, S><<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(da, db, one);
    tiled<T, S><<<dim3((N + 31) / 32, (M + 31) / 32), dim3(TILE, TILE)>>>(da, db, two);
    const auto x = one.host(), y = two.host();
    size_t wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < K; k++)
                sum += (int)(float)a[i * K + k] * (int)(float)b[k * N + j];
            wrong += (int)(float)x[i * N + j] != sum;
            wrong += (int)(float)y[i * N + j] != sum;
        }
    return wrong;
}

int main()
{
    return report("matmul", run<float, float>() + run<double, double>() + run<_Float16, _Float16>() +
                                run<_Float16, float>() + run<signed char, int>() + run<short, int>());
}
