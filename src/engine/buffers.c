// SPDX-License-Identifier: MIT
// Owns the life of the shadow's buffers.
#include "engine/buffers.h"

#include "engine/internal.h"

void kr_buffer_free(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_buffer *buffer)
{
    if (!buffer->at)
        return;
    engine->backend->release(engine->ctx, shadow->agent, buffer->place, buffer->at, buffer->bytes);
    if (buffer->place == KR_PLACE_HOST)
        shadow->host_bytes -= buffer->bytes;
    *buffer = (struct kr_buffer){0};
}

void kr_buffers_free_idle(struct kr_engine *engine, struct kr_shadow *shadow)
{
    while (shadow->idle_count > 0)
        kr_buffer_free(engine, shadow, &shadow->idle[--shadow->idle_count]);
}

void kr_buffer_put(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_buffer *buffer)
{
    if (!buffer->at)
        return;
    if (kr_grow((void **)&shadow->idle, &shadow->idle_capacity, shadow->idle_count + 1,
                sizeof *shadow->idle) != 0) {
        kr_buffer_free(engine, shadow, buffer);
        return;
    }
    shadow->idle[shadow->idle_count++] = *buffer;
    *buffer = (struct kr_buffer){0};
}

// Smallest idle buffer that holds `bytes` without wasting more than it holds.
static bool take_idle(struct kr_shadow *shadow, size_t bytes, struct kr_buffer *out)
{
    size_t best = shadow->idle_count;
    for (size_t i = 0; i < shadow->idle_count; i++) {
        const struct kr_buffer *buffer = &shadow->idle[i];
        if (buffer->bytes < bytes || buffer->bytes / 2 > bytes)
            continue;
        if (best == shadow->idle_count || buffer->bytes < shadow->idle[best].bytes)
            best = i;
    }
    if (best == shadow->idle_count)
        return false;
    *out = shadow->idle[best];
    shadow->idle[best] = shadow->idle[--shadow->idle_count];
    return true;
}

static bool allocate(struct kr_engine *engine, struct kr_shadow *shadow, enum kr_place place, size_t bytes,
                     struct kr_buffer *out)
{
    void *at = NULL;
    if (engine->backend->room(engine->ctx, shadow->agent, place) < bytes)
        return false;
    if (engine->backend->alloc(engine->ctx, shadow->agent, place, bytes, &at) != 0)
        return false;
    *out = (struct kr_buffer){at, bytes, place};
    if (place == KR_PLACE_HOST)
        shadow->host_bytes += bytes;
    return true;
}

kreplay_reason kr_buffer_get(struct kr_engine *engine, struct kr_shadow *shadow, size_t bytes,
                             struct kr_buffer *out)
{
    if (take_idle(shadow, bytes, out) || allocate(engine, shadow, KR_PLACE_DEVICE, bytes, out))
        return KREPLAY_REASON_NONE;
    // Idle buffers of the wrong size may be what fills the device.
    if (shadow->idle_count > 0) {
        kr_buffers_free_idle(engine, shadow);
        if (allocate(engine, shadow, KR_PLACE_DEVICE, bytes, out))
            return KREPLAY_REASON_NONE;
    }
    uint64_t limit = engine->bounds.budget_bytes ? engine->bounds.budget_bytes : kr_bounds_host_half();
    if (shadow->host_bytes > limit || bytes > limit - shadow->host_bytes)
        return KREPLAY_REASON_FOOTPRINT_BUDGET;
    return allocate(engine, shadow, KR_PLACE_HOST, bytes, out) ? KREPLAY_REASON_NONE
                                                               : KREPLAY_REASON_SNAPSHOT_FAILED;
}
