// SPDX-License-Identifier: MIT
// rocRAND's generators in a kernel of our own, bit for bit against the same headers compiled for the host:
// skipping to a subsequence and an offset, drawing, and the exact distributions.
#include "../apps/check.hpp"

#define FQUALIFIERS inline __host__ __device__
#include <rocrand/rocrand_kernel.h>
#include <rocrand/rocrand_sobol32_precomputed.h>
#include <rocrand/rocrand_sobol64_precomputed.h>

constexpr int THREADS = 128, DRAWS = 12;
constexpr unsigned long long SEED = 0x123456789abcull, OFFSET = 1000;

template <typename state> __host__ __device__ void draw(unsigned *out, unsigned long long sequence)
{
    state s;
    rocrand_init(SEED, sequence, OFFSET, &s);
    for (int i = 0; i < DRAWS - 3; i++)
        out[i] = rocrand(&s);
    const float f = rocrand_uniform(&s);
    const double d = rocrand_uniform_double(&s);
    __builtin_memcpy(&out[DRAWS - 3], &f, sizeof(f));
    __builtin_memcpy(&out[DRAWS - 2], &d, sizeof(d));
}

template <typename state> __global__ void draw_all(unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    draw<state>(out + DRAWS * i, i * 0x10001u);
}

template <typename state> static size_t check()
{
    std::vector<unsigned> want(THREADS * DRAWS);
    for (unsigned i = 0; i < THREADS; i++)
        draw<state>(&want[DRAWS * i], i * 0x10001u);
    gpu_array<unsigned> out(want.size());
    draw_all<state><<<THREADS / 64, 64>>>((unsigned *)out);
    return count_unequal(out.host(), want);
}

// The quasi-random engines: the point of a number, for several dimensions, and the ones after it.
template <typename state, typename T, int bits>
__host__ __device__ void draw_points(const T *vectors, T *out, unsigned i)
{
    state s;
    rocrand_init(vectors + bits * (i % 8), 37 * i, &s);
    for (int k = 0; k < DRAWS; k++)
        out[k] = rocrand(&s);
}

template <typename state, typename T, int bits> __global__ void draw_all_points(const T *vectors, T *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    draw_points<state, T, bits>(vectors, out + DRAWS * i, i);
}

template <typename state, typename T, int bits> static size_t check_points(const T *vectors)
{
    std::vector<T> want(THREADS * DRAWS), table(vectors, vectors + 8 * bits);
    for (unsigned i = 0; i < THREADS; i++)
        draw_points<state, T, bits>(table.data(), &want[DRAWS * i], i);
    gpu_array<T> in(table), out(want.size());
    draw_all_points<state, T, bits><<<THREADS / 64, 64>>>((const T *)in, (T *)out);
    return count_unequal(out.host(), want);
}

int main()
{
    size_t wrong = check_points<rocrand_state_sobol32, unsigned, 32>(h_sobol32_direction_vectors);
    wrong += check_points<rocrand_state_sobol64, unsigned long long, 64>(h_sobol64_direction_vectors);
    return report("rocrand_device", wrong + check<rocrand_state_xorwow>() + check<rocrand_state_mrg32k3a>() +
                                        check<rocrand_state_philox4x32_10>());
}
