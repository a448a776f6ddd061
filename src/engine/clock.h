// SPDX-License-Identifier: MIT
// The one clock of kreplay: monotonic nanoseconds.
#ifndef KR_CLOCK_H
#define KR_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t kr_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
