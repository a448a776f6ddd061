// SPDX-License-Identifier: MIT
// Owns the shadow: keeps its regions in step with the inventory and brings S0 up to date. What restores is in
// restore.c.
#include "engine/snapshot.h"

#include "engine/buffers.h"
#include "engine/internal.h"
#include "engine/restore.h"
#include "engine/writeset.h"

#include <stdlib.h>
#include <string.h>

int kr_shadow_init(struct kr_shadow *shadow, uint32_t agent)
{
    *shadow = (struct kr_shadow){.agent = agent};
    return pthread_mutex_init(&shadow->lock, NULL) == 0 ? 0 : KREPLAY_NO_MEMORY;
}

uint64_t kr_shadow_give_back(struct kr_engine *engine, struct kr_shadow *shadow)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&shadow->lock);
    if (shadow->late) {
        pthread_mutex_unlock(&shadow->lock);
        return 0;
    }
    for (size_t i = 0; i < shadow->region_count; i++)
        kr_buffer_put(engine, shadow, &shadow->regions[i].copy);
    kr_buffer_put(engine, shadow, &shadow->saved);
    shadow->region_count = 0;
    for (size_t i = 0; i < shadow->idle_count; i++)
        bytes += shadow->idle[i].place == KR_PLACE_DEVICE ? shadow->idle[i].bytes : 0;
    kr_buffers_free_idle(engine, shadow);
    pthread_mutex_unlock(&shadow->lock);
    return bytes;
}

void kr_shadow_fini(struct kr_engine *engine, struct kr_shadow *shadow)
{
    kr_shadow_give_back(engine, shadow);
    free(shadow->regions);
    free(shadow->next_regions);
    free(shadow->idle);
    free(shadow->write_set);
    free(shadow->changed);
    free(shadow->comparisons);
    pthread_mutex_destroy(&shadow->lock);
}

// With the inventory held: the list of regions becomes the inventory's. Buffers of regions that live on are
// kept, those of dead ones become idle.
static int follow_inventory(struct kr_engine *engine, struct kr_shadow *shadow)
{
    const struct kr_inventory *inventory = &engine->inventory;
    size_t count = 0, old = 0;

    for (size_t i = 0; i < inventory->count; i++)
        count +=
            inventory->entries[i].agent == shadow->agent && kr_inventory_captured(&inventory->entries[i]);
    if (kr_grow((void **)&shadow->next_regions, &shadow->next_capacity, count, sizeof *shadow->regions) != 0)
        return KREPLAY_NO_MEMORY;

    count = 0;
    for (size_t i = 0; i < inventory->count; i++) {
        const struct kr_entry *entry = &inventory->entries[i];
        if (entry->agent != shadow->agent || !kr_inventory_captured(entry))
            continue;
        while (old < shadow->region_count && (uintptr_t)shadow->regions[old].base < (uintptr_t)entry->base)
            kr_buffer_put(engine, shadow, &shadow->regions[old++].copy);
        struct kr_region *next = &shadow->next_regions[count++];
        *next =
            (struct kr_region){.base = entry->base, .bytes = entry->bytes, .generation = entry->generation};
        if (old < shadow->region_count && shadow->regions[old].base == entry->base) {
            struct kr_region *known = &shadow->regions[old++];
            if (known->generation == entry->generation)
                *next = *known;
            else
                kr_buffer_put(engine, shadow, &known->copy);
        }
    }
    while (old < shadow->region_count)
        kr_buffer_put(engine, shadow, &shadow->regions[old++].copy);

    struct kr_region *spare = shadow->regions;
    size_t spare_capacity = shadow->region_capacity;
    shadow->regions = shadow->next_regions;
    shadow->region_capacity = shadow->next_capacity;
    shadow->region_count = count;
    shadow->next_regions = spare;
    shadow->next_capacity = spare_capacity;
    return 0;
}

static kreplay_reason capture_held(struct kr_engine *engine, struct kr_shadow *shadow, uint64_t *copied_bytes)
{
    bool stale = kr_fault_on(engine, KR_FAULT_shadow);
    int status = 0;

    if (shadow->late) // not any more: the agent is drained
        for (size_t i = 0; i < shadow->region_count; i++)
            shadow->regions[i].filled = false;
    shadow->late = false;
    if (follow_inventory(engine, shadow) != 0)
        return KREPLAY_REASON_SNAPSHOT_FAILED;
    for (size_t i = 0; i < shadow->region_count; i++) {
        struct kr_region *region = &shadow->regions[i];
        kreplay_reason reason = KREPLAY_REASON_NONE;
        if (!region->copy.at)
            reason = kr_buffer_get(engine, shadow, region->bytes, &region->copy);
        if (reason != KREPLAY_REASON_NONE)
            return reason;
    }
    if (kr_maps_lay_out(shadow, engine->bounds.block_bytes) != 0)
        return KREPLAY_REASON_SNAPSHOT_FAILED;
    for (size_t i = 0; i < shadow->region_count && status == 0; i++) {
        struct kr_region *region = &shadow->regions[i];
        region->lives = true;
        if (!region->filled || !stale) {
            *copied_bytes += region->bytes;
            status = kr_batch_add(engine, shadow, region->copy.at, region->base, region->bytes, NULL);
        }
        region->filled = true;
    }
    if (status == 0)
        status = kr_batch_flush(engine, shadow, NULL);
    shadow->batch_count = 0;
    return status == 0 ? KREPLAY_REASON_NONE : KREPLAY_REASON_SNAPSHOT_FAILED;
}

kreplay_reason kr_shadow_capture(struct kr_engine *engine, struct kr_shadow *shadow, uint64_t *copied_bytes)
{
    kr_inventory_hold(&engine->inventory);
    kreplay_reason reason = capture_held(engine, shadow, copied_bytes);
    kr_inventory_let_go(&engine->inventory);
    return reason;
}
