// SPDX-License-Identifier: MIT
// Makes small cubins: the parts of the format that src/cuda/cubin.c reads.
#ifndef MAKE_CUBIN_H
#define MAKE_CUBIN_H

#include <stddef.h>
#include <stdint.h>

#define MAKE_CUBIN_MOST 8

struct make_cubin {
    const char *kernels[MAKE_CUBIN_MOST];
    const char *calls[MAKE_CUBIN_MOST]; // of the kernel at the same place: an external function; NULL = none
    const char *variables[MAKE_CUBIN_MOST]; // 8 bytes each, one after another
    size_t variable_count;
    int managed;              // the last variable is in managed memory
    const char *pointer_only; // a function that no kernel calls by name and that calls vprintf
};

// malloc'ed.
unsigned char *make_cubin(const struct make_cubin *wish, size_t *bytes);

#endif
