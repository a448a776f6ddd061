// SPDX-License-Identifier: MIT
// Which launches of a kernel are meant, in rocprofv3's notation: "[1,2,[5-8]]", "3" or "2-4", from 1.
#ifndef KR_ITERATIONS_H
#define KR_ITERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kr_iterations {
    struct kr_iteration_range {
        uint64_t first, last;
    } * ranges;
    size_t count; // 0: all launches
};

// Blank text means all. On error nothing is left to free: KREPLAY_INVALID with a one-line `error`,
// KREPLAY_NO_MEMORY.
int kr_iterations_parse(const char *text, struct kr_iterations *out, char *error, size_t error_bytes);
void kr_iterations_free(struct kr_iterations *iterations); // leaves it empty

bool kr_iterations_have(const struct kr_iterations *iterations, uint64_t launch); // launch from 1

#endif
