// SPDX-License-Identifier: MIT
// A 64x64x64 product of f16 matrices, one wave for each 32x32 tile, f32 sums in accumulation registers; and
// the same in f64. Elements are multiples of 1/8 below 4 in magnitude, so that all sums are exact.
#include "check.hpp"

typedef float f16v __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));

constexpr int N = 64;

__global__ void product_f16(const _Float16 *a, const _Float16 *b, float *c)
{
    const int lane = threadIdx.x, i = lane % 32, k0 = lane / 32 * 4;
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    f16v sum = {0};
    for (int k = 0; k < N; k += 8) {
        h4 x, y;
        for (int e = 0; e < 4; e++) {
            x[e] = a[(row0 + i) * N + k + k0 + e];
            y[e] = b[(k + k0 + e) * N + column0 + i];
        }
        sum = __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, sum, 0, 0, 0);
    }
    for (int r = 0; r < 16; r++)
        c[(row0 + r % 4 + 4 * (lane / 32) + 8 * (r / 4)) * N + column0 + i] = sum[r];
}

__global__ void product_f64(const _Float16 *a, const _Float16 *b, double *c)
{
    const int lane = threadIdx.x, i = lane % 16, k0 = lane / 16;
    const int row0 = blockIdx.y * 16, column0 = blockIdx.x * 16;
    d4 sum = {0};
    for (int k = 0; k < N; k += 4)
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64((double)a[(row0 + i) * N + k + k0],
                                                   (double)b[(k + k0) * N + column0 + i], sum, 0, 0, 0);
    for (int r = 0; r < 4; r++)
        c[(row0 + 4 * r + k0) * N + column0 + i] = sum[r];
}

int main()
{
    random_source random;
    std::vector<_Float16> a(N * N), b(N * N);
    for (auto &v : a)
        v = (_Float16)((float)((int)random.below(63) - 31) / 8);
    for (auto &v : b)
        v = (_Float16)((float)((int)random.below(63) - 31) / 8);
    std::vector<float> expected(N * N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                expected[i * N + j] += (float)a[i * N + k] * (float)b[k * N + j];
    gpu_array<_Float16> da(a), db(b);
    gpu_array<float> c32(N * N);
    gpu_array<double> c64(N * N);
    product_f16<<<dim3(2, 2), 64>>>(da, db, c32);
    product_f64<<<dim3(4, 4), 64>>>(da, db, c64);
    return report("mfma_matmul",
                  count_unequal(c32.host(), expected) +
                      count_unequal(c64.host(), std::vector<double>(expected.begin(), expected.end())));
}
