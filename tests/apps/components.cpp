// SPDX-License-Identifier: MIT
// Connected components by label propagation with pointer jumping until a flag stays down, and a hash table
// with open addressing that counts the members of each.
#include "check.hpp"

#include <numeric>

constexpr int VERTICES = 1000, EDGES = 900, SLOTS = 2048;

__global__ void hook(const int *from, const int *to, int *label, int *changed, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n)
        return;
    const int a = label[from[e]], b = label[to[e]];
    if (a == b)
        return;
    atomicMin(&label[a > b ? a : b], a < b ? a : b);
    *changed = 1;
}

__global__ void jump(int *label, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    int l = label[v];
    while (label[l] != l)
        l = label[l];
    label[v] = l;
}

__global__ void count(const int *label, int *key, int *members, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    for (unsigned at = (unsigned)label[v] * 2654435761u;; at++) {
        const int seen = atomicCAS(&key[at % SLOTS], -1, label[v]);
        if (seen != -1 && seen != label[v])
            continue;
        atomicAdd(&members[at % SLOTS], 1);
        return;
    }
}

int main()
{
    random_source random;
    std::vector<int> from(EDGES), to(EDGES), label(VERTICES), want(VERTICES), sizes(VERTICES);
    for (int e = 0; e < EDGES; e++) {
        from[e] = (int)random.below(VERTICES);
        to[e] = (int)random.below(VERTICES);
    }
    std::iota(label.begin(), label.end(), 0);
    want = label;
    for (bool again = true; again;) {
        again = false;
        for (int e = 0; e < EDGES; e++) {
            const int low = want[from[e]] < want[to[e]] ? want[from[e]] : want[to[e]];
            again |= want[from[e]] != low || want[to[e]] != low;
            want[from[e]] = want[to[e]] = low;
        }
    }
    gpu_array<int> dfrom(from), dto(to), dlabel(label), changed(1);
    for (int more = 1; more; more = changed.host()[0]) {
        CHECK(hipMemset(changed, 0, sizeof(int)));
        hook<<<(EDGES + 127) / 128, 128>>>(dfrom, dto, dlabel, changed, EDGES);
        jump<<<(VERTICES + 127) / 128, 128>>>(dlabel, VERTICES);
    }
    gpu_array<int> key(std::vector<int>(SLOTS, -1)), members(SLOTS);
    count<<<(VERTICES + 127) / 128, 128>>>(dlabel, key, members, VERTICES);
    const auto keys = key.host(), counts = members.host();
    size_t wrong = count_unequal(dlabel.host(), want);
    for (int l : want)
        sizes[l]++;
    for (int s = 0; s < SLOTS; s++)
        if (keys[s] >= 0) {
            wrong += counts[s] != sizes[keys[s]];
            sizes[keys[s]] = 0;
        }
    for (int left : sizes)
        wrong += left != 0;
    return report("components", wrong);
}
