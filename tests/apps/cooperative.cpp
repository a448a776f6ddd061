// SPDX-License-Identifier: MIT
// Cooperative groups inside a work-group: the block, tiles of 32, 16 and 4, coalesced groups of a branch.
#include "check.hpp"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;
constexpr int BLOCK = 256, BLOCKS = 3;

template <typename tile> __device__ int sum_in(const tile &group, int v)
{
    for (unsigned step = group.size() / 2; step; step /= 2)
        v += group.shfl_down(v, step);
    return group.shfl(v, 0);
}

__global__ void groups(const int *in, int *out)
{
    __shared__ int values[BLOCK];
    cg::thread_block block = cg::this_thread_block();
    const int t = block.thread_rank(), at = block.group_index().x * BLOCK + t;
    values[t] = in[at];
    block.sync();
    const int across = values[BLOCK - 1 - t];
    const auto t32 = cg::tiled_partition<32>(block);
    const auto t16 = cg::tiled_partition<16>(block);
    const auto t4 = cg::tiled_partition<4>(block);
    out[5 * at] = sum_in(t32, in[at]);
    out[5 * at + 1] = sum_in(t16, in[at]);
    out[5 * at + 2] = sum_in(t4, in[at]) + (int)t4.thread_rank();
    out[5 * at + 3] = across + (int)block.size();
    out[5 * at + 4] = -1;
    if (in[at] % 3 == 0) {
        const cg::coalesced_group active = cg::coalesced_threads();
        out[5 * at + 4] = (int)(active.size() * 100 + active.thread_rank());
    }
}

int main()
{
    random_source random;
    const int n = BLOCK * BLOCKS;
    std::vector<int> in(n), want(5 * n);
    for (int &v : in)
        v = (int)random.below(1000);
    for (int at = 0; at < n; at++) {
        const auto sum = [&](int size) {
            int s = 0;
            for (int i = at / size * size; i < at / size * size + size; i++)
                s += in[i];
            return s;
        };
        int active = 0, rank = 0;
        for (int i = at / 64 * 64; i < at / 64 * 64 + 64; i++) {
            active += in[i] % 3 == 0;
            rank += in[i] % 3 == 0 && i < at;
        }
        want[5 * at] = sum(32);
        want[5 * at + 1] = sum(16);
        want[5 * at + 2] = sum(4) + at % 4;
        want[5 * at + 3] = in[at / BLOCK * BLOCK + BLOCK - 1 - at % BLOCK] + BLOCK;
        want[5 * at + 4] = in[at] % 3 == 0 ? active * 100 + rank : -1;
    }
    gpu_array<int> from(in), to(5 * n);
    groups<<<BLOCKS, BLOCK>>>(from, to);
    return report("cooperative", count_unequal(to.host(), want));
}
