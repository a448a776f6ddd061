// SPDX-License-Identifier: MIT
// Owns the list of allocations: a sorted array, since look-ups and walks are many and changes are few.
#include "engine/inventory.h"

#include "engine/internal.h"

#include <stdlib.h>
#include <string.h>

int kr_inventory_init(struct kr_inventory *inventory)
{
    *inventory = (struct kr_inventory){0};
    return pthread_rwlock_init(&inventory->lock, NULL) == 0 ? 0 : KREPLAY_NO_MEMORY;
}

void kr_inventory_fini(struct kr_inventory *inventory)
{
    free(inventory->entries);
    pthread_rwlock_destroy(&inventory->lock);
}

void kr_inventory_hold(struct kr_inventory *inventory)
{
    pthread_rwlock_rdlock(&inventory->lock);
}
void kr_inventory_let_go(struct kr_inventory *inventory)
{
    pthread_rwlock_unlock(&inventory->lock);
}

// First entry whose base is above `address`.
static size_t upper(const struct kr_inventory *inventory, const char *address)
{
    size_t low = 0, high = inventory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)inventory->entries[middle].base <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uintptr_t end_of(const struct kr_entry *entry)
{
    return (uintptr_t)entry->base + entry->bytes;
}

static int reserve(struct kr_inventory *inventory)
{
    if (inventory->count < inventory->capacity)
        return 0;
    size_t capacity = inventory->capacity ? inventory->capacity * 2 : 64;
    struct kr_entry *entries = realloc(inventory->entries, capacity * sizeof *entries);
    if (!entries)
        return KREPLAY_NO_MEMORY;
    inventory->entries = entries;
    inventory->capacity = capacity;
    return 0;
}

static int add_locked(struct kr_inventory *inventory, struct kr_entry entry)
{
    uintptr_t end = end_of(&entry);
    size_t first = upper(inventory, entry.base), last = first;

    if (first > 0) {
        struct kr_entry *before = &inventory->entries[first - 1];
        // A variable inside an allocation that is listed already is captured with it.
        if (entry.kind == KR_MEMORY_MODULE && kr_inventory_captured(before) && end <= end_of(before))
            return 0;
        if (before->base == entry.base || end_of(before) > (uintptr_t)entry.base)
            first--;
    }
    // Whatever overlaps was freed without our being told: the runtime never hands out an address twice.
    while (last < inventory->count && (uintptr_t)inventory->entries[last].base < end)
        last++;
    if (first == last) {
        if (reserve(inventory) != 0)
            return KREPLAY_NO_MEMORY;
        last++;
        memmove(&inventory->entries[last], &inventory->entries[first],
                (inventory->count - first) * sizeof entry);
        inventory->count++;
    } else if (last - first > 1) {
        memmove(&inventory->entries[first + 1], &inventory->entries[last],
                (inventory->count - last) * sizeof entry);
        inventory->count -= last - first - 1;
    }
    entry.generation = ++inventory->generation;
    inventory->entries[first] = entry;
    return 0;
}

static int add(struct kr_engine *engine, const struct kr_entry *entry)
{
    struct kr_inventory *inventory = &engine->inventory;
    bool known =
        entry->agent < KR_MAX_AGENTS || (entry->agent == KR_ANY_AGENT && entry->kind == KR_MEMORY_UNTRACKED);
    if (!entry->base || !known || entry->bytes > UINTPTR_MAX - (uintptr_t)entry->base)
        return KREPLAY_INVALID;
    pthread_rwlock_wrlock(&inventory->lock);
    int status = add_locked(inventory, *entry);
    pthread_rwlock_unlock(&inventory->lock);
    return status;
}

int kr_inventory_add(struct kr_engine *engine, uint32_t agent, void *base, size_t bytes,
                     enum kr_memory_kind kind)
{
    return add(engine, &(struct kr_entry){.base = base, .bytes = bytes, .agent = agent, .kind = kind});
}

int kr_inventory_add_vmem(struct kr_engine *engine, uint32_t agent, void *base, size_t bytes)
{
    const struct kr_entry entry = {
        .base = base, .bytes = bytes, .agent = agent, .kind = KR_MEMORY_UNTRACKED, .vmem = true};
    return add(engine, &entry);
}

static void remove_held(struct kr_inventory *inventory, size_t first, size_t count)
{
    memmove(&inventory->entries[first], &inventory->entries[first + count],
            (inventory->count - first - count) * sizeof *inventory->entries);
    inventory->count -= count;
}

bool kr_inventory_take(struct kr_engine *engine, void *base, struct kr_taken *taken)
{
    struct kr_inventory *inventory = &engine->inventory;
    pthread_rwlock_wrlock(&inventory->lock);
    size_t next = upper(inventory, base);
    bool found = next > 0 && inventory->entries[next - 1].base == base;
    if (found) {
        const struct kr_entry *entry = &inventory->entries[next - 1];
        *taken = (struct kr_taken){entry->base, entry->bytes, entry->agent, entry->kind, entry->vmem};
        remove_held(inventory, next - 1, 1);
    }
    pthread_rwlock_unlock(&inventory->lock);
    return found;
}

