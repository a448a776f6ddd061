// SPDX-License-Identifier: MIT
// Solutions of the eight queens, for boards of 4 to 9: a work-item for each start of two rows, backtracking
// with an explicit stack of bit masks in private memory.
#include "check.hpp"

constexpr int LARGEST = 9;

__host__ __device__ int solutions(int size, unsigned first, unsigned second)
{
    const unsigned all = (1u << size) - 1;
    unsigned columns[LARGEST], left[LARGEST], right[LARGEST], open[LARGEST];
    const unsigned a = 1u << first, b = 1u << second;
    if (b & (a | a << 1 | a >> 1))
        return 0;
    int depth = 0, found = 0;
    columns[0] = a | b;
    left[0] = (a << 1 | b) << 1;
    right[0] = (a >> 1 | b) >> 1;
    open[0] = all & ~(columns[0] | left[0] | right[0]);
    while (depth >= 0) {
        const unsigned place = open[depth] & -open[depth];
        if (!place) {
            depth--;
            continue;
        }
        open[depth] ^= place;
        const unsigned c = columns[depth] | place;
        if (c == all) {
            found++;
            continue;
        }
        columns[depth + 1] = c;
        left[depth + 1] = (left[depth] | place) << 1;
        right[depth + 1] = (right[depth] | place) >> 1;
        depth++;
        open[depth] = all & ~(c | left[depth] | right[depth]);
    }
    return found;
}

__global__ void solve(int *count, int size)
{
    if (threadIdx.x < (unsigned)(size * size))
        atomicAdd(count, solutions(size, threadIdx.x / size, threadIdx.x % size));
}

int main()
{
    const int want[LARGEST + 1] = {0, 0, 0, 0, 2, 10, 4, 40, 92, 352};
    size_t wrong = 0;
    for (int size = 4; size <= LARGEST; size++) {
        gpu_array<int> count(1);
        solve<<<1, 128>>>(count, size);
        wrong += count.host()[0] != want[size];
    }
    return report("queens", wrong);
}
