// SPDX-License-Identifier: MIT
// The device's mathematical functions in f32 and f64 against the host's f64 (glibc, below 1 ULP). Bounds in
// ULP are those of the HIP programming guide ("HIP math API", maximum errors), plus one for the host and
// rounding, as the instructions they are built from are specified no closer.
#include "check.hpp"

constexpr int N = 2000, PAIRS = 13;

struct function {
    const char *name;
    double (*host)(double);
    double low, high;
    double ulp32, ulp64;
};

#define FUNCTIONS(X)                                                                                         \
    X(sin, -100, 100, 2, 2)                                                                                  \
    X(cos, -100, 100, 2, 2)                                                                                  \
    X(tan, -100, 100, 4, 3)                                                                                  \
    X(asin, -1, 1, 4, 3)                                                                                     \
    X(acos, -1, 1, 4, 3)                                                                                     \
    X(atan, -30, 30, 4, 3)                                                                                   \
    X(sinh, -20, 20, 5, 3)                                                                                   \
    X(cosh, -20, 20, 5, 3)                                                                                   \
    X(tanh, -5, 5, 5, 3)                                                                                     \
    X(exp, -80, 80, 2, 2)                                                                                    \
    X(exp2, -120, 120, 2, 2)                                                                                 \
    X(expm1, -3, 20, 3, 3)                                                                                   \
    X(log, 1e-30, 1e6, 3, 2)                                                                                 \
    X(log2, 1e-30, 1e6, 3, 2)                                                                                \
    X(log10, 1e-30, 1e6, 3, 3)                                                                               \
    X(log1p, -0.9, 100, 3, 3)                                                                                \
    X(sqrt, 0, 1e30, 1, 0.51)                                                                                \
    X(cbrt, -1e6, 1e6, 3, 3)                                                                                 \
    X(erf, -4, 4, 6, 6)                                                                                      \
    X(erfc, -4, 4, 8, 8)                                                                                     \
    X(lgamma, 3, 40, 8, 8)                                                                                   \
    X(tgamma, 1, 20, 10, 10)                                                                                 \
    X(floor, -1e5, 1e5, 0, 0)                                                                                \
    X(ceil, -1e5, 1e5, 0, 0)                                                                                 \
    X(trunc, -1e5, 1e5, 0, 0)                                                                                \
    X(rint, -1e5, 1e5, 0, 0)                                                                                 \
    X(round, -1e5, 1e5, 0, 0)                                                                                \
    X(fabs, -1e5, 1e5, 0, 0)

enum {
#define NUMBER(name, low, high, u32, u64) F_##name,
    FUNCTIONS(NUMBER) COUNT
};

static const function functions[] = {
#define ROW(name, low, high, u32, u64) {#name, name, low, high, u32, u64},
    FUNCTIONS(ROW)};

template <typename T> __global__ void run(const T *in, T *out)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= N)
        return;
#define CALL(name, low, high, u32, u64) out[F_##name * N + i] = (T)::name(in[F_##name * N + i]);
    FUNCTIONS(CALL)
}

template <typename T> __global__ void pairs(const T *in, T *out)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= N)
        return;
    const T x = in[i] + (T)101, y = in[N + i] / (T)50;
    int exponent;
    T whole;
    T *to = out + PAIRS * i;
    to[0] = pow(x, y);
    to[1] = atan2(x, y);
    to[2] = hypot(x, y);
    to[3] = fmod(x, y);
    to[4] = frexp(x, &exponent);
    to[5] = ldexp(y, exponent % 7 - 3);
    to[6] = modf(x, &whole);
    to[7] = whole;
    to[8] = fmax(x, y) - fmin(x, y);
    to[9] = copysign(x, y);
    to[10] = fdim(x, y);
    to[11] = remainder(x, y);
    to[12] = sin(x * (T)0x1p70); // reduced by the long form of 2/pi
}

template <typename T> static double ulps(T got, double want)
{
    const T nearest = (T)want;
    if (got == nearest)
        return 0;
    int exponent;
    frexp(want, &exponent);
    const double unit = ldexp(1.0, exponent - (sizeof(T) == 4 ? 24 : 53));
    return fabs((double)got - want) / unit;
}

template <typename T> static size_t check()
{
    random_source random;
    std::vector<T> in(COUNT * N);
    for (int f = 0; f < COUNT; f++)
        for (int i = 0; i < N; i++)
            in[f * N + i] = (T)(functions[f].low + (functions[f].high - functions[f].low) *
                                                       (double)(random.bits64() >> 11) * 0x1p-53);
    gpu_array<T> from(in), to(COUNT * N), two(PAIRS * N);
    run<T><<<(N + 255) / 256, 256>>>((const T *)from, (T *)to);
    pairs<T><<<(N + 255) / 256, 256>>>((const T *)from, (T *)two);
    const auto got = to.host(), got_pairs = two.host();
    size_t wrong = 0;
    for (int f = 0; f < COUNT; f++) {
        double worst = 0;
        for (int i = 0; i < N; i++)
            worst = fmax(worst, ulps<T>(got[f * N + i], functions[f].host((double)in[f * N + i])));
        const double bound = sizeof(T) == 4 ? functions[f].ulp32 : functions[f].ulp64;
        if (!(worst <= bound))
            std::fprintf(stderr, "%s f%zu: %.2f ULP, bound %.2f\n", functions[f].name, 8 * sizeof(T), worst,
                         bound);
        wrong += !(worst <= bound);
    }
    double worst[PAIRS] = {0};
    for (int i = 0; i < N; i++) {
        const T tx = in[i] + (T)101, ty = in[N + i] / (T)50;
        const double x = (double)tx, y = (double)ty;
        int exponent;
        double whole;
        const double fraction = frexp(x, &exponent), part = modf(x, &whole);
        const double want[PAIRS] = {pow(x, y),
                                    atan2(x, y),
                                    hypot(x, y),
                                    fmod(x, y),
                                    fraction,
                                    ldexp(y, exponent % 7 - 3),
                                    part,
                                    whole,
                                    (double)(T)(fmax(x, y) - fmin(x, y)),
                                    copysign(x, y),
                                    x > y ? (double)(T)(x - y) : 0,
                                    remainder(x, y),
                                    sin(x * 0x1p70)};
        for (int r = 0; r < PAIRS; r++)
            worst[r] = fmax(worst[r], ulps<T>(got_pairs[PAIRS * i + r], want[r]));
    }
    const double bound[PAIRS] = {2, 4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
    for (int r = 0; r < PAIRS; r++) {
        if (!(worst[r] <= bound[r]))
            std::fprintf(stderr, "pair %d f%zu: %.2f ULP, bound %.2f\n", r, 8 * sizeof(T), worst[r],
                         bound[r]);
        wrong += !(worst[r] <= bound[r]);
    }
    return wrong;
}

int main()
{
    return report("mathematics", check<float>() + check<double>());
}
