// SPDX-License-Identifier: MIT
// Dot products of packed 4-, 8- and 16-bit integers and of f16 pairs by builtins, with and without
// saturation.
#include "check.hpp"

typedef short short2v __attribute__((ext_vector_type(2)));
typedef unsigned short ushort2v __attribute__((ext_vector_type(2)));
typedef _Float16 half2v __attribute__((ext_vector_type(2)));

constexpr int N = 2048, RESULTS = 13;

struct result {
    unsigned v[RESULTS];
};

template <typename T> __device__ T as(unsigned v)
{
    T t;
    __builtin_memcpy(&t, &v, sizeof(t));
    return t;
}

__global__ void run(const unsigned *a, const unsigned *b, const unsigned *c, result *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned x = a[i], y = b[i], z = c[i];
    result r;
    r.v[0] = (unsigned)__builtin_amdgcn_sdot2(as<short2v>(x), as<short2v>(y), (int)z, false);
    r.v[1] = (unsigned)__builtin_amdgcn_sdot2(as<short2v>(x), as<short2v>(y), (int)z, true);
    r.v[2] = __builtin_amdgcn_udot2(as<ushort2v>(x), as<ushort2v>(y), z, false);
    r.v[3] = __builtin_amdgcn_udot2(as<ushort2v>(x), as<ushort2v>(y), z, true);
    r.v[4] = (unsigned)__builtin_amdgcn_sdot4((int)x, (int)y, (int)z, false);
    r.v[5] = (unsigned)__builtin_amdgcn_sdot4((int)x, (int)y, (int)z, true);
    r.v[6] = __builtin_amdgcn_udot4(x, y, z, false);
    r.v[7] = __builtin_amdgcn_udot4(x, y, z, true);
    r.v[8] = (unsigned)__builtin_amdgcn_sdot8((int)x, (int)y, (int)z, false);
    r.v[9] = (unsigned)__builtin_amdgcn_sdot8((int)x, (int)y, (int)z, true);
    r.v[10] = __builtin_amdgcn_udot8(x, y, z, false);
    r.v[11] = __builtin_amdgcn_udot8(x, y, z, true);
    // Small integers as f16: exact whatever the order.
    const half2v p = {(_Float16)(short)(x & 15), (_Float16)(short)(x >> 4 & 15)},
                 q = {(_Float16)(short)(y & 15), (_Float16)(short)(y >> 4 & 15)};
    r.v[12] = __float_as_uint(__builtin_amdgcn_fdot2(p, q, (float)(int)(z & 255), false));
    out[i] = r;
}

static long long sum_of(unsigned x, unsigned y, long long c, int bits, bool is_signed)
{
    for (int at = 0; at < 32; at += bits) {
        const unsigned mask = (1ull << bits) - 1, p = x >> at & mask, q = y >> at & mask;
        const int up = 32 - bits;
        c += is_signed ? (long long)((int)(p << up) >> up) * ((int)(q << up) >> up) : (long long)p * q;
    }
    return c;
}

int main()
{
    random_source random;
    std::vector<unsigned> a(N), b(N), c(N);
    for (int i = 0; i < N; i++) {
        a[i] = random.bits();
        b[i] = i % 8 ? random.bits() : a[i];
        const unsigned near_limit[4] = {random.bits(), 0x7fffff00, 0x80000010, 0xffffff00};
        c[i] = near_limit[i % 4];
    }
    gpu_array<unsigned> da(a), db(b), dc(c);
    gpu_array<result> out(N);
    run<<<N / 256, 256>>>(da, db, dc, out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        const int widths[3] = {16, 8, 4};
        for (int w = 0; w < 3; w++) {
            const long long s = sum_of(a[i], b[i], (int)c[i], widths[w], true),
                            u = sum_of(a[i], b[i], c[i], widths[w], false);
            wrong += got[i].v[4 * w] != (unsigned)s;
            wrong += got[i].v[4 * w + 1] != (unsigned)(s > 0x7fffffff      ? 0x7fffffff
                                                       : s < -0x80000000ll ? -0x80000000ll
                                                                           : s);
            wrong += got[i].v[4 * w + 2] != (unsigned)u;
            wrong += got[i].v[4 * w + 3] != (unsigned)(u > 0xffffffffll ? 0xffffffffll : u);
        }
        const float f =
            (float)((a[i] & 15) * (b[i] & 15) + (a[i] >> 4 & 15) * (b[i] >> 4 & 15) + (c[i] & 255));
        unsigned bits;
        std::memcpy(&bits, &f, sizeof(bits));
        wrong += got[i].v[12] != bits;
    }
    return report("dot_products", wrong);
}
