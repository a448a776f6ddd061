// SPDX-License-Identifier: MIT
// What replay needs to know of a cubin, the ELF file with one GPU's machine code: its kernels, which of them
// call something that a repetition would repeat, and its writable variables. Knows no driver.
#ifndef KR_CUDA_CUBIN_H
#define KR_CUDA_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kr_cubin_kernel {
    const char *name;
    const char *calls; // an external function with effects beyond memory (vprintf, malloc, ...); NULL = none
    bool heap;         // calls one that changes the device's heap; `calls` names that one then
};

// A variable in global memory. Each has a place of its own when it is loaded, whatever its section looked
// like.
struct kr_cubin_variable {
    const char *name;
    uint64_t bytes;
    bool constant; // made by the compiler for a string: never written
};

struct kr_cubin {
    struct kr_cubin_kernel *kernels;
    size_t kernel_count;
    struct kr_cubin_variable *variables;
    size_t variable_count;
    bool managed;  // has variables in managed memory
    char *strings; // names point here
};

// Copies what it needs. KREPLAY_CORRUPT: not a cubin, or damaged; KREPLAY_NO_MEMORY. *out is NULL then.
int kr_cubin_parse(const void *image, size_t bytes, struct kr_cubin **out);
void kr_cubin_free(struct kr_cubin *cubin); // NULL is fine

const struct kr_cubin_kernel *kr_cubin_find(const struct kr_cubin *cubin,
                                            const char *kernel); // NULL: has none

#endif
