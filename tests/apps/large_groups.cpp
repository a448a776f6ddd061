// SPDX-License-Identifier: MIT
// The limits of a launch: 64 KiB of dynamic LDS, groups of 1024 work-items in one, two and three dimensions,
// and grids with remainders in three dimensions.
#include "check.hpp"

__global__ void reverse(const unsigned *in, unsigned *out, int n)
{
    extern __shared__ unsigned tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        tile[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = tile[n - 1 - i] + 1;
}

// Each cell names its work-item and the neighbour read through LDS.
__global__ void name_cells(unsigned *out, int x_size, int y_size, int z_size)
{
    __shared__ unsigned names[1024];
    const unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z * blockDim.z + threadIdx.z;
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    names[t] = block * 1024 + t;
    __syncthreads();
    if (x < x_size && y < y_size && z < z_size)
        out[(z * y_size + y) * x_size + x] = names[t ^ 1];
}

static size_t check_cells(int x_size, int y_size, int z_size, dim3 block)
{
    const dim3 grid((x_size + block.x - 1) / block.x, (y_size + block.y - 1) / block.y,
                    (z_size + block.z - 1) / block.z);
    const size_t n = (size_t)x_size * y_size * z_size;
    std::vector<unsigned> want(n);
    for (int z = 0; z < z_size; z++)
        for (int y = 0; y < y_size; y++)
            for (int x = 0; x < x_size; x++) {
                const unsigned b = ((z / block.z) * grid.y + y / block.y) * grid.x + x / block.x;
                const unsigned t = ((z % block.z) * block.y + y % block.y) * block.x + x % block.x;
                want[((size_t)z * y_size + y) * x_size + x] = b * 1024 + (t ^ 1);
            }
    gpu_array<unsigned> out(n);
    name_cells<<<grid, block>>>(out, x_size, y_size, z_size);
    return count_unequal(out.host(), want);
}

int main()
{
    constexpr int n = 65536 / sizeof(unsigned);
    std::vector<unsigned> in(n), want(n);
    for (int i = 0; i < n; i++)
        want[n - 1 - i] = (in[i] = i * 40503u) + 1;
    gpu_array<unsigned> from(in), to(n);
    reverse<<<1, 1024, 65536>>>(from, to, n);
    size_t wrong = count_unequal(to.host(), want);
    wrong += check_cells(2500, 1, 1, dim3(1024));
    wrong += check_cells(50, 70, 1, dim3(32, 32));
    wrong += check_cells(13, 11, 21, dim3(8, 8, 16));
    wrong += check_cells(5, 7, 9, dim3(4, 2, 3)); // 24 work-items: a wave with idle lanes
    return report("large_groups", wrong);
}
