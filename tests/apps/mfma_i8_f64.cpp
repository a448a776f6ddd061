// SPDX-License-Identifier: MIT
// Matrix products by MFMA of 8-bit integers (with wrap-around accumulation) and of f64.
#include "check.hpp"

typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i16v __attribute__((ext_vector_type(16)));
typedef int i32v __attribute__((ext_vector_type(32)));
typedef double d4 __attribute__((ext_vector_type(4)));

template <int size, int k, int blocks, typename accumulator, typename run_type>
__device__ void product(const signed char *a, const signed char *b, int *d, run_type run)
{
    const int lane = threadIdx.x, i = lane % size, step = lane / size;
    const int block = step % blocks, k0 = step / blocks * 4;
    int av = 0, bv = 0;
    for (int e = 3; e >= 0; e--) {
        av = av << 8 | (unsigned char)a[(block * size + i) * k + k0 + e];
        bv = bv << 8 | (unsigned char)b[(block * k + k0 + e) * size + i];
    }
    accumulator c;
    const int registers = size * size * blocks / 64;
    for (int r = 0; r < registers; r++)
        c[r] = 0x7ffffff0;
    c = run(av, bv, c);
    const int across = size == 4 ? 1 : 64 / size;
    for (int r = 0; r < registers; r++) {
        const int in_block = size == 4 ? r : r % (size * size / 64);
        const int out_block = size == 4 ? lane / 4 : r / (size * size / 64);
        const int row = in_block % 4 + 4 * ((lane / size) % across) + 4 * across * (in_block / 4);
        d[(out_block * size + row) * size + lane % size] = c[r];
    }
}

#define SHAPES(X)                                                                                            \
    X(i32_32x32x4, mfma_i32_32x32x4i8, 32, 4, 2, i32v)                                                       \
    X(i32_16x16x4, mfma_i32_16x16x4i8, 16, 4, 4, i16v)                                                       \
    X(i32_4x4x4, mfma_i32_4x4x4i8, 4, 4, 16, i4)                                                             \
    X(i32_32x32x8, mfma_i32_32x32x8i8, 32, 8, 1, i16v)                                                       \
    X(i32_16x16x16, mfma_i32_16x16x16i8, 16, 16, 1, i4)
#define KERNEL(name, builtin, size, k, blocks, acc)                                                          \
    __global__ void name(const signed char *a, const signed char *b, int *d)                                 \
    {                                                                                                        \
        product<size, k, blocks, acc>(                                                                       \
            a, b, d, [](int x, int y, acc c) { return __builtin_amdgcn_##builtin(x, y, c, 0, 0, 0); });      \
    }
SHAPES(KERNEL)

static size_t check(void (*kernel)(const signed char *, const signed char *, int *), int size, int k,
                    int blocks)
{
    random_source random(size + k);
    std::vector<signed char> a(blocks * size * k), b(a.size());
    std::vector<int> expected(blocks * size * size);
    for (auto &v : a)
        v = (signed char)random.bits();
    for (auto &v : b)
        v = (signed char)random.bits();
    for (int n = 0; n < blocks; n++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                unsigned sum = 0x7ffffff0;
                for (int e = 0; e < k; e++)
                    sum += (unsigned)(a[(n * size + i) * k + e] * b[(n * k + e) * size + j]);
                expected[(n * size + i) * size + j] = (int)sum;
            }
    gpu_array<signed char> da(a), db(b);
    gpu_array<int> dd(expected.size());
    kernel<<<1, 64>>>(da, db, dd);
    return count_unequal(dd.host(), expected);
}

// 16x16x4: A[i][k] in lane i + 16 k; D[i][j] in lane j + 16 (i % 4), register i / 4.
__global__ void f64_16x16x4(const double *a, const double *b, double *d)
{
    const int lane = threadIdx.x, i = lane % 16, k = lane / 16;
    d4 c = {0.5, 0.5, 0.5, 0.5};
    c = __builtin_amdgcn_mfma_f64_16x16x4f64(a[i * 4 + k], b[k * 16 + i], c, 0, 0, 0);
    for (int r = 0; r < 4; r++)
        d[(4 * r + k) * 16 + i] = c[r];
}

// Four blocks of 4x4x4: A[i][k] of block n in lane i + 4 n + 16 k; D[i][j] in lane j + 4 n + 16 i.
__global__ void f64_4x4x4(const double *a, const double *b, double *d)
{
    const int lane = threadIdx.x, i = lane % 4, n = lane / 4 % 4, k = lane / 16;
    d[n * 16 + k * 4 + i] =
        __builtin_amdgcn_mfma_f64_4x4x4f64(a[n * 16 + i * 4 + k], b[n * 16 + k * 4 + i], 0.5, 0, 0, 0);
}

static size_t check_f64(void (*kernel)(const double *, const double *, double *), int size, int blocks)
{
    random_source random(size);
    std::vector<double> a(blocks * size * 4), b(a.size()), expected(blocks * size * size, 0.5);
    for (auto &v : a)
        v = (double)(int)random.bits() * 0x1p-20;
    for (auto &v : b)
        v = (double)((int)random.below(2001) - 1000);
    for (int n = 0; n < blocks; n++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                for (int e = 0; e < 4; e++)
                    expected[(n * size + i) * size + j] +=
                        a[(n * size + i) * 4 + e] * b[(n * 4 + e) * size + j];
    gpu_array<double> da(a), db(b), dd(expected.size());
    kernel<<<1, 64>>>(da, db, dd);
    return count_unequal(dd.host(), expected);
}

int main()
{
    size_t wrong = check_f64(f64_16x16x4, 16, 1) + check_f64(f64_4x4x4, 4, 4);
#define CHECK_SHAPE(name, builtin, size, k, blocks, acc) wrong += check(name, size, k, blocks);
    SHAPES(CHECK_SHAPE)
    return report("mfma_i8_f64", wrong);
}
