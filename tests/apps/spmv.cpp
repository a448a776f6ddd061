// SPDX-License-Identifier: MIT
// Sparse matrix times vector in CSR: a work-item for each row, and a wave for each row with a shuffle
// reduction. Values are small integers, so that every order of sums is exact.
#include "check.hpp"

constexpr int ROWS = 300, COLUMNS = 250;

__global__ void by_item(const int *start, const int *column, const float *value, const float *x, float *y)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

__global__ void by_wave(const int *start, const int *column, const float *value, const float *x, float *y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 64, lane = threadIdx.x & 63;
    if (row >= ROWS)
        return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 64)
        sum += value[k] * x[column[k]];
    for (int step = 32; step; step /= 2)
        sum += __shfl_down(sum, step);
    if (lane == 0)
        y[row] = sum;
}

int main()
{
    random_source random;
    std::vector<int> start{0}, column;
    std::vector<float> value, x(COLUMNS), expected(ROWS);
    for (float &v : x)
        v = (float)((int)random.below(101) - 50);
    for (int row = 0; row < ROWS; row++) {
        const int n = row % 37 == 0   ? 0
                      : row % 50 == 7 ? 200
                                      : (int)random.below(12); // empty, long and short rows
        for (int k = 0; k < n; k++) {
            column.push_back((int)random.below(COLUMNS));
            value.push_back((float)((int)random.below(21) - 10));
            expected[row] += value.back() * x[column.back()];
        }
        start.push_back((int)column.size());
    }
    gpu_array<int> dstart(start), dcolumn(column);
    gpu_array<float> dvalue(value), dx(x), y1(ROWS), y2(ROWS);
    by_item<<<(ROWS + 63) / 64, 64>>>(dstart, dcolumn, dvalue, dx, y1);
    by_wave<<<(ROWS + 3) / 4, 256>>>(dstart, dcolumn, dvalue, dx, y2);
    return report("spmv", count_unequal(y1.host(), expected) + count_unequal(y2.host(), expected));
}
