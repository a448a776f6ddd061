// SPDX-License-Identifier: MIT
// Seven-point stencil in three dimensions, grid with remainders in each; planes kept in registers, rows in
// LDS.
#include "check.hpp"

constexpr int X = 37, Y = 19, Z = 11, BX = 16, BY = 8;

__host__ __device__ float combine(float c, float x0, float x1, float y0, float y1, float z0, float z1)
{
    return fmaf(c, -6.0f, ((x0 + x1) + (y0 + y1)) + (z0 + z1));
}

__global__ void laplace(const float *in, float *out)
{
    __shared__ float plane[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const auto at = [&](int i, int j, int k) {
        const bool inside = i >= 0 && j >= 0 && k >= 0 && i < X && j < Y && k < Z;
        return inside ? in[(k * Y + j) * X + i] : 0.0f;
    };
    float below = 0, here = at(x, y, 0);
    for (int z = 0; z < Z; z++) {
        const float above = at(x, y, z + 1);
        __syncthreads();
        plane[threadIdx.y + 1][threadIdx.x + 1] = here;
        if (threadIdx.x == 0)
            plane[threadIdx.y + 1][0] = at(x - 1, y, z);
        if (threadIdx.x == BX - 1)
            plane[threadIdx.y + 1][BX + 1] = at(x + 1, y, z);
        if (threadIdx.y == 0)
            plane[0][threadIdx.x + 1] = at(x, y - 1, z);
        if (threadIdx.y == BY - 1)
            plane[BY + 1][threadIdx.x + 1] = at(x, y + 1, z);
        __syncthreads();
        const float *p = &plane[threadIdx.y + 1][threadIdx.x + 1];
        if (x < X && y < Y)
            out[(z * Y + y) * X + x] = combine(here, p[-1], p[1], p[-(BX + 2)], p[BX + 2], below, above);
        below = here;
        here = above;
    }
}

int main()
{
    random_source random;
    std::vector<float> in(X * Y * Z), expected(in.size());
    for (float &v : in)
        v = random.between(-1, 1);
    const auto at = [&](int i, int j, int k) {
        const bool inside = i >= 0 && j >= 0 && k >= 0 && i < X && j < Y && k < Z;
        return inside ? in[(k * Y + j) * X + i] : 0.0f;
    };
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                expected[(z * Y + y) * X + x] =
                    combine(at(x, y, z), at(x - 1, y, z), at(x + 1, y, z), at(x, y - 1, z), at(x, y + 1, z),
                            at(x, y, z - 1), at(x, y, z + 1));
    gpu_array<float> from(in), to(in.size());
    laplace<<<dim3((X + BX - 1) / BX, (Y + BY - 1) / BY), dim3(BX, BY)>>>(from, to);
    return report("stencil3d", count_unequal(to.host(), expected));
}
