// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a gfx90a code object, and as its metadata. Ranges that are reported must not wrap.
#include "hsa/code_elf.h"
#include "hsa/metadata.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void range(void *arg, uint64_t address, uint64_t bytes)
{
    (void)arg;
    if (bytes > 0 && address + bytes - 1 < address)
        abort();
}

static void kernel(void *arg, const struct kr_kernel_metadata *k)
{
    unsigned *sum = arg;
    for (size_t i = 0; i < k->symbol_length; i++)
        *sum += (unsigned char)k->symbol[i]; // all of it can be read
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kr_code_elf elf = {0};
    unsigned sum = 0;
    const void *metadata;
    size_t bytes;
    bool readable = kr_code_elf_read(data, size, &elf, range, NULL);
    while (readable && kr_code_elf_metadata(&elf, &metadata, &bytes))
        kr_metadata_kernels(metadata, bytes, kernel, &sum);
    kr_metadata_kernels(data, size, kernel, &sum);
    return 0;
}
