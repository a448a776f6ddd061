// SPDX-License-Identifier: MIT
// Owns the block maps.
#include "engine/writeset.h"

#include "engine/internal.h"

#include <string.h>

#define SAVED_ALIGN 64 // runs of the saved buffer start on a cache line

size_t kr_blocks(size_t bytes, size_t block_bytes)
{
    return bytes / block_bytes + (bytes % block_bytes != 0);
}

int kr_maps_lay_out(struct kr_shadow *shadow, size_t block_bytes)
{
    size_t blocks = 0, capacity = shadow->block_capacity;
    for (size_t i = 0; i < shadow->region_count; i++) {
        shadow->regions[i].first_block = blocks;
        blocks += kr_blocks(shadow->regions[i].bytes, block_bytes);
    }
    if (kr_grow((void **)&shadow->write_set, &capacity, blocks, 1) != 0)
        return KREPLAY_NO_MEMORY;
    if (kr_grow((void **)&shadow->changed, &shadow->block_capacity, blocks, 1) != 0)
        return KREPLAY_NO_MEMORY;
    if (kr_grow((void **)&shadow->comparisons, &shadow->comparison_capacity, shadow->region_count,
                sizeof *shadow->comparisons) != 0)
        return KREPLAY_NO_MEMORY;
    shadow->block_count = blocks;
    return 0;
}

bool kr_span_next(struct kr_shadow *shadow, const uint8_t *map, size_t block_bytes, struct kr_walk *walk,
                  struct kr_span *span)
{
    for (; walk->region < shadow->region_count; walk->region++, walk->block = 0) {
        struct kr_region *region = &shadow->regions[walk->region];
        const uint8_t *first = map + region->first_block,
                      *end = first + kr_blocks(region->bytes, block_bytes);
        const uint8_t *from = first + walk->block;
        from = from < end ? memchr(from, 1, (size_t)(end - from)) : NULL;
        if (!from)
            continue;
        const uint8_t *to = memchr(from, 0, (size_t)(end - from));
        if (!to)
            to = end;
        walk->block = (size_t)(to - first);
        size_t offset = (size_t)(from - first) * block_bytes;
        size_t stop = to == end ? region->bytes : walk->block * block_bytes;
        *span = (struct kr_span){region, offset, stop - offset, walk->saved};
        walk->saved += (span->bytes + SAVED_ALIGN - 1) / SAVED_ALIGN * SAVED_ALIGN;
        return true;
    }
    return false;
}
