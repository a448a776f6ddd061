// SPDX-License-Identifier: MIT
// Fast Fourier transform of 1024 complex f32 values in LDS, radix 4 and radix 2, against a discrete transform
// in f64. Tolerance: 2e-6 of the root mean square of the result times the number of stages.
#include "check.hpp"

constexpr int N = 1024;

struct complex {
    float re, im;
};

__device__ complex add(complex a, complex b)
{
    return {a.re + b.re, a.im + b.im};
}
__device__ complex sub(complex a, complex b)
{
    return {a.re - b.re, a.im - b.im};
}
__device__ complex mul(complex a, complex b)
{
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ complex by_minus_i(complex a)
{
    return {a.im, -a.re};
}

__device__ complex root(int k, int n) // exp(-2 pi i k / n)
{
    float s, c;
    sincospif(-2.0f * (float)k / (float)n, &s, &c);
    return {c, s};
}

// Stockham: reads stride n/radix, writes in order, so that no bit reversal is needed.
__global__ void fft4(const complex *in, complex *out)
{
    __shared__ complex v[N];
    const int t = threadIdx.x; // N / 4 work-items
    for (int i = t; i < N; i += N / 4)
        v[i] = in[blockIdx.x * N + i];
    for (int done = 1; done < N; done *= 4) {
        __syncthreads();
        const int k = t % done;
        const complex a = v[t], b = mul(v[t + N / 4], root(k, 4 * done)),
                      c = mul(v[t + N / 2], root(2 * k, 4 * done)),
                      d = mul(v[t + 3 * N / 4], root(3 * k, 4 * done));
        const complex ac = add(a, c), amc = sub(a, c), bd = add(b, d), bmd = by_minus_i(sub(b, d));
        __syncthreads();
        complex *to = v + (t / done) * 4 * done + k;
        to[0] = add(ac, bd);
        to[done] = add(amc, bmd);
        to[2 * done] = sub(ac, bd);
        to[3 * done] = sub(amc, bmd);
    }
    __syncthreads();
    for (int i = t; i < N; i += N / 4)
        out[blockIdx.x * N + i] = v[i];
}

__global__ void fft2(const complex *in, complex *out)
{
    __shared__ complex v[N];
    const int t = threadIdx.x; // N / 2 work-items
    v[t] = in[t];
    v[t + N / 2] = in[t + N / 2];
    for (int done = 1; done < N; done *= 2) {
        __syncthreads();
        const int k = t % done;
        const complex a = v[t], b = mul(v[t + N / 2], root(k, 2 * done));
        __syncthreads();
        complex *to = v + (t / done) * 2 * done + k;
        to[0] = add(a, b);
        to[done] = sub(a, b);
    }
    __syncthreads();
    out[t] = v[t];
    out[t + N / 2] = v[t + N / 2];
}

static size_t wrong_in(const std::vector<complex> &got, const std::vector<complex> &in, int batch)
{
    size_t wrong = 0;
    for (int k = 0; k < N; k += 7) { // each seventh frequency
        double re = 0, im = 0;
        for (int i = 0; i < N; i++) {
            const double angle = -2 * M_PI * (double)((long)i * k % N) / N;
            const complex x = in[batch * N + i];
            re += x.re * cos(angle) - x.im * sin(angle);
            im += x.re * sin(angle) + x.im * cos(angle);
        }
        const complex y = got[batch * N + k];
        wrong += !(hypot(y.re - re, y.im - im) < 2e-6 * 10 * sqrt((double)N));
    }
    return wrong;
}

int main()
{
    random_source random;
    std::vector<complex> in(2 * N);
    for (complex &v : in)
        v = {random.between(-1, 1), random.between(-1, 1)};
    gpu_array<complex> from(in), four(2 * N), two(N);
    fft4<<<2, N / 4>>>(from, four);
    fft2<<<1, N / 2>>>(from, two);
    return report("fft",
                  wrong_in(four.host(), in, 0) + wrong_in(four.host(), in, 1) + wrong_in(two.host(), in, 0));
}
