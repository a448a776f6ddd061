// SPDX-License-Identifier: MIT
// From the kernel object address of a dispatch packet to what a launch needs of it, and to the kernel's name.
#ifndef SG_KERNEL_OBJECT_H
#define SG_KERNEL_OBJECT_H

#include "softgpu/isa/isa.h"

#include <stdint.h>

#define SG_KERNEL_NAME_BYTES 256

// Names of the kernels a queue ran last. Zero-initialised is empty; used by the queue's thread only.
struct sg_kernel_cache {
    struct sg_kernel_cache_slot {
        uint64_t object; // 0 = free
        uint64_t generation;
        char name[SG_KERNEL_NAME_BYTES];
    } slots[64];
};

// Fills entry, rsrc1..3, properties and kernel_name of `launch` (the name lives in `cache`). Returns 0, or -1
// when the address is not in memory that this process gave to a GPU.
int sg_kernel_object_load(struct sg_kernel_cache *cache, uint64_t object, struct sg_launch *launch);

// Code has been loaded or replaced: names of all caches are looked up anew. Any thread.
void sg_kernel_names_invalidate(void);

#endif
