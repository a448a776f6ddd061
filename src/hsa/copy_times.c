// SPDX-License-Identifier: MIT
// An open-addressing table by signal handle. Programs reuse their signals, so it stays small and nothing is
// removed.
#include "hsa/copy_times.h"

#include <stdlib.h>

struct entry {
    uint64_t signal; // 0 = free
    hsa_amd_profiling_async_copy_time_t time;
};

static struct entry *entries;
static size_t capacity, count; // capacity: a power of two

static struct entry *place(struct entry *table, size_t size, uint64_t signal)
{
    size_t at = (size_t)(signal >> 6) * 0x9e3779b1u & (size - 1);
    while (table[at].signal && table[at].signal != signal)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static bool grow(void)
{
    size_t size = capacity ? capacity * 2 : 256;
    struct entry *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    for (size_t i = 0; i < capacity; i++)
        if (entries[i].signal)
            *place(table, size, entries[i].signal) = entries[i];
    free(entries);
    entries = table;
    capacity = size;
    return true;
}

void kr_hsa_copy_times_put(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t time)
{
    if (2 * count >= capacity && !grow() && count + 1 >= capacity)
        return; // no memory: the copy has no times
    struct entry *entry = place(entries, capacity, signal.handle);
    count += entry->signal == 0;
    *entry = (struct entry){signal.handle, time};
}

bool kr_hsa_copy_times_get(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    if (capacity == 0)
        return false;
    const struct entry *entry = place(entries, capacity, signal.handle);
    if (entry->signal != signal.handle)
        return false;
    *time = entry->time;
    return true;
}
