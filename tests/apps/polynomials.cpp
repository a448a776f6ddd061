// SPDX-License-Identifier: MIT
// Horner's rule in f32, f64 and modulo a 61-bit prime, and Estrin's scheme with fused operations; exact on
// both sides.
#include "check.hpp"

constexpr int N = 1024, DEGREE = 12;
constexpr unsigned long long PRIME = (1ull << 61) - 1;

struct result {
    float f;
    double d, estrin;
    unsigned long long m;
};

__host__ __device__ unsigned long long multiply(unsigned long long a, unsigned long long b)
{
    const __uint128_t p = (__uint128_t)a * b;
    const unsigned long long r = (unsigned long long)(p & PRIME) + (unsigned long long)(p >> 61);
    return r >= PRIME ? r - PRIME : r;
}

__host__ __device__ result evaluate(const double *c, double x)
{
    result r = {(float)c[DEGREE], c[DEGREE], 0, 0};
    const unsigned long long at = (unsigned long long)(long long)(x * 0x1p40) % PRIME;
    r.m = (unsigned long long)(long long)(c[DEGREE] * 1000 + 2000);
    for (int k = DEGREE - 1; k >= 0; k--) {
        r.f = fmaf(r.f, (float)x, (float)c[k]);
        r.d = fma(r.d, x, c[k]);
        r.m = (multiply(r.m, at) + (unsigned long long)(long long)(c[k] * 1000 + 2000)) % PRIME;
    }
    double v[DEGREE + 1], power = x;
    for (int k = 0; k <= DEGREE; k++)
        v[k] = c[k];
    for (int n = DEGREE + 1; n > 1; n = (n + 1) / 2, power *= power)
        for (int k = 0; k < (n + 1) / 2; k++)
            v[k] = 2 * k + 1 < n ? fma(v[2 * k + 1], power, v[2 * k]) : v[2 * k];
    r.estrin = v[0];
    return r;
}

__global__ void run(const double *c, const double *x, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = evaluate(c, x[i]);
}

int main()
{
    random_source random;
    std::vector<double> c(DEGREE + 1), x(N);
    for (double &v : c)
        v = random.between(-1, 1);
    for (double &v : x)
        v = random.between(0, 3);
    gpu_array<double> dc(c), dx(x);
    gpu_array<result> out(N);
    run<<<N / 128, 128>>>(dc, dx, out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const result want = evaluate(c.data(), x[i]);
        wrong +=
            got[i].f != want.f || got[i].d != want.d || got[i].estrin != want.estrin || got[i].m != want.m;
    }
    return report("polynomials", wrong);
}
