// SPDX-License-Identifier: MIT
// The kernel descriptions in a code object's metadata note (msgpack, as LLVM's AMDGPU usage guide describes
// it).
#ifndef KR_HSA_METADATA_H
#define KR_HSA_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kr_kernel_metadata {
    const char *symbol; // descriptor symbol, "name.kd"; not terminated
    size_t symbol_length;
    uint32_t vgprs, agprs, sgprs;
    // Talks to the host while it runs (printf, host calls, device enqueue): a repetition would be heard
    // twice.
    bool talks_to_host;
    // Bit n: the n-th 8-byte word of the arguments is a pointer through which the kernel only reads.
    uint64_t read_only_words;
    // Bit n: the n-th word is how it talks to the host.
    uint64_t host_words;
};

// Calls `visit` for each kernel. False if the bytes are no such metadata.
bool kr_metadata_kernels(const void *note, size_t bytes,
                         void (*visit)(void *arg, const struct kr_kernel_metadata *k), void *arg);

#endif
