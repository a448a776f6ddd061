// SPDX-License-Identifier: MIT
// Breadth-first search with a frontier queue: compare-and-swap claims a vertex, an atomic counter places it.
#include "check.hpp"

constexpr int VERTICES = 1500, EDGES = 4000;

__global__ void visit(const int *start, const int *to, int *level, const int *frontier, int n, int *next,
                      int *n_next, int depth)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int v = frontier[i];
    for (int e = start[v]; e < start[v + 1]; e++)
        if (atomicCAS(&level[to[e]], -1, depth) == -1)
            next[atomicAdd(n_next, 1)] = to[e];
}

int main()
{
    random_source random;
    std::vector<std::vector<int>> edges(VERTICES);
    for (int e = 0; e < EDGES; e++)
        edges[random.below(VERTICES)].push_back((int)random.below(VERTICES));
    std::vector<int> start{0}, to, level(VERTICES, -1), expected(VERTICES, -1), queue{0};
    for (const auto &out : edges) {
        to.insert(to.end(), out.begin(), out.end());
        start.push_back((int)to.size());
    }
    expected[0] = level[0] = 0;
    for (size_t head = 0; head < queue.size(); head++)
        for (int w : edges[queue[head]])
            if (expected[w] < 0) {
                expected[w] = expected[queue[head]] + 1;
                queue.push_back(w);
            }
    gpu_array<int> dstart(start), dto(to), dlevel(level), a(VERTICES), b(VERTICES), count(1);
    int *from = a, *next = b, n = 1;
    for (int depth = 1; n; depth++) {
        CHECK(hipMemset(count, 0, sizeof(int)));
        visit<<<(n + 127) / 128, 128>>>(dstart, dto, dlevel, from, n, next, count, depth);
        n = count.host()[0];
        std::swap(from, next);
    }
    return report("bfs", count_unequal(dlevel.host(), expected));
}
