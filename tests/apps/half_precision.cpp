// SPDX-License-Identifier: MIT
// f16: scalar and packed arithmetic, comparison, conversion from and to integers and f32/f64, against f32
// arithmetic rounded once (f32 has more than twice the bits of f16, so sums, products, quotients and roots
// round correctly).
#include "check.hpp"

#include <hip/hip_fp16.h>

typedef _Float16 half2v __attribute__((ext_vector_type(2)));

constexpr int N = 4096, RESULTS = 16;

struct result {
    unsigned short v[RESULTS];
    int i[3];
};

__host__ __device__ unsigned short bits_of(_Float16 h)
{
    unsigned short bits;
    __builtin_memcpy(&bits, &h, sizeof(bits));
    return (unsigned short)((bits & 0x7fff) > 0x7c00 ? 0x7e00 : bits); // one NaN
}

__device__ result on_gpu(_Float16 a, _Float16 b)
{
    const half2v x = {a, b}, y = {b, (_Float16)3};
    const half2v sum = x + y, difference = x - y, product = x * y;
    result r;
    r.v[0] = bits_of(a + b);
    r.v[1] = bits_of(a - b);
    r.v[2] = bits_of(a * b);
    r.v[3] = bits_of(a / b);
    r.v[4] = bits_of((_Float16)__builtin_sqrtf16(a));
    r.v[5] = bits_of(sum[0]);
    r.v[6] = bits_of(sum[1]);
    r.v[7] = bits_of(difference[0]);
    r.v[8] = bits_of(product[0]);
    r.v[9] = bits_of(product[1]);
    r.v[10] = bits_of((_Float16)(short)((int)(a > b) - (int)(a < b) + 2 * (a == b) + 4 * (a != b)));
    r.v[11] = bits_of(-a);
    r.v[12] = bits_of(__builtin_fabsf16(b));
    r.v[13] = bits_of((_Float16)(float)(a * (_Float16)0.5f));
    r.v[14] = bits_of(__builtin_floorf16(a));
    r.v[15] = bits_of(__builtin_truncf16(b));
    r.i[0] = a > -30000 && a < 30000 ? (short)a : 0;
    r.i[1] = b >= 0 && b < 60000 ? (unsigned short)b : 0;
    r.i[2] = (int)((double)a * 16);
    return r;
}

static result on_host(_Float16 ha, _Float16 hb)
{
    const float a = (float)ha, b = (float)hb;
    result r;
    r.v[0] = bits_of((_Float16)(a + b));
    r.v[1] = bits_of((_Float16)(a - b));
    r.v[2] = bits_of((_Float16)(a * b));
    r.v[3] = bits_of((_Float16)(a / b));
    r.v[4] = bits_of((_Float16)sqrtf(a));
    r.v[5] = r.v[0];
    r.v[6] = bits_of((_Float16)(b + 3));
    r.v[7] = r.v[1];
    r.v[8] = r.v[2];
    r.v[9] = bits_of((_Float16)(b * 3));
    r.v[10] = bits_of((_Float16)(float)((int)(a > b) - (int)(a < b) + 2 * (a == b) + 4 * (a != b)));
    r.v[11] = bits_of((_Float16)-a);
    r.v[12] = bits_of((_Float16)fabsf(b));
    r.v[13] = bits_of((_Float16)(a * 0.5f));
    r.v[14] = bits_of((_Float16)floorf(a));
    r.v[15] = bits_of((_Float16)truncf(b));
    r.i[0] = a > -30000 && a < 30000 ? (int)a : 0;
    r.i[1] = b >= 0 && b < 60000 ? (int)b : 0;
    r.i[2] = fabsf(a) <= 65504 ? (int)((double)a * 16) : a > 0 ? 0x7fffffff : a < 0 ? -0x7fffffff - 1 : 0;
    return r;
}

__global__ void run(const _Float16 *a, const _Float16 *b, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = on_gpu(a[i], b[i]);
}

int main()
{
    random_source random;
    std::vector<_Float16> a(N), b(N);
    for (int i = 0; i < N; i++) {
        unsigned short x = (unsigned short)random.bits(), y = (unsigned short)random.bits();
        if (i % 4 == 0) // close exponents
            y = (unsigned short)((x & 0x7c00) | (y & 0x83ff));
        std::memcpy(&a[i], &x, 2);
        std::memcpy(&b[i], &y, 2);
    }
    gpu_array<_Float16> da(a), db(b);
    gpu_array<result> out(N);
    run<<<N / 256, 256>>>(da, db, out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const result want = on_host(a[i], b[i]);
        wrong += std::memcmp(&got[i], &want, sizeof(want)) != 0;
    }
    return report("half_precision", wrong);
}
