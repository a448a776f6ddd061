// SPDX-License-Identifier: MIT
// The generators of librocrand. Where the order of its output is known (XORWOW and MRG32K3A: each of 131072
// threads draws from the subsequence of its number; Philox: one sequence; Sobol32: the points in order) the
// output is compared bit for bit with the engines compiled for the host. MTGP32 and the distributions are
// checked by moments. Not Sobol64: this version makes single-precision numbers of the low halves of its
// points, which are zeros; its engine is checked in rocrand_device.
#include "../apps/check.hpp"

#define FQUALIFIERS inline __host__ __device__
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>
#include <rocrand/rocrand_sobol32_precomputed.h>

#define CHECK_RAND(call)                                                                                     \
    do {                                                                                                     \
        const rocrand_status status_ = (call);                                                               \
        if (status_ != ROCRAND_STATUS_SUCCESS) {                                                             \
            std::fprintf(stderr, "%s: %d\n", #call, (int)status_);                                           \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

constexpr size_t N = 140000; // more than the 131072 engines, so that some draw twice
constexpr unsigned ENGINES = 512 * 256;
constexpr unsigned long long SEED = 77;

template <typename state> static std::vector<unsigned> from_engines()
{
    std::vector<unsigned> want(N);
    for (unsigned i = 0; i < ENGINES; i += 7) { // each seventh engine: skipping is slow on the host
        state s;
        rocrand_init(SEED, i, 0, &s);
        for (size_t at = i; at < N; at += ENGINES)
            want[at] = rocrand(&s);
    }
    return want;
}

static std::vector<unsigned> from_philox()
{
    std::vector<unsigned> want(N);
    rocrand_state_philox4x32_10 s;
    rocrand_init(SEED, 0, 0, &s);
    for (unsigned &v : want)
        v = rocrand(&s);
    return want;
}

static size_t check_engine(rocrand_rng_type type, const std::vector<unsigned> &want, size_t step)
{
    rocrand_generator generator;
    gpu_array<unsigned> out(N);
    CHECK_RAND(rocrand_create_generator(&generator, type));
    CHECK_RAND(rocrand_set_seed(generator, SEED));
    CHECK_RAND(rocrand_generate(generator, out, N));
    const auto got = out.host();
    CHECK_RAND(rocrand_destroy_generator(generator));
    size_t wrong = 0;
    for (size_t i = 0; i < N; i++)
        wrong += i % ENGINES % step == 0 && got[i] != want[i];
    if (wrong)
        std::printf("generator %d: %zu wrong\n", (int)type, wrong);
    return wrong;
}

// The first points of the first dimension, by Gray code.
static size_t check_sobol32()
{
    constexpr int n = 3000;
    rocrand_generator generator;
    gpu_array<unsigned> out(n);
    CHECK_RAND(rocrand_create_generator(&generator, ROCRAND_RNG_QUASI_SOBOL32));
    CHECK_RAND(rocrand_generate(generator, out, n));
    const auto got = out.host();
    CHECK_RAND(rocrand_destroy_generator(generator));
    size_t wrong = 0;
    unsigned point = 0;
    for (int i = 0; i < n; i++) {
        wrong += got[i] != point;
        point ^= h_sobol32_direction_vectors[__builtin_ctz(~(unsigned)i)];
    }
    if (wrong)
        std::printf("Sobol32: %zu wrong\n", wrong);
    return wrong;
}

struct moments {
    double mean = 0, variance = 0;
    template <typename T> explicit moments(const std::vector<T> &v)
    {
        for (T x : v)
            mean += (double)x / (double)v.size();
        for (T x : v)
            variance += ((double)x - mean) * ((double)x - mean) / (double)v.size();
    }
};

static size_t near(const char *what, double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance)
        return 0;
    std::printf("%s: %g, expected %g\n", what, got, want);
    return 1;
}

// Tolerances are six standard errors or more.
static size_t check_distributions(rocrand_rng_type type)
{
    constexpr size_t n = 65536;
    rocrand_generator generator;
    gpu_array<float> f(n);
    gpu_array<double> d(n);
    gpu_array<unsigned> u(n);
    CHECK_RAND(rocrand_create_generator(&generator, type));
    CHECK_RAND(rocrand_generate_uniform(generator, f, n));
    const moments uniform(f.host());
    CHECK_RAND(rocrand_generate_normal_double(generator, d, n, 2.0, 3.0));
    const moments normal(d.host());
    CHECK_RAND(rocrand_generate_poisson(generator, u, n, 7.0));
    const moments poisson(u.host());
    CHECK_RAND(rocrand_generate(generator, u, n));
    const auto words = u.host();
    CHECK_RAND(rocrand_destroy_generator(generator));
    size_t wrong = near("uniform mean", uniform.mean, 0.5, 0.007) +
                   near("uniform variance", uniform.variance, 1.0 / 12, 0.003);
    wrong += near("normal mean", normal.mean, 2, 0.08) + near("normal variance", normal.variance, 9, 0.4);
    wrong += near("Poisson mean", poisson.mean, 7, 0.07) + near("Poisson variance", poisson.variance, 7, 0.3);
    // Points of a quasi-random sequence fill the upper bits alone.
    for (int bit = type == ROCRAND_RNG_QUASI_SOBOL32 ? 16 : 0; bit < 32; bit++) {
        double ones = 0;
        for (unsigned w : words)
            ones += w >> bit & 1;
        wrong += near("ones in a bit", ones / n, 0.5, 0.013);
    }
    return wrong;
}

int main()
{
    size_t wrong = check_engine(ROCRAND_RNG_PSEUDO_XORWOW, from_engines<rocrand_state_xorwow>(), 7);
    wrong += check_engine(ROCRAND_RNG_PSEUDO_MRG32K3A, from_engines<rocrand_state_mrg32k3a>(), 7);
    wrong += check_engine(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, from_philox(), 1);
    wrong += check_sobol32();
    for (rocrand_rng_type type :
         {ROCRAND_RNG_PSEUDO_XORWOW, ROCRAND_RNG_PSEUDO_MRG32K3A, ROCRAND_RNG_PSEUDO_MTGP32,
          ROCRAND_RNG_PSEUDO_PHILOX4_32_10, ROCRAND_RNG_QUASI_SOBOL32})
        wrong += check_distributions(type);
    return report("rocrand", wrong);
}
