// SPDX-License-Identifier: MIT
// Compare-and-swap loops: a lock-free stack, a spin lock around a multi-word update, exchange chains,
// wrapping counters.
#include "check.hpp"

constexpr int BLOCKS = 6, BLOCK = 64, N = BLOCKS * BLOCK;

struct shared_state {
    int lock, guarded_count, head, ticket;
    unsigned long long guarded_sum, wide_max;
    unsigned wrap_up, wrap_down;
};

__global__ void work(shared_state *s, int *next, int *chain)
{
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    // Push i on the stack.
    int head = __hip_atomic_load(&s->head, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        next[i] = head;
        __threadfence();
        const int seen = atomicCAS(&s->head, head, i);
        if (seen == head)
            break;
        head = seen;
    }
    // One lane of each wave at a time takes the lock, so that no lane waits for one of its own wave.
    for (int lane = 0; lane < 4; lane++)
        if ((int)(threadIdx.x & 63) == lane) {
            while (atomicCAS(&s->lock, 0, 1) != 0)
                __builtin_amdgcn_s_sleep(1);
            __threadfence();
            s->guarded_count = *(volatile int *)&s->guarded_count + 1;
            s->guarded_sum = *(volatile unsigned long long *)&s->guarded_sum + (unsigned)i;
            __threadfence();
            atomicExch(&s->lock, 0);
        }
    chain[i] = atomicExch(&s->ticket, i);
    atomicInc(&s->wrap_up, 9u);
    atomicDec(&s->wrap_down, 6u);
    unsigned long long seen = s->wide_max;
    const unsigned long long mine = (unsigned long long)((i * 37) % N) << 33;
    while (seen < mine) {
        const unsigned long long old = atomicCAS(&s->wide_max, seen, mine);
        if (old == seen)
            break;
        seen = old;
    }
}

int main()
{
    std::vector<shared_state> start(1);
    std::memset(start.data(), 0, sizeof(shared_state));
    start[0].head = start[0].ticket = -1;
    gpu_array<shared_state> state(start);
    gpu_array<int> next(N), chain(N);
    work<<<BLOCKS, BLOCK>>>(state, next, chain);
    const shared_state s = state.host()[0];
    const auto links = next.host(), order = chain.host();
    std::vector<int> on_stack(N), in_chain(N);
    for (int i = s.head, n = 0; i >= 0 && i < N && n <= N; i = links[i], n++)
        on_stack[i]++;
    for (int i = s.ticket, n = 0; i >= 0 && i < N && n <= N; i = order[i], n++)
        in_chain[i]++;
    unsigned long long sum = 0;
    for (int i = 0; i < N; i++)
        sum += i % 64 < 4 ? i : 0;
    unsigned up = 0, down = 0;
    for (int i = 0; i < N; i++) {
        up = up >= 9 ? 0 : up + 1;
        down = down == 0 || down > 6 ? 6 : down - 1;
    }
    size_t wrong =
        count_unequal(on_stack, std::vector<int>(N, 1)) + count_unequal(in_chain, std::vector<int>(N, 1));
    wrong += s.guarded_count != 4 * BLOCKS;
    wrong += s.guarded_sum != sum;
    wrong += s.wrap_up != up;
    wrong += s.wrap_down != down;
    wrong += s.wide_max != (unsigned long long)(N - 1) << 33;
    wrong += s.lock != 0;
    return report("locks", wrong);
}
