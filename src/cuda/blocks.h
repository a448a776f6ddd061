// SPDX-License-Identifier: MIT
// Comparing and scattering blocks of memory on the device.
#ifndef KR_CUDA_BLOCKS_H
#define KR_CUDA_BLOCKS_H

#include "cuda/driver.h"
#include "engine/backend.h"

struct kr_range {
    uint64_t base, bytes;
};

// Addresses that are looked for in the memory that is compared.
struct kr_ranges {
    struct kr_range *list;
    size_t count;
};

struct kr_blocks {
    CUmodule module;
    CUfunction compare, scatter;
    CUdeviceptr memory;    // on the device: lists of a comparison, and the map of its blocks
    unsigned char *staged; // pinned host memory: the same, or the list of a scatter
    size_t memory_bytes, staged_bytes;
    bool late; // the stream may still use the buffers: a wait for it was given up
};

// With the context current, as all below. Buffers are kept for the life of the context. *step = the call that failed.
CUresult kr_blocks_set_up(struct kr_blocks *blocks, const struct kr_driver *driver, const char **step);
// As backend.h's compare_all and copy; complete on return, unless that takes longer than `bound_ns`. *found becomes
// true if an aligned word of either side is an address within `ranges`.
int kr_blocks_compare(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                      uint64_t bound_ns, const struct kr_comparison *list, size_t count, size_t block_bytes,
                      const struct kr_ranges *ranges, bool *found);
int kr_blocks_copy(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   uint64_t bound_ns, const struct kr_copy *list, size_t count);

#endif
