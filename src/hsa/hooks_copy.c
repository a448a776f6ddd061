// SPDX-License-Identifier: MIT
// Synchronous copies and fills run inside the gates; asynchronous ones go through async_copy.c.
#include "hsa/hooks_copy.h"

#include "hsa/async_copy.h"

static hsa_status_t memory_copy(void *dst, const void *src, size_t size)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_memory_copy(dst, src, size);
    kr_hsa_gates_enter(NULL);
    hsa_status_t status = kr_hsa.api.hsa_memory_copy(dst, src, size);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

static hsa_status_t memory_fill(void *dst, uint32_t value, size_t count)
{
    if (!kr_hsa_hold())
        return kr_hsa.api.hsa_amd_memory_fill(dst, value, count);
    kr_hsa_gates_enter(NULL);
    hsa_status_t status = kr_hsa.api.hsa_amd_memory_fill(dst, value, count);
    kr_hsa_gates_leave(NULL);
    kr_hsa_release();
    return status;
}

// What the runtime would refuse, it shall refuse itself; what does nothing needs no care.
static bool ordinary(const void *dst, const void *src, size_t size, uint32_t dep_count,
                     const hsa_signal_t *deps, hsa_signal_t completion)
{
    return dst && src && size > 0 && (dep_count > 0) == (deps != NULL) && completion.handle != 0;
}

static hsa_status_t async_copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
                               size_t size, uint32_t dep_count, const hsa_signal_t *deps,
                               hsa_signal_t completion)
{
    if (!ordinary(dst, src, size, dep_count, deps, completion) || !kr_hsa_hold())
        return kr_hsa.api.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size, dep_count, deps,
                                                    completion);
    const struct kr_hsa_copy_call call = {
        .kind = KR_HSA_COPY_LINEAR,
        .dst = dst,
        .src = src,
        .size = size,
        .dst_agent = dst_agent,
        .src_agent = src_agent,
    };
    hsa_status_t status = kr_hsa_async_copy(&call, dep_count, deps, completion);
    kr_hsa_release();
    return status;
}

static hsa_status_t async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
                                         hsa_agent_t src_agent, size_t size, uint32_t dep_count,
                                         const hsa_signal_t *deps, hsa_signal_t completion,
                                         unsigned engine_id, bool force_sdma)
{
    if (!ordinary(dst, src, size, dep_count, deps, completion) || !kr_hsa_hold())
        return kr_hsa.api.hsa_amd_memory_async_copy_on_engine(dst, dst_agent, src, src_agent, size, dep_count,
                                                              deps, completion, engine_id, force_sdma);
    const struct kr_hsa_copy_call call = {
        .kind = KR_HSA_COPY_ENGINE,
        .dst = dst,
        .src = src,
        .size = size,
        .dst_agent = dst_agent,
        .src_agent = src_agent,
        .engine_id = engine_id,
        .force_sdma = force_sdma,
    };
    hsa_status_t status = kr_hsa_async_copy(&call, dep_count, deps, completion);
    kr_hsa_release();
    return status;
}

static hsa_status_t async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
                                    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
                                    const hsa_dim3_t *range, hsa_agent_t copy_agent,
                                    hsa_amd_copy_direction_t direction, uint32_t dep_count,
                                    const hsa_signal_t *deps, hsa_signal_t completion)
{
    bool whole =
        dst && dst_offset && src && src_offset && range && range->x > 0 && range->y > 0 && range->z > 0;
    if (!whole || !ordinary(dst->base, src->base, 1, dep_count, deps, completion) || !kr_hsa_hold())
        return kr_hsa.api.hsa_amd_memory_async_copy_rect(dst, dst_offset, src, src_offset, range, copy_agent,
                                                         direction, dep_count, deps, completion);
    const struct kr_hsa_copy_call call = {
        .kind = KR_HSA_COPY_RECT,
        .rect_dst = *dst,
        .rect_src = *src,
        .dst_offset = *dst_offset,
        .src_offset = *src_offset,
        .range = *range,
        .copy_agent = copy_agent,
        .direction = direction,
    };
    hsa_status_t status = kr_hsa_async_copy(&call, dep_count, deps, completion);
    kr_hsa_release();
    return status;
}

static hsa_status_t async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    if (time && kr_hsa_async_copy_time(signal, time))
        return HSA_STATUS_SUCCESS;
    return kr_hsa.api.hsa_amd_profiling_get_async_copy_time(signal, time);
}

void kr_hsa_hooks_copy_install(const struct kr_hsa_table *table)
{
    kr_hsa_table_hook(table, KR_FN_hsa_memory_copy, (void *)memory_copy);
    kr_hsa_table_hook(table, KR_FN_hsa_amd_memory_fill, (void *)memory_fill);
    kr_hsa_table_hook(table, KR_FN_hsa_amd_memory_async_copy, (void *)async_copy);
    kr_hsa_table_hook(table, KR_FN_hsa_amd_memory_async_copy_on_engine, (void *)async_copy_on_engine);
    kr_hsa_table_hook(table, KR_FN_hsa_amd_memory_async_copy_rect, (void *)async_copy_rect);
    kr_hsa_table_hook(table, KR_FN_hsa_amd_profiling_get_async_copy_time, (void *)async_copy_time);
}
