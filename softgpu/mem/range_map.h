// SPDX-License-Identifier: MIT
// An address-ordered map of ranges that may overlap, each with an item of the caller's. A sorted array:
// ranges are few (ROCr sub-allocates), looked up often and seldom changed. Takes no lock; the caller holds
// one.
#ifndef SG_RANGE_MAP_H
#define SG_RANGE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct sg_range {
    uint64_t base, end; // [base, end)
    uint64_t max_end;   // largest end among this range and all before it: bounds the search backwards
    void *item;         // never NULL; owned by the caller
};

// Zero-initialised is an empty map.
struct sg_range_map {
    struct sg_range *ranges; // sorted by base
    size_t count, capacity;
};

// Adds [base, base + bytes). 0 or -ENOMEM, or -EINVAL when the range is empty or wraps.
int sg_range_map_insert(struct sg_range_map *map, uint64_t base, uint64_t bytes, void *item);

// Removes the range that carries `item`. Returns 0, or -ENOENT.
int sg_range_map_remove(struct sg_range_map *map, uint64_t base, const void *item);

// Gives the range that carries `item` a new size. 0, -ENOENT or -EINVAL as above.
int sg_range_map_resize(struct sg_range_map *map, uint64_t base, const void *item, uint64_t bytes);

// Item of the range that contains `address` and has the highest base; NULL if none. The range goes to *range
// if range is not NULL.
void *sg_range_map_find(const struct sg_range_map *map, uint64_t address, struct sg_range *range);

// Item of a range that starts exactly at `base`, the last added; NULL if none.
void *sg_range_map_at(const struct sg_range_map *map, uint64_t base);

// Items of the ranges with the highest base at or below `address` and the lowest above it; NULL if none.
void sg_range_map_around(const struct sg_range_map *map, uint64_t address, void **before, void **after);

// Frees the array, not the items.
void sg_range_map_clear(struct sg_range_map *map);

#endif
