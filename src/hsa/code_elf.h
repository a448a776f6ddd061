// SPDX-License-Identifier: MIT
// What kreplay needs to see in a code object's ELF file: which of its loaded memory kernels may write,
// whether it has managed variables, and where its metadata is. Everything is bounds-checked; the bytes come
// from the program.
#ifndef KR_HSA_CODE_ELF_H
#define KR_HSA_CODE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kr_code_elf {
    // Notes, inside the file, for kr_code_elf_metadata(); NULL if there are none.
    const void *notes;
    size_t notes_bytes;
    // Has `__managed__` variables: kernels reach host memory through them without an argument that says so.
    bool managed;
};

typedef void (*kr_code_elf_range_fn)(void *arg, uint64_t address, uint64_t bytes);

// Calls `writable` for each range of loaded addresses (before the load delta is added) that holds writable
// data: by section flags, or by segments when the file has no section table. False if this is no 64-bit
// little-endian ELF file, or a range wraps.
bool kr_code_elf_read(const void *file, size_t bytes, struct kr_code_elf *out, kr_code_elf_range_fn writable,
                      void *arg);

// Takes the next AMDGPU metadata note (msgpack) off the file's notes. A code object that was linked together from
// others, as those of rocBLAS are, has one of each. False: there is no more.
bool kr_code_elf_metadata(struct kr_code_elf *elf, const void **metadata, size_t *bytes);

#endif
