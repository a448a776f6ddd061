// SPDX-License-Identifier: MIT
// Every comparison of every type, with NaNs, infinities, zeros of both signs and denormals among the floats:
// as the compiler writes them, negated forms included, and each as a select and as a branch.
#include "check.hpp"

constexpr int N = 1600;

template <typename T> __host__ __device__ unsigned compare(T a, T b, const T *limits)
{
    unsigned r = 0;
    r |= (unsigned)(a < b) << 0 | (unsigned)(a <= b) << 1 | (unsigned)(a == b) << 2;
    r |= (unsigned)(a != b) << 3 | (unsigned)(a > b) << 4 | (unsigned)(a >= b) << 5;
    r |= (unsigned)!(a < b) << 6 | (unsigned)!(a <= b) << 7 | (unsigned)!(a > b) << 8 |
         (unsigned)!(a >= b) << 9;
    r |= (unsigned)(a < b || a > b) << 10 | (unsigned)!(a < b || a > b) << 11;
    r |= (unsigned)(a != a || b != b) << 12 | (unsigned)(a == a && b == b) << 13;
    r |=
        (unsigned)(a < limits[0]) << 14 | (unsigned)(a >= limits[1]) << 15 | (unsigned)(b == limits[2]) << 16;
    if (!(a >= b))
        r ^= 1u << 20;
    if (!(a < b) && a > limits[0])
        r ^= 1u << 21;
    while (!(b > a) && r < 1u << 28)
        r += 1u << 27;
    return r;
}

template <typename T> __host__ __device__ unsigned classify(T a)
{
    return (unsigned)(__builtin_isnan(a) != 0) | (unsigned)(__builtin_isinf(a) != 0) << 1 |
           (unsigned)(__builtin_isfinite(a) != 0) << 2 | (unsigned)(__builtin_isnormal(a) != 0) << 3;
}

template <typename T, bool floating>
__global__ void run(const T *a, const T *b, const T *limits, unsigned *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = compare<T>(a[i], b[i], limits);
    if constexpr (floating)
        out[2 * i + 1] = classify(a[i]);
}

template <typename T, bool floating> static size_t check(const std::vector<T> &special)
{
    random_source random(sizeof(T));
    std::vector<T> a(N), b(N), limits(3);
    const auto pick = [&]() {
        if (random.below(2))
            return special[random.below((uint32_t)special.size())];
        const uint64_t bits = random.bits64();
        T v;
        std::memcpy(&v, &bits, sizeof(v));
        return v;
    };
    for (int i = 0; i < N; i++) {
        a[i] = pick();
        b[i] = i % 9 ? pick() : a[i];
    }
    limits = {special[0], special[1], special[2]};
    gpu_array<T> da(a), db(b), dl(limits);
    gpu_array<unsigned> out(2 * N);
    run<T, floating><<<N / 64, 64>>>((const T *)da, (const T *)db, (const T *)dl, (unsigned *)out);
    const auto got = out.host();
    size_t wrong = 0;
    for (int i = 0; i < N; i++) {
        wrong += got[2 * i] != compare<T>(a[i], b[i], limits.data());
        if constexpr (floating)
            wrong += got[2 * i + 1] != classify(a[i]);
    }
    return wrong;
}

int main()
{
    const float inf = INFINITY;
    size_t wrong = check<float, true>({1.0f, -2.5f, 0.0f, -0.0f, inf, -inf, NAN, -NAN, 1e-41f, -1e-44f});
    wrong += check<double, true>({1.0, -2.5, 0.0, -0.0, inf, -inf, NAN, -NAN, 1e-310, -5e-324});
    wrong += check<_Float16, false>({(_Float16)1.0f, (_Float16)-2.5f, (_Float16)0.0f, (_Float16)-0.0f,
                                     (_Float16)inf, (_Float16)-inf, (_Float16)NAN, (_Float16)6e-8f,
                                     (_Float16)-1e-6f});
    wrong += check<int, false>({5, -7, 0, 1, -1, 0x7fffffff, -0x7fffffff - 1});
    wrong += check<unsigned, false>({5, 70000, 0, 1, ~0u, 0x7fffffff, 0x80000000});
    wrong += check<long long, false>({5, -7, 0, 1, -1, 1ll << 32, -(1ll << 32), 0x7fffffffffffffff});
    wrong += check<unsigned long long, false>({5, 70000, 0, 1, ~0ull, 1ull << 32, 1ull << 63});
    wrong += check<short, false>({5, -7, 0, 1, -1, 0x7fff, -0x8000});
    wrong += check<unsigned short, false>({5, 777, 0, 1, 0xffff, 0x7fff, 0x8000});
    wrong += check<signed char, false>({5, -7, 0, 1, -1, 127, -128});
    wrong += check<unsigned char, false>({5, 77, 0, 1, 255, 127, 128});
    return report("comparisons", wrong);
}
