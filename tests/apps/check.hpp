// SPDX-License-Identifier: MIT
// What the test programs share: errors end them, each reports once, modes are chosen by name; device arrays
// and random numbers for the programs that compare one computation with the host's.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        hipError_t error_ = (call);                                                                          \
        if (error_ != hipSuccess) {                                                                          \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));                              \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

struct mode {
    const char *name;
    size_t (*run)(); // returns how many results are wrong
};

template <size_t N> int run_mode(const mode (&modes)[N], int argc, char **argv)
{
    for (const mode &m : modes) {
        if (argc != 2 || std::strcmp(argv[1], m.name) != 0)
            continue;
        const size_t wrong = m.run();
        std::printf("%s: wrong=%zu\n%s\n", m.name, wrong, wrong == 0 ? "PASS" : "FAIL");
        return wrong == 0 ? 0 : 1;
    }
    std::fprintf(stderr, "usage: %s MODE, one of:", argv[0]);
    for (const mode &m : modes)
        std::fprintf(stderr, " %s", m.name);
    std::fprintf(stderr, "\n");
    return 2;
}

// One line and the exit status of a program that has one answer.
inline int report(const char *name, size_t wrong)
{
    CHECK(hipDeviceSynchronize());
    if (wrong == 0)
        std::printf("%s: ok\n", name);
    else
        std::printf("%s: %zu wrong\n", name, wrong);
    return wrong != 0;
}

// An array in device memory, freed with its owner.
template <typename T> class gpu_array
{
  public:
    explicit gpu_array(size_t n) : n_(n)
    {
        CHECK(hipMalloc(&p_, n * sizeof(T)));
        CHECK(hipMemset(p_, 0, n * sizeof(T)));
    }
    explicit gpu_array(const std::vector<T> &from) : n_(from.size())
    {
        CHECK(hipMalloc(&p_, n_ * sizeof(T)));
        CHECK(hipMemcpy(p_, from.data(), n_ * sizeof(T), hipMemcpyHostToDevice));
    }
    gpu_array(const gpu_array &) = delete;
    gpu_array &operator=(const gpu_array &) = delete;
    ~gpu_array() { (void)hipFree(p_); }

    operator T *() const { return p_; }
    std::vector<T> host() const
    {
        CHECK(hipGetLastError());
        std::vector<T> to(n_);
        CHECK(hipMemcpy(to.data(), p_, n_ * sizeof(T), hipMemcpyDeviceToHost));
        return to;
    }

  private:
    T *p_ = nullptr;
    size_t n_;
};

// xorshift64*. Source: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
// 2016.
class random_source
{
  public:
    explicit random_source(uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15u) {}
    uint64_t bits64()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1du;
    }
    uint32_t bits() { return (uint32_t)(bits64() >> 32); }
    uint32_t below(uint32_t n) { return (uint32_t)((uint64_t)bits() * n >> 32); }
    float unit() { return (float)(bits() >> 8) * 0x1p-24f; } // [0, 1)
    float between(float low, float high) { return low + (high - low) * unit(); }

  private:
    uint64_t state_;
};

// Elements that differ, bit for bit for integers.
template <typename T> size_t count_unequal(const std::vector<T> &a, const std::vector<T> &b)
{
    size_t wrong = a.size() != b.size();
    for (size_t i = 0; i < a.size() && i < b.size(); i++)
        wrong += !(a[i] == b[i]);
    return wrong;
}

// Elements further apart than `relative` of the expected value, or than `absolute` near zero. NaN is wrong.
template <typename T>
size_t count_apart(const std::vector<T> &got, const std::vector<T> &expected, double relative,
                   double absolute = 0)
{
    size_t wrong = got.size() != expected.size();
    for (size_t i = 0; i < got.size() && i < expected.size(); i++) {
        const double bound = std::fmax(relative * std::fabs((double)expected[i]), absolute);
        wrong += !(std::fabs((double)got[i] - (double)expected[i]) <= bound);
    }
    return wrong;
}
