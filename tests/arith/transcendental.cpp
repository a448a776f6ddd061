// SPDX-License-Identifier: MIT
// The approximating f32 and f16 instructions against the host's f64 functions, within the bounds of the
// table. Usage: transcendental [FUNCTION]. With a function every one of its 2^32 operands is tried, else each
// 4099th of all functions.
#include "arith.hpp"

// Source of the bounds in ULP: notes to the instructions in AMD's reference guides ("1ULP accuracy, denormals
// are flushed"). For sine and cosine the guides give the domain, 256 turns, and no error; 2^-20 absolute is
// asked for here, which is what LLVM's and the device library's use of them for native_sin() presumes.
struct function {
    const char *name;
    void (*kernel)(const bits32 *, bits32 *, bits32, bits32);
    double (*host)(double);
    double ulp, absolute;
    bool flushes;
};

#define KERNEL(name)                                                                                         \
    __global__ void gpu_##name(const bits32 *, bits32 *out, bits32 first, bits32 step)                       \
    {                                                                                                        \
        const bits32 i = blockIdx.x * blockDim.x + threadIdx.x, x = first + i * step;                        \
        bits32 r;                                                                                            \
        asm volatile("v_" #name "_f32 %0, %1" : "=v"(r) : "v"(x));                                           \
        out[i] = r;                                                                                          \
    }
KERNEL(rcp)
KERNEL(rcp_iflag)
KERNEL(rsq)
KERNEL(sqrt)
KERNEL(exp)
KERNEL(log)
KERNEL(sin)
KERNEL(cos)

static double inverse(double x)
{
    return 1 / x;
}

static double inverse_root(double x)
{
    return 1 / sqrt(x);
}

static double sine(double x)
{
    return fabs(x) <= 256 ? sin(2 * M_PI * remainder(x, 1)) : std::isfinite(x) ? 0 : NAN;
}

static double cosine(double x)
{
    return fabs(x) <= 256 ? cos(2 * M_PI * remainder(x, 1)) : std::isfinite(x) ? 1 : NAN;
}

static const function functions[] = {
    {"rcp", gpu_rcp, inverse, 1, 0, true},      {"rcp_iflag", gpu_rcp_iflag, inverse, 1, 0, true},
    {"rsq", gpu_rsq, inverse_root, 1, 0, true}, {"sqrt", gpu_sqrt, sqrt, 1, 0, true},
    {"exp", gpu_exp, exp2, 1, 0, true},         {"log", gpu_log, log2, 1, 0, true},
    {"sin", gpu_sin, sine, 1, 0x1p-20, false},  {"cos", gpu_cos, cosine, 1, 0x1p-20, false},
};

static double flushed(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

// The largest errors seen: in ULP of the result, which says nothing near the zeros of sine and cosine, and absolute.
struct errors {
    double ulp, absolute;
};

static bool within(const function &f, bits32 x, bits32 got, errors *worst)
{
    const double in = f32(x), want = f.host(f.flushes ? flushed(in) : in), have = f32(got);
    const float nearest = (float)want;
    if (nearest != nearest || std::isinf(nearest) || nearest == 0)
        return nearest == (float)have || (nearest != nearest && have != have);
    if (f.flushes && fabs(want) < 0x1p-126)
        return have == 0 || fabs(have) == 0x1p-126; // a result that rounds up to a normal one may be either
    int exponent;
    frexp(want, &exponent);
    const double error = fabs(have - want), unit = ldexp(1, (exponent > -125 ? exponent : -125) - 24);
    worst->absolute = fmax(worst->absolute, error);
    worst->ulp = fmax(worst->ulp, error / unit);
    return error <= f.absolute || error <= f.ulp * unit;
}

int main(int argc, char **argv)
{
    const bool all = argc == 2;
    constexpr bits32 n = 1 << 20;
    const bits32 step = all ? 1 : 4099;
    const uint64_t rounds = all ? 4096 : 1;
    gpu_array<bits32> out(n);
    size_t wrong = 0;
    bool known = !all;
    for (const function &f : functions) {
        if (all && std::strcmp(argv[1], f.name) != 0)
            continue;
        known = true;
        size_t here = 0;
        errors worst = {0, 0};
        for (uint64_t round = 0; round < rounds; round++) {
            const bits32 first = all ? (bits32)(round * n) : 0x7f7ff000u;
            f.kernel<<<n / 256, 256>>>(nullptr, out, first, step);
            const auto got = out.host();
            for (bits32 i = 0; i < n; i++) {
                const bits32 x = first + i * step;
                if (within(f, x, got[i], &worst) || here++ > 3)
                    continue;
                std::printf("%s(%08x = %g) = %08x = %g, host %g\n", f.name, x, f32(x), got[i], f32(got[i]),
                            f.host(f32(x)));
            }
        }
        std::printf("%s: %llu cases, worst ", f.name, (unsigned long long)(rounds * n));
        if (f.absolute)
            std::printf("2^%.2f\n", log2(worst.absolute));
        else
            std::printf("%.3f ULP\n", worst.ulp);
        wrong += here;
    }
    return report("arith_transcendental", wrong + !known);
}
