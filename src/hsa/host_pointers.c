// SPDX-License-Identifier: MIT
// Looks for addresses of host memory in captured memory. Most words are none: zeros, and what one subtraction sorts out
// against the span of all ranges; so that looking costs little beside the copy that brought the memory here.
#include "hsa/host_pointers.h"

#include <stdlib.h>

#include "hsa/hooks_memory.h"
#include "hsa/worker.h"

static void add_range(void *arg, const void *base, size_t bytes)
{
    struct kr_hsa_host_ranges *ranges = arg;
    if (ranges->count == ranges->capacity) {
        size_t capacity = ranges->capacity ? 2 * ranges->capacity : 64;
        struct kr_hsa_range *grown = realloc(ranges->list, capacity * sizeof(*grown));
        ranges->incomplete = ranges->incomplete || !grown;
        if (!grown)
            return;
        ranges->list = grown;
        ranges->capacity = capacity;
    }
    ranges->list[ranges->count++] = (struct kr_hsa_range){(uintptr_t)base, bytes};
}

static int by_base(const void *a, const void *b)
{
    uintptr_t left = ((const struct kr_hsa_range *)a)->base, right = ((const struct kr_hsa_range *)b)->base;
    return (left > right) - (left < right);
}

// Ranges may overlap: a program can lock one twice. Afterwards they are disjoint and ascending.
static void merge(struct kr_hsa_host_ranges *ranges)
{
    size_t kept = 0;
    if (ranges->count > 1)
        qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_base);
    for (size_t i = 0; i < ranges->count; i++) {
        struct kr_hsa_range range = ranges->list[i];
        struct kr_hsa_range *last = kept > 0 ? &ranges->list[kept - 1] : NULL;
        if (last && range.base <= last->base + last->bytes) {
            size_t end = range.base - last->base + range.bytes;
            last->bytes = end > last->bytes ? end : last->bytes;
        } else {
            ranges->list[kept++] = range;
        }
    }
    ranges->count = kept;
}

void kr_hsa_host_pointers_begin(struct kr_hsa_agent *agent)
{
    struct kr_hsa_host_ranges *ranges = &agent->host_ranges;
    ranges->count = 0;
    ranges->looking = true;
    ranges->found = false;
    ranges->incomplete = false;
    kr_inventory_visit(kr_hsa.engine, KR_MEMORY_HOST, add_range, ranges);
    kr_hsa_locked_visit(add_range, ranges);
    merge(ranges);
}

static bool in_ranges(const struct kr_hsa_host_ranges *ranges, uintptr_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address - ranges->list[middle].base < ranges->list[middle].bytes)
            return true;
        if (address < ranges->list[middle].base)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

enum { STRIDE = 8 }; // words looked at together

// Is one of the words worth a closer look? No range begins at 0.
static bool any_within(const uint64_t words[STRIDE], uint64_t low, uint64_t span)
{
    uint64_t ones = 0;
    unsigned within = 0;
    for (size_t i = 0; i < STRIDE; i++)
        ones |= words[i];
    for (size_t i = 0; ones != 0 && i < STRIDE; i++)
        within += words[i] - low < span;
    return within > 0;
}

static bool any_in_ranges(const struct kr_hsa_host_ranges *ranges, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (in_ranges(ranges, words[i]))
            return true;
    return false;
}

void kr_hsa_host_pointers_look(const void *bytes, size_t size)
{
    struct kr_hsa_agent *self = kr_hsa_worker_self();
    if (!self || !self->host_ranges.looking || self->host_ranges.found || self->host_ranges.count == 0)
        return;
    struct kr_hsa_host_ranges *ranges = &self->host_ranges;
    const struct kr_hsa_range *last = &ranges->list[ranges->count - 1];
    const uint64_t low = ranges->list[0].base, span = last->base + last->bytes - low;
    const uint64_t *words = bytes;
    const size_t count = size / sizeof(*words);
    size_t i = 0;
    for (; i + STRIDE <= count && !ranges->found; i += STRIDE)
        ranges->found = any_within(&words[i], low, span) && any_in_ranges(ranges, &words[i], STRIDE);
    ranges->found = ranges->found || any_in_ranges(ranges, &words[i], count - i);
}

void kr_hsa_host_pointers_missed(void)
{
    struct kr_hsa_agent *self = kr_hsa_worker_self();
    if (self && self->host_ranges.looking)
        self->host_ranges.incomplete = true;
}

kreplay_reason kr_hsa_host_pointers_found(void *ctx, uint32_t agent)
{
    (void)ctx;
    struct kr_hsa_host_ranges *ranges = &kr_hsa.agents[agent].host_ranges;
    ranges->looking = false; // nobody asks again in this window
    return ranges->found || ranges->incomplete ? KREPLAY_REASON_HOST_MEMORY : KREPLAY_REASON_NONE;
}

void kr_hsa_host_pointers_end(struct kr_hsa_agent *agent)
{
    agent->host_ranges.looking = false;
}

void kr_hsa_host_pointers_close(struct kr_hsa_agent *agent)
{
    free(agent->host_ranges.list);
    agent->host_ranges = (struct kr_hsa_host_ranges){0};
}
