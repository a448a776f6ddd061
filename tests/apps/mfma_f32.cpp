// SPDX-License-Identifier: MIT
// Matrix products by MFMA of f16, bf16 and f32 with f32 accumulation. Elements are small integers, so sums
// are exact. Layout: A[i][k] is in lane i + M * (k / per), element k % per; D[i][j] in lane j + N * (i / 4 %
// (64 / N)), register i % 4 + 4 * (i / (4 * (64 / N))). Source: "AMD matrix cores" and the "AMD Instinct
// MI200" ISA reference.
#include "check.hpp"

typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef float f32v __attribute__((ext_vector_type(32)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s2 __attribute__((ext_vector_type(2)));

__device__ short bf16(float f)
{
    return (short)(__float_as_uint(f) >> 16); // small integers have no lower bits
}

// One shape: `size` x `size` x `k`, `blocks` of them; A is blocks x size x k, B blocks x k x size.
template <int size, int k, int blocks, int per, typename accumulator, typename run_type>
__device__ void product(const float *a, const float *b, float *d, run_type run)
{
    const int lane = threadIdx.x, i = lane % size, step = lane / size;
    const int block = step % blocks, k0 = step / blocks * per;
    float av[per], bv[per];
    for (int e = 0; e < per; e++) {
        av[e] = a[(block * size + i) * k + k0 + e];
        bv[e] = b[(block * k + k0 + e) * size + i];
    }
    accumulator c;
    const int registers = size * size * blocks / 64;
    for (int r = 0; r < registers; r++)
        c[r] = 1.0f;
    c = run(av, bv, c);
    const int across = size == 4 ? 1 : 64 / size; // lanes of one column
    for (int r = 0; r < registers; r++) {
        const int in_block = size == 4 ? r : r % (size * size / 64);
        const int out_block = size == 4 ? lane / 4 : r / (size * size / 64);
        const int row = in_block % 4 + 4 * ((lane / size) % across) + 4 * across * (in_block / 4);
        d[(out_block * size + row) * size + lane % size] = c[r];
    }
}

#define F32(name, builtin, size, k, blocks, acc)                                                             \
    __global__ void name(const float *a, const float *b, float *d)                                           \
    {                                                                                                        \
        product<size, k, blocks, 1, acc>(a, b, d, [](const float *x, const float *y, acc c) {                \
            return __builtin_amdgcn_##builtin(x[0], y[0], c, 0, 0, 0);                                       \
        });                                                                                                  \
    }
#define F16(name, builtin, size, k, blocks, acc)                                                             \
    __global__ void name(const float *a, const float *b, float *d)                                           \
    {                                                                                                        \
        product<size, k, blocks, 4, acc>(a, b, d, [](const float *x, const float *y, acc c) {                \
            const h4 p = {(_Float16)x[0], (_Float16)x[1], (_Float16)x[2], (_Float16)x[3]};                   \
            const h4 q = {(_Float16)y[0], (_Float16)y[1], (_Float16)y[2], (_Float16)y[3]};                   \
            return __builtin_amdgcn_##builtin(p, q, c, 0, 0, 0);                                             \
        });                                                                                                  \
    }
#define BF16_1K(name, builtin, size, k, blocks, acc)                                                         \
    __global__ void name(const float *a, const float *b, float *d)                                           \
    {                                                                                                        \
        product<size, k, blocks, 4, acc>(a, b, d, [](const float *x, const float *y, acc c) {                \
            const s4 p = {bf16(x[0]), bf16(x[1]), bf16(x[2]), bf16(x[3])};                                   \
            const s4 q = {bf16(y[0]), bf16(y[1]), bf16(y[2]), bf16(y[3])};                                   \
            return __builtin_amdgcn_##builtin(p, q, c, 0, 0, 0);                                             \
        });                                                                                                  \
    }
#define BF16(name, builtin, size, k, blocks, acc)                                                            \
    __global__ void name(const float *a, const float *b, float *d)                                           \
    {                                                                                                        \
        product<size, k, blocks, 2, acc>(a, b, d, [](const float *x, const float *y, acc c) {                \
            const s2 p = {bf16(x[0]), bf16(x[1])}, q = {bf16(y[0]), bf16(y[1])};                             \
            return __builtin_amdgcn_##builtin(p, q, c, 0, 0, 0);                                             \
        });                                                                                                  \
    }

#define SHAPES(X)                                                                                            \
    X(F32, f32_32x32x1, mfma_f32_32x32x1f32, 32, 1, 2, f32v)                                                 \
    X(F32, f32_16x16x1, mfma_f32_16x16x1f32, 16, 1, 4, f16v)                                                 \
    X(F32, f32_4x4x1, mfma_f32_4x4x1f32, 4, 1, 16, f4)                                                       \
    X(F32, f32_32x32x2, mfma_f32_32x32x2f32, 32, 2, 1, f16v)                                                 \
    X(F32, f32_16x16x4, mfma_f32_16x16x4f32, 16, 4, 1, f4)                                                   \
    X(F16, f16_32x32x4, mfma_f32_32x32x4f16, 32, 4, 2, f32v)                                                 \
    X(F16, f16_16x16x4, mfma_f32_16x16x4f16, 16, 4, 4, f16v)                                                 \
    X(F16, f16_4x4x4, mfma_f32_4x4x4f16, 4, 4, 16, f4)                                                       \
    X(F16, f16_32x32x8, mfma_f32_32x32x8f16, 32, 8, 1, f16v)                                                 \
    X(F16, f16_16x16x16, mfma_f32_16x16x16f16, 16, 16, 1, f4)                                                \
    X(BF16_1K, bf16_1k_32x32x4, mfma_f32_32x32x4bf16_1k, 32, 4, 2, f32v)                                     \
    X(BF16_1K, bf16_1k_16x16x4, mfma_f32_16x16x4bf16_1k, 16, 4, 4, f16v)                                     \
    X(BF16_1K, bf16_1k_4x4x4, mfma_f32_4x4x4bf16_1k, 4, 4, 16, f4)                                           \
    X(BF16_1K, bf16_1k_32x32x8, mfma_f32_32x32x8bf16_1k, 32, 8, 1, f16v)                                     \
    X(BF16_1K, bf16_1k_16x16x16, mfma_f32_16x16x16bf16_1k, 16, 16, 1, f4)                                    \
    X(BF16, bf16_32x32x2, mfma_f32_32x32x2bf16, 32, 2, 2, f32v)                                              \
    X(BF16, bf16_16x16x2, mfma_f32_16x16x2bf16, 16, 2, 4, f16v)                                              \
    X(BF16, bf16_4x4x2, mfma_f32_4x4x2bf16, 4, 2, 16, f4)                                                    \
    X(BF16, bf16_32x32x4, mfma_f32_32x32x4bf16, 32, 4, 1, f16v)                                              \
    X(BF16, bf16_16x16x8, mfma_f32_16x16x8bf16, 16, 8, 1, f4)

#define KERNEL(kind, name, builtin, size, k, blocks, acc) kind(name, builtin, size, k, blocks, acc)
SHAPES(KERNEL)

static size_t check(void (*kernel)(const float *, const float *, float *), int size, int k, int blocks)
{
    random_source random(size + k);
    std::vector<float> a(blocks * size * k), b(a.size()), expected(blocks * size * size, 1.0f);
    for (float &v : a)
        v = (float)((int)random.below(15) - 7);
    for (float &v : b)
        v = (float)((int)random.below(15) - 7);
    for (int n = 0; n < blocks; n++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                for (int e = 0; e < k; e++)
                    expected[(n * size + i) * size + j] +=
                        a[(n * size + i) * k + e] * b[(n * k + e) * size + j];
    gpu_array<float> da(a), db(b), dd(expected.size());
    kernel<<<1, 64>>>(da, db, dd);
    return count_unequal(dd.host(), expected);
}

int main()
{
    size_t wrong = 0;
#define CHECK_SHAPE(kind, name, builtin, size, k, blocks, acc) wrong += check(name, size, k, blocks);
    SHAPES(CHECK_SHAPE)
    return report("mfma_f32", wrong);
}
