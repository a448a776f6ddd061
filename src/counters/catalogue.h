// SPDX-License-Identifier: MIT
// Which hardware counters an architecture has: name, block, event, and how many registers a block has.
#ifndef KR_CATALOGUE_H
#define KR_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

struct kr_counter_def {
    const char *name;
    const char *block; // as in the AQL profile extension: "SQ", "GRBM", ...
    uint32_t event;
    const char *expression; // derived counters (block NULL); NULL for hardware counters
};

struct kr_block_def {
    const char *name;
    uint32_t slots; // counter registers per instance
};

struct kr_catalogue {
    const char *arch; // "gfx90a"
    const struct kr_counter_def *counters;
    size_t counter_count;
    const struct kr_block_def *blocks;
    size_t block_count;
};

// NULL for an architecture without a catalogue. Features after ':' in `arch` are ignored.
const struct kr_catalogue *kr_catalogue_find(const char *arch);
// Names of the architectures that have one, for messages.
const char *kr_catalogue_arches(void);
const struct kr_counter_def *kr_catalogue_counter(const struct kr_catalogue *catalogue, const char *name);
const struct kr_block_def *kr_catalogue_block(const struct kr_catalogue *catalogue, const char *name);

// Up to `max` counter names close to `name` (edit distance, common prefix), best first. Returns how many.
size_t kr_catalogue_near(const struct kr_catalogue *catalogue, const char *name, const char **near,
                         size_t max);

// Checks that the named counters exist, are hardware counters and fit the blocks' registers together (a
// counter named twice takes one). 0, KREPLAY_UNKNOWN_COUNTER, KREPLAY_NO_SLOT or KREPLAY_UNSUPPORTED with a
// one-line `error` that names the counter (with near names) or the block, its slots and the counters.
int kr_catalogue_check_group(const struct kr_catalogue *catalogue, const char *const *names, size_t count,
                             char *error, size_t error_bytes);

#endif
