// SPDX-License-Identifier: MIT
// Block maps: one byte for each block of captured memory, and the walk over them in runs.
#ifndef KR_WRITESET_H
#define KR_WRITESET_H

#include "engine/snapshot.h"

// A run of marked blocks of one region.
struct kr_span {
    struct kr_region *region;
    size_t offset, bytes; // in the region
    size_t saved;         // where its bytes stand when the runs of a map are laid one after another (aligned)
};

struct kr_walk { // zero it to start
    size_t region, block, saved;
};

// Next run of `map`, in address order; false at the end. Runs of dead regions come too: their place in the
// saved order counts. After the end walk->saved is the size of all.
bool kr_span_next(struct kr_shadow *shadow, const uint8_t *map, size_t block_bytes, struct kr_walk *walk,
                  struct kr_span *span);

size_t kr_blocks(size_t bytes, size_t block_bytes);
// Gives each region its place in the maps and makes the maps large enough.
int kr_maps_lay_out(struct kr_shadow *shadow, size_t block_bytes);

#endif
