// SPDX-License-Identifier: MIT
// Image filters on bytes: a separable 7-tap blur with weights in constant memory and a 3x3 Sobel magnitude.
#include "check.hpp"

constexpr int W = 97, H = 61;
static const int taps[7] = {1, 6, 15, 20, 15, 6, 1}; // sum 64
__constant__ int device_taps[7];

__host__ __device__ int clamp_to(int v, int last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

__host__ __device__ unsigned char blur_at(const unsigned char *in, const int *weights, int x, int y, int dx,
                                          int dy)
{
    int sum = 32;
    for (int k = -3; k <= 3; k++)
        sum += weights[k + 3] * in[clamp_to(y + k * dy, H - 1) * W + clamp_to(x + k * dx, W - 1)];
    return (unsigned char)(sum >> 6);
}

__host__ __device__ unsigned char sobel_at(const unsigned char *in, int x, int y)
{
    int p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j][i] = in[clamp_to(y + j - 1, H - 1) * W + clamp_to(x + i - 1, W - 1)];
    const int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    const int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    const int magnitude = (abs(gx) + abs(gy)) / 4;
    return (unsigned char)(magnitude > 255 ? 255 : magnitude);
}

__global__ void blur(const unsigned char *in, unsigned char *out, int dx, int dy)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        out[y * W + x] = blur_at(in, device_taps, x, y, dx, dy);
}

__global__ void sobel(const unsigned char *in, unsigned char *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        out[y * W + x] = sobel_at(in, x, y);
}

int main()
{
    random_source random;
    std::vector<unsigned char> in(W * H), rows(W * H), both(W * H), edges(W * H);
    for (auto &v : in)
        v = (unsigned char)random.bits();
    for (int i = 0; i < W * H; i++)
        rows[i] = blur_at(in.data(), taps, i % W, i / W, 1, 0);
    for (int i = 0; i < W * H; i++)
        both[i] = blur_at(rows.data(), taps, i % W, i / W, 0, 1);
    for (int i = 0; i < W * H; i++)
        edges[i] = sobel_at(both.data(), i % W, i / W);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_taps), taps, sizeof(taps)));
    gpu_array<unsigned char> a(in), b(in.size()), c(in.size()), d(in.size());
    const dim3 block(32, 8), grid((W + 31) / 32, (H + 7) / 8);
    blur<<<grid, block>>>(a, b, 1, 0);
    blur<<<grid, block>>>(b, c, 0, 1);
    sobel<<<grid, block>>>(c, d);
    return report("convolution", count_unequal(c.host(), both) + count_unequal(d.host(), edges));
}
