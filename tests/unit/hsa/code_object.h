// SPDX-License-Identifier: MIT
// Code objects for tests, put together in memory: ELF headers, sections, a metadata note.
#ifndef TEST_HSA_CODE_OBJECT_H
#define TEST_HSA_CODE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    unsigned char data[8192];
    size_t size;
};

// ---- msgpack, written item by item
void pack_map(struct bytes *b, unsigned pairs);   // up to 15
void pack_array(struct bytes *b, unsigned count); // up to 15
void pack_text(struct bytes *b, const char *text);
void pack_number(struct bytes *b, uint32_t value);

// One kernel of the metadata: `symbol` with its arguments.
struct test_argument {
    const char *value_kind, *access; // access may be NULL
    uint32_t offset, size;
};
struct test_kernel {
    const char *symbol;
    const struct test_argument *arguments;
    unsigned argument_count;
};
void make_metadata(struct bytes *b, const struct test_kernel *kernels, unsigned count);

// An ELF file with .data (64 bytes at 0x2000, writable), .bss (32 at 0x2040), .rodata (at 0x1000), a note,
// and a symbol `variable` in .data. Without `sections` there are only program headers.
void make_code_object(struct bytes *b, const struct bytes *metadata, unsigned count, const char *variable,
                      bool sections);

#endif
