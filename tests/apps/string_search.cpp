// SPDX-License-Identifier: MIT
// All places of a pattern in a text, and word counts: byte loads, early exits that differ from lane to lane.
#include "check.hpp"

#include <string>

constexpr int N = 8000;
static const char pattern[] = "abacab";

__constant__ char device_pattern[sizeof(pattern)];

__global__ void search(const char *text, int n, int *places, int *count, int *words)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = 0;
    while (device_pattern[k] && i + k < n && text[i + k] == device_pattern[k])
        k++;
    if (!device_pattern[k])
        places[atomicAdd(count, 1)] = i;
    const bool letter = text[i] != ' ', before = i > 0 && text[i - 1] != ' ';
    if (letter && !before)
        atomicAdd(words, 1);
}

int main()
{
    random_source random;
    std::string text(N, ' ');
    for (char &c : text)
        c = random.below(12) ? (char)('a' + random.below(3)) : ' ';
    for (int i = 0; i < 20; i++)
        text.replace(random.below(N - 10), sizeof(pattern) - 1, pattern);
    std::vector<int> want(N);
    int n = 0, words = 0;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1), n++)
        want[at] = 1;
    for (int i = 0; i < N; i++)
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(device_pattern), pattern, sizeof(pattern)));
    gpu_array<char> in(std::vector<char>(text.begin(), text.end()));
    gpu_array<int> places(N), count(1), device_words(1);
    search<<<(N + 255) / 256, 256>>>(in, N, places, count, device_words);
    const int found = count.host()[0];
    const auto at = places.host();
    size_t wrong = found != n;
    for (int i = 0; i < found; i++)
        wrong += want[at[i]] != 1;
    return report("string_search", wrong + (device_words.host()[0] != words));
}
