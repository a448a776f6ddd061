// SPDX-License-Identifier: MIT
// Owns everything that writes captured memory: restores between passes, and putting the live result back.
#include "engine/restore.h"

#include "engine/buffers.h"
#include "engine/internal.h"
#include "engine/writeset.h"

#include <stdlib.h>
#include <string.h>

int kr_batch_flush(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats)
{
    const struct kr_backend *backend = engine->backend;
    size_t count = shadow->batch_count;

    shadow->batch_count = 0;
    if (count == 0)
        return 0;
    int status = backend->copy(engine->ctx, shadow->agent, KR_PATH_PRIMARY, shadow->batch, count);
    if (status == 0 || kr_fault_on(engine, KR_FAULT_retry))
        return 0;
    // A second copy beside one that is still under way is no retry: the late one would have the last word.
    if (status == KREPLAY_TIMEOUT) {
        shadow->late = true;
        return status;
    }
    if (stats)
        stats->restore_retries++;
    return backend->copy(engine->ctx, shadow->agent, KR_PATH_FALLBACK, shadow->batch, count);
}

int kr_batch_add(struct kr_engine *engine, struct kr_shadow *shadow, void *to, const void *from, size_t bytes,
                 struct kr_stats *stats)
{
    shadow->batch[shadow->batch_count++] = (struct kr_copy){to, from, bytes};
    return shadow->batch_count < KR_BATCH ? 0 : kr_batch_flush(engine, shadow, stats);
}

static void note_the_living(struct kr_engine *engine, struct kr_shadow *shadow)
{
    bool blind = kr_fault_on(engine, KR_FAULT_generation);
    for (size_t i = 0; i < shadow->region_count; i++) {
        struct kr_region *region = &shadow->regions[i];
        region->lives =
            blind || kr_inventory_lives(&engine->inventory, region->base, region->bytes, region->generation);
    }
}

static void all_changed(const struct kr_comparison *item, size_t block_bytes)
{
    memset(item->changed, 1, kr_blocks(item->bytes, block_bytes));
}

static bool compare_list(struct kr_engine *engine, uint32_t agent, const struct kr_comparison *list,
                         size_t count)
{
    const struct kr_backend *backend = engine->backend;
    size_t block_bytes = engine->bounds.block_bytes;
    bool sure = true;

    if (backend->compare_all) {
        sure = backend->compare_all(engine->ctx, agent, list, count, block_bytes) == 0;
        for (size_t i = 0; i < count && !sure; i++)
            all_changed(&list[i], block_bytes);
        return sure;
    }
    for (size_t i = 0; i < count; i++)
        if (backend->compare(engine->ctx, agent, list[i].a, list[i].b, list[i].bytes, block_bytes,
                             list[i].changed) != 0) {
            all_changed(&list[i], block_bytes);
            sure = false;
        }
    return sure;
}

// shadow->changed = blocks in which memory and S0 differ. A region that cannot be compared counts as changed
// all over. Returns false if there was one.
static bool compare(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats)
{
    size_t count = 0;

    if (shadow->block_count > 0)
        memset(shadow->changed, 0, shadow->block_count);
    if (kr_fault_on(engine, KR_FAULT_compare))
        return true;
    for (size_t i = 0; i < shadow->region_count; i++) {
        const struct kr_region *region = &shadow->regions[i];
        if (!region->lives)
            continue;
        stats->compared_bytes += region->bytes;
        shadow->comparisons[count++] = (struct kr_comparison){region->base, region->copy.at, region->bytes,
                                                              shadow->changed + region->first_block};
    }
    return count == 0 || compare_list(engine, shadow->agent, shadow->comparisons, count);
}

// What a run of blocks is copied between.
enum direction { MEMORY_FROM_S0, MEMORY_FROM_S1, S1_FROM_MEMORY, S0_FROM_S1 };

static int move(struct kr_engine *engine, struct kr_shadow *shadow, const uint8_t *map,
                enum direction direction, uint64_t *moved_bytes, struct kr_stats *stats)
{
    struct kr_walk walk = {0};
    struct kr_span span;
    int status = 0;

    while (status == 0 && kr_span_next(shadow, map, engine->bounds.block_bytes, &walk, &span)) {
        char *memory = span.region->base + span.offset, *s0 = span.region->copy.at + span.offset;
        char *s1 = shadow->saved.at + span.saved;
        if (!span.region->lives)
            continue;
        *moved_bytes += span.bytes;
        switch (direction) {
        case MEMORY_FROM_S0:
            status = kr_batch_add(engine, shadow, memory, s0, span.bytes, stats);
            break;
        case MEMORY_FROM_S1:
            status = kr_batch_add(engine, shadow, memory, s1, span.bytes, stats);
            break;
        case S1_FROM_MEMORY:
            status = kr_batch_add(engine, shadow, s1, memory, span.bytes, stats);
            break;
        case S0_FROM_S1:
            status = kr_batch_add(engine, shadow, s0, s1, span.bytes, stats);
            break;
        }
    }
    if (status == 0)
        status = kr_batch_flush(engine, shadow, stats);
    shadow->batch_count = 0;
    return status;
}

