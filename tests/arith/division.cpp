// SPDX-License-Identifier: MIT
// Division and square root as the compiler writes them: correctly rounded for f32 and f64, denormals and
// special values included; for f16 what the compiler's sequence of an f32 reciprocal, a product and one
// rounding gives.
#include "arith.hpp"

__global__ void divide32(const bits64 *a, const bits64 *b, const bits64 *, bits64 *out)
{
    out[AT] = __float_as_uint(__uint_as_float((bits32)a[AT]) / __uint_as_float((bits32)b[AT]));
}

__global__ void divide64(const bits64 *a, const bits64 *b, const bits64 *, bits64 *out)
{
    out[AT] = (bits64)__double_as_longlong(__longlong_as_double((long long)a[AT]) /
                                           __longlong_as_double((long long)b[AT]));
}

__global__ void divide16(const bits64 *a, const bits64 *b, const bits64 *, bits64 *out)
{
    const unsigned short x = (unsigned short)a[AT], y = (unsigned short)b[AT];
    _Float16 p, q;
    __builtin_memcpy(&p, &x, 2);
    __builtin_memcpy(&q, &y, 2);
    const _Float16 r = p / q;
    unsigned short v;
    __builtin_memcpy(&v, &r, 2);
    out[AT] = v;
}

__global__ void inverse32(const bits64 *a, const bits64 *, const bits64 *, bits64 *out)
{
    out[AT] = __float_as_uint(1.0f / __uint_as_float((bits32)a[AT]));
}

__global__ void root32(const bits64 *a, const bits64 *, const bits64 *, bits64 *out)
{
    out[AT] = __float_as_uint(sqrtf(__uint_as_float((bits32)a[AT])));
}

__global__ void root64(const bits64 *a, const bits64 *, const bits64 *, bits64 *out)
{
    out[AT] = (bits64)__double_as_longlong(sqrt(__longlong_as_double((long long)a[AT])));
}

static bits64 quotient16(bits64 a, bits64 b)
{
    const double exact = f16(a) / f16(b);
    if (!std::isfinite(exact) || exact == 0)
        return half(exact);
    return half((float)f16(a) * (1.0f / (float)f16(b)));
}

static const operation operations[] = {
    {"f32 / f32", divide32, HOST(bits(f32(a) / f32(b))), F32, F32, NONE, NAN32},
    {"f64 / f64", divide64, HOST(bits(f64(a) / f64(b))), F64, F64, NONE, NAN64},
    {"f16 / f16", divide16, HOST(quotient16(a, b)), F16, F16, NONE, NAN16},
    {"1 / f32", inverse32, HOST(bits(1.0f / f32(a))), F32, NONE, NONE, NAN32},
    {"sqrt f32", root32, HOST(bits(sqrtf(f32(a)))), F32, NONE, NONE, NAN32},
    {"sqrt f64", root64, HOST(bits(sqrt(f64(a)))), F64, NONE, NONE, NAN64},
};

int main(int, char **argv)
{
    const char *slash = std::strrchr(argv[0], '/'); // two programs are made of this file
    return run_operations(slash ? slash + 1 : argv[0], operations, 1 << 18);
}
