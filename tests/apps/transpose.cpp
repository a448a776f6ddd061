// SPDX-License-Identifier: MIT
// Transposition of a matrix whose sides are no multiples of the tile: naive, and through padded LDS tiles.
#include "check.hpp"

constexpr int ROWS = 131, COLUMNS = 70, TILE = 16;

template <typename T> __global__ void naive(const T *in, T *out)
{
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < COLUMNS && y < ROWS)
        out[x * ROWS + y] = in[y * COLUMNS + x];
}

template <typename T> __global__ void tiled(const T *in, T *out)
{
    __shared__ T tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < COLUMNS && y < ROWS)
        tile[threadIdx.y][threadIdx.x] = in[y * COLUMNS + x];
    __syncthreads();
    const int to_x = blockIdx.y * TILE + threadIdx.x, to_y = blockIdx.x * TILE + threadIdx.y;
    if (to_x < ROWS && to_y < COLUMNS)
        out[to_y * ROWS + to_x] = tile[threadIdx.x][threadIdx.y];
}

template <typename T> static size_t run()
{
    random_source random;
    std::vector<T> in(ROWS * COLUMNS), expected(in.size());
    for (T &v : in)
        v = (T)random.bits64();
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            expected[x * ROWS + y] = in[y * COLUMNS + x];
    gpu_array<T> from(in), a(in.size()), b(in.size());
    const dim3 grid((COLUMNS + TILE - 1) / TILE, (ROWS + TILE - 1) / TILE), block(TILE, TILE);
    naive<T><<<grid, block>>>(from, a);
    tiled<T><<<grid, block>>>(from, b);
    return count_unequal(a.host(), expected) + count_unequal(b.host(), expected);
}

int main()
{
    return report("transpose",
                  run<unsigned char>() + run<unsigned short>() + run<unsigned>() + run<unsigned long long>());
}
