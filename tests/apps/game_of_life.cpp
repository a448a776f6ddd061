// SPDX-License-Identifier: MIT
// Conway's game of life on a torus, cells as bits of 64-bit words added with carry-save logic, and as bytes.
#include "check.hpp"

#include <utility>

constexpr int WORDS = 2, W = 64 * WORDS, H = 70, STEPS = 5;

__global__ void step_bits(const unsigned long long *from, unsigned long long *to)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= WORDS * H)
        return;
    const int x = i % WORDS, y = i / WORDS;
    unsigned long long ones = 0, twos = 0, fours = 0;
    const auto add = [&](unsigned long long v) {
        const unsigned long long carry = ones & v, carry2 = twos & carry;
        ones ^= v;
        twos ^= carry;
        fours |= carry2;
    };
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned long long *row = from + (y + dy + H) % H * WORDS;
        const unsigned long long here = row[x], left = row[(x + WORDS - 1) % WORDS],
                                 right = row[(x + 1) % WORDS];
        add(here << 1 | left >> 63);
        add(here >> 1 | right << 63);
        if (dy)
            add(here);
    }
    to[i] = ~fours & twos & (ones | from[i]);
}

__global__ void step_bytes(const unsigned char *from, unsigned char *to)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            n += from[(y + dy + H) % H * W + (x + dx + W) % W];
    to[y * W + x] = n == 3 || (n == 4 && from[y * W + x]);
}

int main()
{
    random_source random;
    std::vector<unsigned long long> bits(WORDS * H);
    std::vector<unsigned char> bytes(W * H), next(W * H);
    for (auto &v : bits)
        v = random.bits64() & random.bits64();
    for (int i = 0; i < W * H; i++)
        bytes[i] = bits[i / W * WORDS + i % W / 64] >> (i % 64) & 1;
    gpu_array<unsigned long long> a(bits), b(bits.size());
    gpu_array<unsigned char> c(bytes), d(bytes.size());
    unsigned long long *from = a, *to = b;
    unsigned char *from8 = c, *to8 = d;
    for (int s = 0; s < STEPS; s++) {
        step_bits<<<(WORDS * H + 63) / 64, 64>>>(from, to);
        step_bytes<<<dim3(W / 16, (H + 15) / 16), dim3(16, 16)>>>(from8, to8);
        std::swap(from, to);
        std::swap(from8, to8);
        for (int i = 0; i < W * H; i++) {
            int n = 0;
            for (int k = 0; k < 9; k++)
                n += bytes[(i / W + k / 3 - 1 + H) % H * W + (i % W + k % 3 - 1 + W) % W];
            next[i] = n == 3 || (n == 4 && bytes[i]);
        }
        std::swap(bytes, next);
    }
    const auto got = (STEPS % 2 ? b : a).host();
    size_t wrong = count_unequal((STEPS % 2 ? d : c).host(), bytes);
    for (int i = 0; i < W * H; i++)
        wrong += (got[i / W * WORDS + i % W / 64] >> (i % 64) & 1) != bytes[i];
    return report("game_of_life", wrong);
}
