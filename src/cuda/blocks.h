// SPDX-License-Identifier: MIT
// Comparing and scattering blocks of memory on the device.
#ifndef KR_CUDA_BLOCKS_H
#define KR_CUDA_BLOCKS_H

#include "cuda/driver.h"
#include "engine/backend.h"

struct kr_blocks {
    CUfunction compare, scatter;
    CUdeviceptr map;       // of a comparison, on the device
    unsigned char *staged; // pinned host memory: map of a comparison, list of a scatter
    size_t map_bytes, staged_bytes;
};

// With the context current, as all below. Buffers are kept for the life of the context.
int kr_blocks_set_up(struct kr_blocks *blocks, const struct kr_driver *driver);
// As backend.h's compare and copy; complete on return.
int kr_blocks_compare(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                      const void *a, const void *b, size_t bytes, size_t block_bytes, uint8_t *changed);
int kr_blocks_copy(struct kr_blocks *blocks, const struct kr_driver *driver, CUstream stream,
                   const struct kr_copy *list, size_t count);

#endif
