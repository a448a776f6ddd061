// SPDX-License-Identifier: MIT
// Sorted array of ranges with a running maximum of their ends, so that a look-up among overlapping ranges
// stops early.
#include "softgpu/mem/range_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Index of the first range with base > address.
static size_t upper_bound(const struct sg_range_map *map, uint64_t address)
{
    size_t lo = 0, hi = map->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (map->ranges[mid].base > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void update_max_end(struct sg_range_map *map, size_t from)
{
    uint64_t max_end = from ? map->ranges[from - 1].max_end : 0;
    for (size_t i = from; i < map->count; i++) {
        if (map->ranges[i].end > max_end)
            max_end = map->ranges[i].end;
        map->ranges[i].max_end = max_end;
    }
}

int sg_range_map_insert(struct sg_range_map *map, uint64_t base, uint64_t bytes, void *item)
{
    if (!bytes || base + bytes < base || !item)
        return -EINVAL;
    if (map->count == map->capacity) {
        size_t capacity = map->capacity ? map->capacity * 2 : 64;
        struct sg_range *grown = realloc(map->ranges, capacity * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        map->ranges = grown;
        map->capacity = capacity;
    }
    size_t at = upper_bound(map, base);
    memmove(&map->ranges[at + 1], &map->ranges[at], (map->count - at) * sizeof(map->ranges[0]));
    map->ranges[at] = (struct sg_range){.base = base, .end = base + bytes, .item = item};
    map->count++;
    update_max_end(map, at);
    return 0;
}

// Index + 1 of the range at `base` that carries `item`, 0 if there is none.
static size_t position(const struct sg_range_map *map, uint64_t base, const void *item)
{
    size_t i = upper_bound(map, base);
    while (i > 0 && map->ranges[i - 1].base == base && map->ranges[i - 1].item != item)
        i--;
    return i > 0 && map->ranges[i - 1].base == base ? i : 0;
}

int sg_range_map_remove(struct sg_range_map *map, uint64_t base, const void *item)
{
    size_t i = position(map, base, item);
    if (!i)
        return -ENOENT;
    memmove(&map->ranges[i - 1], &map->ranges[i], (map->count - i) * sizeof(map->ranges[0]));
    map->count--;
    update_max_end(map, i - 1);
    return 0;
}

int sg_range_map_resize(struct sg_range_map *map, uint64_t base, const void *item, uint64_t bytes)
{
    if (!bytes || base + bytes < base)
        return -EINVAL;
    size_t i = position(map, base, item);
    if (!i)
        return -ENOENT;
    map->ranges[i - 1].end = base + bytes;
    update_max_end(map, i - 1);
    return 0;
}

void *sg_range_map_find(const struct sg_range_map *map, uint64_t address, struct sg_range *range)
{
    for (size_t i = upper_bound(map, address); i > 0 && map->ranges[i - 1].max_end > address; i--) {
        if (map->ranges[i - 1].end <= address)
            continue;
        if (range)
            *range = map->ranges[i - 1];
        return map->ranges[i - 1].item;
    }
    return NULL;
}

void *sg_range_map_at(const struct sg_range_map *map, uint64_t base)
{
    size_t i = upper_bound(map, base);
    return i > 0 && map->ranges[i - 1].base == base ? map->ranges[i - 1].item : NULL;
}

void sg_range_map_around(const struct sg_range_map *map, uint64_t address, void **before, void **after)
{
    size_t i = upper_bound(map, address);
    *before = i > 0 ? map->ranges[i - 1].item : NULL;
    *after = i < map->count ? map->ranges[i].item : NULL;
}

void sg_range_map_clear(struct sg_range_map *map)
{
    free(map->ranges);
    *map = (struct sg_range_map){0};
}
