// SPDX-License-Identifier: MIT
// 0/1 knapsack by dynamic programming, a row of the table in LDS for each item, the choice as bits; the
// chosen items are walked back and must weigh and count what the table says.
#include "check.hpp"

constexpr int ITEMS = 40, CAPACITY = 1000, BLOCK = 256;

__global__ void solve(const int *weight, const int *value, int *best, unsigned long long *taken)
{
    __shared__ int row[2][CAPACITY + 1];
    __shared__ unsigned long long choice[2][CAPACITY + 1];
    for (int c = threadIdx.x; c <= CAPACITY; c += BLOCK) {
        row[0][c] = 0;
        choice[0][c] = 0;
    }
    for (int i = 0; i < ITEMS; i++) {
        __syncthreads();
        const int from = i & 1, to = from ^ 1, w = weight[i], v = value[i];
        for (int c = threadIdx.x; c <= CAPACITY; c += BLOCK) {
            const int without = row[from][c], with = c >= w ? row[from][c - w] + v : -1;
            row[to][c] = max(without, with);
            choice[to][c] = with > without ? choice[from][c - w] | 1ull << i : choice[from][c];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        *best = row[ITEMS & 1][CAPACITY];
        *taken = choice[ITEMS & 1][CAPACITY];
    }
}

int main()
{
    random_source random;
    std::vector<int> weight(ITEMS), value(ITEMS), row(CAPACITY + 1);
    for (int i = 0; i < ITEMS; i++) {
        weight[i] = 10 + (int)random.below(150);
        value[i] = 1 + (int)random.below(500);
        for (int c = CAPACITY; c >= weight[i]; c--)
            row[c] = row[c] > row[c - weight[i]] + value[i] ? row[c] : row[c - weight[i]] + value[i];
    }
    gpu_array<int> w(weight), v(value), best(1);
    gpu_array<unsigned long long> taken(1);
    solve<<<1, BLOCK>>>(w, v, best, taken);
    const unsigned long long bits = taken.host()[0];
    int weighs = 0, counts = 0;
    for (int i = 0; i < ITEMS; i++)
        if (bits >> i & 1) {
            weighs += weight[i];
            counts += value[i];
        }
    size_t wrong = best.host()[0] != row[CAPACITY];
    return report("knapsack", wrong + (counts != row[CAPACITY]) + (weighs > CAPACITY));
}
