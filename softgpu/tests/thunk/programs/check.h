// SPDX-License-Identifier: MIT
// Error check shared by the HIP test programs: a failed call ends the program with its text.
#ifndef SG_TEST_CHECK_H
#define SG_TEST_CHECK_H

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define HIP(call)                                                                                            \
    do {                                                                                                     \
        hipError_t error_ = (call);                                                                          \
        if (error_ != hipSuccess) {                                                                          \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_));   \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

#endif
