// SPDX-License-Identifier: MIT
// All memory that matters for replay, ordered by address. An entry's generation is new with every
// kr_inventory_add, so that a reused address is never taken for the allocation that was captured.
#ifndef KR_INVENTORY_H
#define KR_INVENTORY_H

#include "engine/engine.h"

#include <pthread.h>

struct kr_entry {
    char *base;
    size_t bytes;
    uint64_t generation;
    uint32_t agent; // KR_ANY_AGENT: counts for all
    enum kr_memory_kind kind;
    bool vmem; // a mapping of virtual memory
};

struct kr_inventory {
    pthread_rwlock_t lock;
    struct kr_entry *entries; // ascending, no two overlap
    size_t count, capacity;
    uint64_t generation; // of the entry added last
};

struct kr_footprint {
    uint64_t bytes, regions;                     // that a window has to capture
    uint64_t untracked_bytes, untracked_regions; // that it cannot
    uint64_t vmem_bytes, vmem_regions;           // of these, mappings of virtual memory
};

int kr_inventory_init(struct kr_inventory *inventory);
void kr_inventory_fini(struct kr_inventory *inventory);

// Whoever reads or writes captured memory holds the read lock meanwhile: an entry that is there then stays
// there, because a free is told before it happens.
void kr_inventory_hold(struct kr_inventory *inventory);
void kr_inventory_let_go(struct kr_inventory *inventory);
// With the lock held: is the captured allocation still there, whole?
bool kr_inventory_lives(const struct kr_inventory *inventory, const void *base, size_t bytes,
                        uint64_t generation);
bool kr_inventory_captured(const struct kr_entry *entry); // is it of a kind, and of a size, that is captured?

struct kr_footprint kr_inventory_footprint(struct kr_inventory *inventory, uint64_t agents);

#endif
