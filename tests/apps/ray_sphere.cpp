// SPDX-License-Identifier: MIT
// Rays against spheres with shading: square roots, divisions, comparisons and branches that differ from lane
// to lane, struct copies through constant memory. Exact: no contraction, correctly rounded operations only.
#include "check.hpp"

constexpr int W = 64, H = 48, SPHERES = 5;

struct vec {
    float x, y, z;
};
struct sphere {
    vec centre;
    float radius;
    int colour;
};

__constant__ sphere device_scene[SPHERES];

__host__ __device__ float dot(vec a, vec b)
{
#pragma clang fp contract(off)
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__host__ __device__ unsigned trace(const sphere *scene, int px, int py)
{
#pragma clang fp contract(off)
    vec d = {((float)px - W / 2) / W, ((float)py - H / 2) / W, 1.0f};
    const float length = sqrtf(dot(d, d));
    d = {d.x / length, d.y / length, d.z / length};
    float nearest = 1e30f;
    unsigned pixel = 0;
    for (int s = 0; s < SPHERES; s++) {
        const vec c = scene[s].centre;
        const float along = dot(d, c), square = along * along - dot(c, c) + scene[s].radius * scene[s].radius;
        if (square < 0)
            continue;
        const float t = along - sqrtf(square);
        if (t <= 0 || t >= nearest)
            continue;
        nearest = t;
        const vec n = {(d.x * t - c.x) / scene[s].radius, (d.y * t - c.y) / scene[s].radius,
                       (d.z * t - c.z) / scene[s].radius};
        const float light = fmaxf(dot(n, vec{0.6f, -0.64f, -0.48f}), 0.1f);
        pixel = (unsigned)scene[s].colour * 256 + (unsigned)(light * 255.0f);
    }
    return pixel;
}

__global__ void render(unsigned *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * W + x] = trace(device_scene, x, y);
}

int main()
{
    const sphere scene[SPHERES] = {{{0, 0, 5}, 1, 1},
                                   {{1.5f, 0.3f, 6}, 1.2f, 2},
                                   {{-1.4f, -0.4f, 4}, 0.7f, 3},
                                   {{0.3f, 101.5f, 7}, 100, 4},
                                   {{-0.5f, 0.6f, 3}, 0.3f, 5}};
    std::vector<unsigned> want(W * H);
    for (int i = 0; i < W * H; i++)
        want[i] = trace(scene, i % W, i / W);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_scene), scene, sizeof(scene)));
    gpu_array<unsigned> out(W * H);
    render<<<dim3(W / 16, H / 16), dim3(16, 16)>>>(out);
    return report("ray_sphere", count_unequal(out.host(), want));
}
