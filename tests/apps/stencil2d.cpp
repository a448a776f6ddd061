// SPDX-License-Identifier: MIT
// Five-point Jacobi iteration on a plane with fixed borders; f64, exact as each sum is ordered.
#include "check.hpp"

#include <utility>

constexpr int W = 75, H = 50, STEPS = 6;

__host__ __device__ double next(double up, double down, double left, double right)
{
    return ((up + down) + (left + right)) * 0.25;
}

__global__ void step(const double *from, double *to)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    const int i = y * W + x;
    const bool border = x == 0 || y == 0 || x == W - 1 || y == H - 1;
    to[i] = border ? from[i] : next(from[i - W], from[i + W], from[i - 1], from[i + 1]);
}

int main()
{
    random_source random;
    std::vector<double> a(W * H), b(W * H);
    for (double &v : a)
        v = random.unit();
    gpu_array<double> first(a), second(a);
    double *from = first, *to = second;
    for (int s = 0; s < STEPS; s++) {
        step<<<dim3((W + 15) / 16, (H + 7) / 8), dim3(16, 8)>>>(from, to);
        std::swap(from, to);
        for (int i = 0; i < W * H; i++) {
            const int x = i % W, y = i / W;
            const bool border = x == 0 || y == 0 || x == W - 1 || y == H - 1;
            b[i] = border ? a[i] : next(a[i - W], a[i + W], a[i - 1], a[i + 1]);
        }
        std::swap(a, b);
    }
    return report("stencil2d", count_unequal((STEPS % 2 ? second : first).host(), a));
}