int kr_inventory_put_back(struct kr_engine *engine, const struct kr_taken *taken)
{
    const struct kr_entry entry = {.base = taken->base,
                                   .bytes = taken->bytes,
                                   .agent = taken->agent,
                                   .kind = taken->kind,
                                   .vmem = taken->vmem};
    return add(engine, &entry);
}

void kr_inventory_remove(struct kr_engine *engine, void *base)
{
    struct kr_taken unused;
    kr_inventory_take(engine, base, &unused);
}

size_t kr_inventory_remove_range(struct kr_engine *engine, void *base, size_t bytes)
{
    struct kr_inventory *inventory = &engine->inventory;
    size_t count = 0;
    pthread_rwlock_wrlock(&inventory->lock);
    size_t first = upper(inventory, base);
    if (first > 0 && inventory->entries[first - 1].base == base)
        first--;
    while (first + count < inventory->count &&
           (uintptr_t)inventory->entries[first + count].base - (uintptr_t)base < bytes)
        count++;
    if (count > 0)
        remove_held(inventory, first, count);
    pthread_rwlock_unlock(&inventory->lock);
    return count;
}

bool kr_inventory_find(struct kr_engine *engine, const void *address, enum kr_memory_kind *kind, void **base,
                       size_t *bytes)
{
    struct kr_inventory *inventory = &engine->inventory;
    bool found = false;
    pthread_rwlock_rdlock(&inventory->lock);
    size_t next = upper(inventory, address);
    if (next > 0 && (uintptr_t)address < end_of(&inventory->entries[next - 1])) {
        const struct kr_entry *entry = &inventory->entries[next - 1];
        found = true;
        *kind = entry->kind;
        if (base)
            *base = entry->base;
        if (bytes)
            *bytes = entry->bytes;
    }
    pthread_rwlock_unlock(&inventory->lock);
    return found;
}

bool kr_inventory_covers(struct kr_engine *engine, uint32_t agent, const void *address)
{
    struct kr_inventory *inventory = &engine->inventory;
    bool covered = false;
    pthread_rwlock_rdlock(&inventory->lock);
    size_t next = upper(inventory, address);
    if (next > 0 && (uintptr_t)address < end_of(&inventory->entries[next - 1])) {
        const struct kr_entry *entry = &inventory->entries[next - 1];
        covered = kr_inventory_captured(entry) && entry->agent < engine->agent_count &&
                  (engine->agents[entry->agent].accessors >> agent & 1) != 0;
    }
    pthread_rwlock_unlock(&inventory->lock);
    return covered;
}

void kr_inventory_visit(struct kr_engine *engine, enum kr_memory_kind kind,
                        void (*visit)(void *arg, const void *base, size_t bytes), void *arg)
{
    const struct kr_inventory *inventory = &engine->inventory;
    pthread_rwlock_rdlock(&engine->inventory.lock);
    for (size_t i = 0; i < inventory->count; i++)
        if (inventory->entries[i].kind == kind)
            visit(arg, inventory->entries[i].base, inventory->entries[i].bytes);
    pthread_rwlock_unlock(&engine->inventory.lock);
}

bool kr_inventory_lives(const struct kr_inventory *inventory, const void *base, size_t bytes,
                        uint64_t generation)
{
    size_t next = upper(inventory, base);
    if (next == 0)
        return false;
    const struct kr_entry *entry = &inventory->entries[next - 1];
    return entry->base == base && entry->bytes == bytes && entry->generation == generation;
}

bool kr_inventory_captured(const struct kr_entry *entry)
{
    return (entry->kind == KR_MEMORY_DEVICE || entry->kind == KR_MEMORY_MODULE) && entry->bytes > 0;
}

struct kr_footprint kr_inventory_footprint(struct kr_inventory *inventory, uint64_t agents)
{
    struct kr_footprint footprint = {0};
    kr_inventory_hold(inventory);
    for (size_t i = 0; i < inventory->count; i++) {
        const struct kr_entry *entry = &inventory->entries[i];
        if (entry->agent != KR_ANY_AGENT && !(agents >> entry->agent & 1))
            continue;
        if (kr_inventory_captured(entry)) {
            footprint.bytes += entry->bytes;
            footprint.regions++;
        } else if (entry->kind == KR_MEMORY_UNTRACKED) {
            footprint.untracked_bytes += entry->bytes;
            footprint.untracked_regions++;
            footprint.vmem_bytes += entry->vmem ? entry->bytes : 0;
            footprint.vmem_regions += entry->vmem;
        }
    }
    kr_inventory_let_go(inventory);
    return footprint;
}
