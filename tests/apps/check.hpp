// SPDX-License-Identifier: MIT
// What the test programs share: errors end them, each reports PASS or FAIL once, modes are chosen by name.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        hipError_t error_ = (call);                                                                          \
        if (error_ != hipSuccess) {                                                                          \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));                              \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

struct mode {
    const char *name;
    size_t (*run)(); // returns how many results are wrong
};

template <size_t N> int run_mode(const mode (&modes)[N], int argc, char **argv)
{
    for (const mode &m : modes) {
        if (argc != 2 || std::strcmp(argv[1], m.name) != 0)
            continue;
        const size_t wrong = m.run();
        std::printf("%s: wrong=%zu\n%s\n", m.name, wrong, wrong == 0 ? "PASS" : "FAIL");
        return wrong == 0 ? 0 : 1;
    }
    std::fprintf(stderr, "usage: %s MODE, one of:", argv[0]);
    for (const mode &m : modes)
        std::fprintf(stderr, " %s", m.name);
    std::fprintf(stderr, "\n");
    return 2;
}
