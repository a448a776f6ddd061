// SPDX-License-Identifier: MIT
// Stable compaction of the elements that pass a test: ballots within waves, LDS across waves, a decoupled
// chain of groups that wait for the sum of those before them.
#include "check.hpp"

constexpr int BLOCK = 256, N = 5000, BLOCKS = (N + BLOCK - 1) / BLOCK;

__host__ __device__ bool keep(unsigned v)
{
    return v % 3 == 0 || v > 0xf0000000u;
}

__global__ void compact(const unsigned *in, unsigned *out, int *state, unsigned *turn)
{
    __shared__ int wave_count[BLOCK / 64], before;
    __shared__ unsigned my_turn;
    if (threadIdx.x == 0)
        my_turn = atomicAdd(turn, 1u); // groups number themselves as they start
    __syncthreads();
    const int i = my_turn * BLOCK + threadIdx.x, lane = threadIdx.x & 63, wave = threadIdx.x / 64;
    const unsigned v = i < N ? in[i] : 0;
    const bool mine = i < N && keep(v);
    const unsigned long long votes = __ballot(mine);
    if (lane == 0)
        wave_count[wave] = __popcll(votes);
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0, sum = 0;
        for (int w = 0; w < BLOCK / 64; w++)
            total += wave_count[w];
        if (my_turn)
            while ((sum = __hip_atomic_load(&state[my_turn - 1], __ATOMIC_ACQUIRE,
                                            __HIP_MEMORY_SCOPE_AGENT)) == 0)
                __builtin_amdgcn_s_sleep(2);
        else
            sum = 1; // sums are stored with one added, so that 0 is "not there"
        before = sum - 1;
        __hip_atomic_store(&state[my_turn], sum + total, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
    __syncthreads();
    int at = before + __popcll(votes & ((1ull << lane) - 1));
    for (int w = 0; w < wave; w++)
        at += wave_count[w];
    if (mine)
        out[at] = v;
}

int main()
{
    random_source random;
    std::vector<unsigned> in(N), want;
    for (unsigned &v : in) {
        v = random.bits();
        if (keep(v))
            want.push_back(v);
    }
    gpu_array<unsigned> from(in), to(N), turn(1);
    gpu_array<int> state(BLOCKS);
    compact<<<BLOCKS, BLOCK>>>(from, to, state, turn);
    auto got = to.host();
    size_t wrong = state.host()[BLOCKS - 1] - 1 != (int)want.size();
    got.resize(want.size());
    return report("compaction", wrong + count_unequal(got, want));
}
