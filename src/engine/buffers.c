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

// Where the host compares, a shadow there saves one of the two copies of each comparison, and costs a
// transfer where a pass is restored. With large regions, of which kernels write large parts, the restores
// would weigh more.
static const size_t HOST_SHADOW_BYTES = (size_t)8 << 20;

static bool better_on_host(const struct kr_engine *engine, size_t bytes)
{
    return engine->backend->flags & KR_BACKEND_COMPARES_ON_HOST && bytes <= HOST_SHADOW_BYTES;
}

static bool within_budget(const struct kr_engine *engine, const struct kr_shadow *shadow, size_t bytes)
{
    uint64_t limit = engine->bounds.budget_bytes ? engine->bounds.budget_bytes : kr_bounds_host_half();
    return shadow->host_bytes <= limit && bytes <= limit - shadow->host_bytes;
}

kreplay_reason kr_buffer_get(struct kr_engine *engine, struct kr_shadow *shadow, size_t bytes,
                             struct kr_buffer *out)
{
    if (take_idle(shadow, bytes, out))
        return KREPLAY_REASON_NONE;
    if (better_on_host(engine, bytes) && within_budget(engine, shadow, bytes) &&
        allocate(engine, shadow, KR_PLACE_HOST, bytes, out))
        return KREPLAY_REASON_NONE;
    if (allocate(engine, shadow, KR_PLACE_DEVICE, bytes, out))
        return KREPLAY_REASON_NONE;
    // Idle buffers of the wrong size may be what fills the device.
    if (shadow->idle_count > 0) {
        kr_buffers_free_idle(engine, shadow);
        if (allocate(engine, shadow, KR_PLACE_DEVICE, bytes, out))
            return KREPLAY_REASON_NONE;
    }
    if (!within_budget(engine, shadow, bytes))
        return KREPLAY_REASON_FOOTPRINT_BUDGET;
    return allocate(engine, shadow, KR_PLACE_HOST, bytes, out) ? KREPLAY_REASON_NONE
                                                               : KREPLAY_REASON_SNAPSHOT_FAILED;
}
