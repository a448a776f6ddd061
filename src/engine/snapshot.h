// SPDX-License-Identifier: MIT
// The shadow of one agent: a copy (S0) of every captured region as it was when the window opened, and the
// live result (S1) of the blocks that the live execution wrote. Buffers stay from window to window. Used by
// the writer of the agent's gate only; kr_shadow_give_back by its readers.
//
// The functions that touch captured memory hold the inventory meanwhile and leave regions alone that died
// (invariant 4).
#ifndef KR_SNAPSHOT_H
#define KR_SNAPSHOT_H

#include "engine/engine.h"

#include <pthread.h>

struct kr_buffer {
    char *at; // NULL = none
    size_t bytes;
    enum kr_place place;
};

struct kr_region {
    char *base;
    size_t bytes;
    uint64_t generation;
    struct kr_buffer copy; // S0; at least `bytes`
    size_t first_block;    // index into the block maps
    bool filled;           // the copy has held the region's content before
    bool lives;            // valid while the inventory is held
};

#define KR_BATCH 256 // copies handed to the back end at once

struct kr_shadow {
    uint32_t agent;
    pthread_mutex_t lock;      // of give-back
    struct kr_region *regions; // ascending addresses
    size_t region_count, region_capacity;
    struct kr_region *next_regions; // scratch of the same kind
    size_t next_capacity;
    struct kr_buffer *idle; // buffers of regions that are gone
    size_t idle_count, idle_capacity;
    struct kr_buffer saved;       // S1
    uint64_t host_bytes;          // of all buffers above that are host memory
    uint8_t *write_set, *changed; // one byte a block: W; result of the last compare
    size_t block_count, block_capacity;
    struct kr_comparison *comparisons; // scratch: one a region
    size_t comparison_capacity;
    uint64_t write_set_bytes;
    struct kr_copy batch[KR_BATCH];
    size_t batch_count;
    // A copy that timed out may still write into the buffers above: they are neither freed nor used until the
    // next capture, which comes after a drain of the agent.
    bool late;
};

struct kr_stats { // what the steps add to an outcome
    uint64_t compared_bytes, restored_bytes;
    uint32_t restore_retries;
};

int kr_shadow_init(struct kr_shadow *shadow, uint32_t agent);
void kr_shadow_fini(struct kr_engine *engine, struct kr_shadow *shadow);

// S0 becomes equal to captured memory, of which *copied_bytes had to be copied. NONE, SNAPSHOT_FAILED or
// FOOTPRINT_BUDGET.
kreplay_reason kr_shadow_capture(struct kr_engine *engine, struct kr_shadow *shadow, uint64_t *copied_bytes);

// W = what differs from S0 now (`all`: every block), and S1 = its content. Non-zero: S1 could not be saved,
// nothing else has changed.
int kr_shadow_save_live(struct kr_engine *engine, struct kr_shadow *shadow, bool all, struct kr_stats *stats);

// Memory becomes S0 again where W says, or (`search`) where a comparison says. Aborts if both paths fail.
void kr_shadow_restore(struct kr_engine *engine, struct kr_shadow *shadow, bool search,
                       struct kr_stats *stats);

// Memory becomes what the live execution left, and so does S0. Returns the blocks that had to be put back.
// Aborts if both paths fail.
size_t kr_shadow_finish(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats);

// Frees all buffers, if that can be; the next capture starts anew. Returns the device bytes freed.
uint64_t kr_shadow_give_back(struct kr_engine *engine, struct kr_shadow *shadow);

#endif
