// SPDX-License-Identifier: MIT
// Iteration counts of the Mandelbrot set in f32 and f64, exact because each step is a fixed sequence of
// operations.
#include "check.hpp"

constexpr int W = 100, H = 60, LIMIT = 64;

template <typename T> __host__ __device__ int iterations(int px, int py)
{
#pragma clang fp contract(off)
    const T cx = (T)-2.2 + (T)px * ((T)3.2 / (T)W), cy = (T)-1.2 + (T)py * ((T)2.4 / (T)H);
    T x = 0, y = 0;
    int n = 0;
    while (n < LIMIT && x * x + y * y <= (T)4) {
        const T next = x * x - y * y + cx;
        y = (T)2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

template <typename T> __global__ void draw(int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        out[y * W + x] = iterations<T>(x, y);
}

template <typename T> static size_t run()
{
    std::vector<int> want(W * H);
    for (int i = 0; i < W * H; i++)
        want[i] = iterations<T>(i % W, i / W);
    gpu_array<int> out(W * H);
    draw<T><<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(out);
    return count_unequal(out.host(), want);
}

int main()
{
    return report("mandelbrot", run<float>() + run<double>());
}
