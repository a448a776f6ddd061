// SPDX-License-Identifier: MIT
// printf from work-items: the text of all formats arrives whole, once, and in order within a work-item. The
// program reads its own output back from a pipe.
#include "check.hpp"

#include <string>
#include <unistd.h>

__global__ void speak(int n)
{
    if (threadIdx.x >= (unsigned)n)
        return;
    printf("[%d|%5u|%-4d|%x|%lld]", (int)threadIdx.x, 7u, -3, 0xbeefu, -1234567890123ll);
    printf("(%.3f %s %c %%)\n", 1.5 * threadIdx.x, threadIdx.x & 1 ? "odd" : "even", 'a' + (int)threadIdx.x);
}

int main()
{
    constexpr int n = 3;
    int ends[2];
    const int terminal = dup(1);
    if (terminal < 0 || pipe(ends) != 0 || dup2(ends[1], 1) < 0)
        return 2;
    speak<<<1, 64>>>(n);
    const hipError_t error = hipDeviceSynchronize();
    std::fflush(stdout);
    dup2(terminal, 1);
    close(ends[1]);
    CHECK(error);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof(buffer))) > 0;)
        text.append(buffer, (size_t)got);
    size_t wrong = 0, length = 0;
    for (int i = 0; i < n; i++) {
        char first[100], second[100];
        length += (size_t)std::snprintf(first, sizeof(first), "[%d|%5u|%-4d|%x|%lld]", i, 7u, -3, 0xbeefu,
                                        -1234567890123ll);
        length += (size_t)std::snprintf(second, sizeof(second), "(%.3f %s %c %%)\n", 1.5 * i,
                                        i & 1 ? "odd" : "even", 'a' + i);
        wrong += text.find(first) == std::string::npos || text.find(second) == std::string::npos;
    }
    wrong += text.size() != length;
    return report("device_printf", wrong);
}
