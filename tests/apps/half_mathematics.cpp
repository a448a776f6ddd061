// SPDX-License-Identifier: MIT
// f16 functions over all 65536 inputs against the host's f64, within 1 ULP (exact where the result is a
// rounding); packed fused multiply-adds, mixed forms and byte conversions. Not hsin: the device library 5.2.3
// makes NaN of each finite value.
#include "check.hpp"

#include <hip/hip_fp16.h>

typedef _Float16 half2v __attribute__((ext_vector_type(2)));

constexpr int N = 65536, FUNCTIONS = 10;

__global__ void run(_Float16 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half h = __ushort_as_half((unsigned short)i);
    _Float16 plain;
    __builtin_memcpy(&plain, &h, sizeof(plain));
    const _Float16 reciprocal = __builtin_amdgcn_rcph(plain); // HIP's own hrcp does not link
    const __half r[FUNCTIONS] = {hsqrt(h), reciprocal, hrsqrt(h), hexp2(h),  hlog2(h),
                                 hcos(h),  hfloor(h),  hceil(h),  htrunc(h), hrint(h)};
    for (int f = 0; f < FUNCTIONS; f++)
        out[f * N + i] = r[f];
}

static double on_host(int f, double x)
{
    switch (f) {
    case 0:
        return sqrt(x);
    case 1:
        return 1 / x;
    case 2:
        return 1 / sqrt(x);
    case 3:
        return exp2(x);
    case 4:
        return log2(x);
    case 5:
        return cos(x);
    case 6:
        return floor(x);
    case 7:
        return ceil(x);
    case 8:
        return trunc(x);
    default:
        return rint(x);
    }
}

__global__ void mixed(const _Float16 *in, float *f32, _Float16 *f16, const unsigned *bytes, float *from_bytes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const _Float16 a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    f32[i] = fmaf((float)a, (float)b, (float)c);
    f16[3 * i] = (_Float16)fmaf((float)a, (float)b, (float)c);
    const half2v x = {a, b}, y = {b, c}, z = {c, a};
    const half2v r = __builtin_elementwise_max(x * y + z, x);
    f16[3 * i + 1] = r[0];
    f16[3 * i + 2] = r[1];
    const unsigned v = bytes[i];
    from_bytes[i] =
        (float)(v & 0xff) + 3 * (float)(v >> 8 & 0xff) + 5 * (float)(v >> 16 & 0xff) + 7 * (float)(v >> 24);
}

int main()
{
    gpu_array<_Float16> out((size_t)FUNCTIONS * N);
    run<<<N / 256, 256>>>(out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int f = 0; f < FUNCTIONS; f++) {
        double worst = 0;
        for (int i = 0; i < N; i++) {
            _Float16 x;
            const unsigned short bits = (unsigned short)i;
            std::memcpy(&x, &bits, 2);
            const double want = on_host(f, (double)(float)x), have = (double)(float)got[(size_t)f * N + i];
            if ((want != want && have != have) || (_Float16)want == (_Float16)have)
                continue;
            int exponent = 0;
            frexp(want, &exponent);
            const double unit = ldexp(1, (exponent > -13 ? exponent : -13) - 11);
            worst = fmax(worst,
                         want != want || have != have || std::isinf(have) ? 1e9 : fabs(have - want) / unit);
        }
        const double bound = f == 5 ? 2 : f < 5 ? 1 : 0;
        if (!(worst <= bound))
            std::fprintf(stderr, "function %d: %.2f ULP\n", f, worst);
        wrong += !(worst <= bound);
    }
    constexpr int cases = 2048;
    random_source random;
    std::vector<_Float16> in(3 * cases), want16(3 * cases);
    std::vector<float> want32(cases), want_bytes(cases);
    std::vector<unsigned> bytes(cases);
    for (auto &v : in)
        v = (_Float16)(float)((int)random.below(65) - 32) * (_Float16)0.25f; // products and sums are exact
    for (int i = 0; i < cases; i++) {
        const float a = (float)in[3 * i], b = (float)in[3 * i + 1], c = (float)in[3 * i + 2];
        bytes[i] = random.bits();
        want32[i] = fmaf(a, b, c);
        want16[3 * i] = (_Float16)want32[i];
        want16[3 * i + 1] = (_Float16)fmaxf(a * b + c, a);
        want16[3 * i + 2] = (_Float16)fmaxf(b * c + a, b);
        for (int k = 0; k < 4; k++)
            want_bytes[i] += (float)((2 * k + 1) * (bytes[i] >> (8 * k) & 0xff));
    }
    gpu_array<_Float16> din(in), f16(3 * cases);
    gpu_array<float> f32(cases), from_bytes(cases);
    gpu_array<unsigned> dbytes(bytes);
    mixed<<<cases / 256, 256>>>(din, f32, f16, dbytes, from_bytes);
    wrong += count_unequal(f32.host(), want32) + count_unequal(f16.host(), want16);
    return report("half_mathematics", wrong + count_unequal(from_bytes.host(), want_bytes));
}