// Moves that have no alternative (invariant 6). Nor has one that does not end.
static void move_or_abort(struct kr_engine *engine, struct kr_shadow *shadow, const uint8_t *map,
                          enum direction direction, struct kr_stats *stats)
{
    int status = move(engine, shadow, map, direction, &stats->restored_bytes, stats);
    if (status == 0)
        return;
    kr_engine_say(engine, KR_LEVEL_FATAL,
                  "memory of GPU %u could not be put back over either path (%s); there is no correct way "
                  "to go on",
                  shadow->agent, kreplay_status_text(status));
    abort();
}

static int save_live_held(struct kr_engine *engine, struct kr_shadow *shadow, bool all,
                          struct kr_stats *stats)
{
    struct kr_walk walk = {0};
    struct kr_span span;

    note_the_living(engine, shadow);
    if (!all || engine->backend->object) // a back end may have to see memory to know that all is well
        compare(engine, shadow, stats);
    if (shadow->block_count > 0 && all)
        memset(shadow->write_set, 1, shadow->block_count);
    else if (shadow->block_count > 0)
        memcpy(shadow->write_set, shadow->changed, shadow->block_count);

    while (kr_span_next(shadow, shadow->write_set, engine->bounds.block_bytes, &walk, &span))
        continue;
    if (walk.saved > shadow->saved.bytes) {
        size_t bytes = walk.saved + walk.saved / 2;
        kr_buffer_free(engine, shadow, &shadow->saved);
        // Half more than needed, so that a slowly growing write set does not allocate in each window.
        if (kr_buffer_get(engine, shadow, bytes, &shadow->saved) != KREPLAY_REASON_NONE &&
            kr_buffer_get(engine, shadow, walk.saved, &shadow->saved) != KREPLAY_REASON_NONE)
            return KREPLAY_NO_MEMORY;
    }
    shadow->write_set_bytes = 0;
    return move(engine, shadow, shadow->write_set, S1_FROM_MEMORY, &shadow->write_set_bytes, NULL);
}

int kr_shadow_save_live(struct kr_engine *engine, struct kr_shadow *shadow, bool all, struct kr_stats *stats)
{
    kr_inventory_hold(&engine->inventory);
    int status = save_live_held(engine, shadow, all, stats);
    kr_inventory_let_go(&engine->inventory);
    return status;
}

void kr_shadow_restore(struct kr_engine *engine, struct kr_shadow *shadow, bool search,
                       struct kr_stats *stats)
{
    if (kr_fault_on(engine, KR_FAULT_restore))
        return;
    kr_inventory_hold(&engine->inventory);
    note_the_living(engine, shadow);
    if (search)
        compare(engine, shadow, stats);
    move_or_abort(engine, shadow, search ? shadow->changed : shadow->write_set, MEMORY_FROM_S0, stats);
    kr_inventory_let_go(&engine->inventory);
}

static size_t finish_held(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats)
{
    uint64_t merged_bytes = 0;
    size_t differing = 0;

    note_the_living(engine, shadow);
    // With S1 laid over S0 the shadow is what memory has to be, in one piece: one comparison finds all that
    // is off.
    bool merged = move(engine, shadow, shadow->write_set, S0_FROM_S1, &merged_bytes, NULL) == 0;
    if (!merged)
        move_or_abort(engine, shadow, shadow->write_set, MEMORY_FROM_S1, stats);
    bool sure = compare(engine, shadow, stats);
    for (size_t i = 0; i < shadow->block_count; i++) {
        if (!merged && shadow->write_set[i])
            shadow->changed[i] = 0; // S0 is damaged there, and memory is right already
        differing += shadow->changed[i];
    }
    move_or_abort(engine, shadow, shadow->changed, MEMORY_FROM_S0, stats);
    return sure ? differing : 0; // not compared is not found different
}

size_t kr_shadow_finish(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats)
{
    if (kr_fault_on(engine, KR_FAULT_finish))
        return 0;
    kr_inventory_hold(&engine->inventory);
    size_t differing = finish_held(engine, shadow, stats);
    kr_inventory_let_go(&engine->inventory);
    return differing;
}
