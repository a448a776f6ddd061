// SPDX-License-Identifier: MIT
// Device printf through the runtime's host calls: every conversion, long strings, many lines at once from many
// groups, and a loop. Without an argument the program runs itself, reads what it printed and checks it.
#include "check.h"

#include <map>
#include <string>

#define LINES 3000

__global__ void lines(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        printf("line %d of %d\n", i, n);
}

__global__ void forms(const char *unused)
{
    printf("forms %d %u %x %c %s %5.2f %lld %%|%-6s|\n", -5, 4000000000u, 0xbeefu, 'q', "word", 2.5,
           -5000000000ll, "ab");
    for (int i = 0; i < 3; i++)
        printf("loop %d\n", i);
    printf("a string that does not fit into one packet of a host call, so that it has to be sent in pieces: "
           "0123456789 0123456789 0123456789 0123456789 0123456789 end\n");
}

static int print()
{
    lines<<<(LINES + 127) / 128, 128>>>(LINES);
    HIP(hipDeviceSynchronize());
    forms<<<1, 1>>>(nullptr);
    HIP(hipDeviceSynchronize());
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print();
    FILE *out = popen((std::string(argv[0]) + " print").c_str(), "r");
    EXPECT(out);
    std::map<std::string, int> seen;
    char line[512];
    int n = 0;
    for (; std::fgets(line, sizeof(line), out); n++)
        seen[line]++;
    EXPECT(pclose(out) == 0);
    EXPECT(n == LINES + 5);
    for (int i = 0; i < LINES; i++)
        EXPECT(seen["line " + std::to_string(i) + " of " + std::to_string(LINES) + "\n"] == 1);
    EXPECT(seen["forms -5 4000000000 beef q word  2.50 -5000000000 %|ab    |\n"] == 1);
    for (int i = 0; i < 3; i++)
        EXPECT(seen["loop " + std::to_string(i) + "\n"] == 1);
    EXPECT(seen["a string that does not fit into one packet of a host call, so that it has to be sent in pieces: "
                "0123456789 0123456789 0123456789 0123456789 0123456789 end\n"] == 1);
    std::puts("device_printf: all right");
    return 0;
}
