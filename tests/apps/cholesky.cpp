// SPDX-License-Identifier: MIT
// Cholesky and LU factors of 32 small f64 and f32 matrices, one group each, exact: both sides take the same
// correctly rounded operations in the same order.
#include "check.hpp"

constexpr int BATCH = 32, N = 12;

template <typename T> __host__ __device__ T update(T a, T b, T c)
{
#pragma clang fp contract(off)
    return a - b * c;
}

// In place, by columns; `t` of `n` work-items does every n-th row.
template <typename T> __host__ __device__ void cholesky_column(T *a, int k, int t, int n)
{
    for (int i = k + 1 + t; i < N; i += n)
        a[i * N + k] = a[i * N + k] / a[k * N + k];
}

template <typename T> __host__ __device__ void trailing(T *a, int k, int t, int n)
{
    for (int i = k + 1 + t; i < N; i += n)
        for (int j = k + 1; j <= i; j++)
            a[i * N + j] = update(a[i * N + j], a[i * N + k], a[j * N + k]);
}

template <typename T> __host__ __device__ void lu_row(T *a, int k, int t, int n)
{
    for (int i = k + 1 + t; i < N; i += n) {
        const T factor = a[i * N + k] = a[i * N + k] / a[k * N + k];
        for (int j = k + 1; j < N; j++)
            a[i * N + j] = update(a[i * N + j], factor, a[k * N + j]);
    }
}

template <typename T> __global__ void factor(T *matrices, T *lu)
{
    __shared__ T a[N * N], b[N * N];
    const int t = threadIdx.x;
    for (int i = t; i < N * N; i += blockDim.x)
        a[i] = b[i] = matrices[blockIdx.x * N * N + i];
    for (int k = 0; k < N; k++) {
        __syncthreads();
        if (t == 0)
            a[k * N + k] = sqrt(a[k * N + k]);
        __syncthreads();
        cholesky_column(a, k, t, blockDim.x);
        lu_row(b, k, t, blockDim.x);
        __syncthreads();
        trailing(a, k, t, blockDim.x);
    }
    __syncthreads();
    for (int i = t; i < N * N; i += blockDim.x) {
        matrices[blockIdx.x * N * N + i] = a[i];
        lu[blockIdx.x * N * N + i] = b[i];
    }
}

template <typename T> static size_t run()
{
    random_source random;
    std::vector<T> a(BATCH * N * N), b;
    for (int m = 0; m < BATCH; m++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++)
                a[(m * N + i) * N + j] = a[(m * N + j) * N + i] =
                    i == j ? (T)(N + random.unit()) : (T)random.between(-1, 1);
    b = a;
    gpu_array<T> in(a), lu(a.size());
    factor<T><<<BATCH, 16>>>(in, lu);
    for (int m = 0; m < BATCH; m++)
        for (int k = 0; k < N; k++) {
            T *chol = &a[m * N * N], *plain = &b[m * N * N];
            chol[k * N + k] = std::sqrt(chol[k * N + k]);
            cholesky_column(chol, k, 0, 1);
            trailing(chol, k, 0, 1);
            lu_row(plain, k, 0, 1);
        }
    return count_unequal(in.host(), a) + count_unequal(lu.host(), b);
}

int main()
{
    return report("cholesky", run<double>() + run<float>());
}
