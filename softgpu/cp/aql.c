// SPDX-License-Identifier: MIT
// AQL packets: kernel dispatch, barrier-AND, barrier-OR, and AMD's vendor packets for a PM4 indirect buffer
// and for a barrier on a signal's value. Packets of a queue run one after the other, each to its end, so the
// barrier bit is always honoured. Sources: "HSA Platform System Architecture Specification 1.2", section 2.9;
// hsa.h and hsa_ext_amd.h.
#include "softgpu/cp/aql.h"
#include "softgpu/cp/signal.h"
#include "softgpu/mem/mem.h"
#include "softgpu/model/model.h"
#include "softgpu/perf/perf.h"
#include "softgpu/thunk/gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_GROUP_ITEMS 1024u
#define MAX_LDS_BYTES   (64u << 10)

// AMD's vendor packet: the second half-word says which. PM4_IB is not in a public ROCr header.
enum { VENDOR_PM4_IB = 1, VENDOR_BARRIER_VALUE = HSA_AMD_PACKET_TYPE_BARRIER_VALUE };

static enum sg_aql_result fail(struct sg_aql_error *error, uint32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum sg_aql_result fail(struct sg_aql_error *error, uint32_t code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *error = (struct sg_aql_error){.code = code};
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return SG_AQL_FAILED;
}

static uint64_t clock_of(void *ctx)
{
    (void)ctx;
    return sg_gpu_clock();
}

static void raise_event(void *ctx, uint32_t event_id)
{
    (void)ctx;
    sg_event_raise(event_id);
}

static bool owned(void *ctx, uint64_t address, uint64_t bytes, uint64_t range[2], char *why, size_t why_bytes)
{
    const struct sg_gpu *gpu = ((const struct sg_aql *)ctx)->gpu;
    return sg_mem_reaches(gpu->node_id, address, bytes, range, why, why_bytes) &&
           (!gpu->checks_access || sg_mem_owns(address, bytes, range, why, why_bytes));
}

// How each kind of fault of a kernel is told to ROCr.
static uint32_t code_of_fault(enum sg_fault_kind kind)
{
    static const struct {
        enum sg_fault_kind kind;
        uint32_t code;
    } codes[] = {
        {SG_FAULT_ILLEGAL, SG_QUEUE_ERROR_ILLEGAL_INSTRUCTION},
        {SG_FAULT_MEMORY, SG_QUEUE_ERROR_APERTURE}, // if the MEMORY event cannot carry it
        {SG_FAULT_LDS, SG_QUEUE_ERROR_APERTURE},
        {SG_FAULT_TRAP, (uint32_t)SG_QUEUE_ERROR_EXCEPTION},
        {SG_FAULT_RESOURCES, SG_QUEUE_ERROR_GROUP_SIZE},
        {SG_FAULT_TIMEOUT, (uint32_t)SG_QUEUE_ERROR_EXCEPTION},
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].kind == kind)
            return codes[i].code;
    }
    return (uint32_t)SG_QUEUE_ERROR_EXCEPTION;
}

// Grid and work-group sizes from the packet; dimensions beyond `setup` count as 1.
static enum sg_aql_result set_sizes(const hsa_kernel_dispatch_packet_t *packet, uint64_t id,
                                    struct sg_launch *launch, struct sg_aql_error *error)
{
    unsigned dimensions = packet->setup & 3;
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    const uint32_t group[3] = {packet->workgroup_size_x, packet->workgroup_size_y, packet->workgroup_size_z};
    if (!dimensions)
        return fail(error, SG_QUEUE_ERROR_DIMENSIONS, "packet %" PRIu64 ": dispatch with 0 dimensions", id);
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        launch->grid[i] = i < dimensions ? grid[i] : 1;
        launch->workgroup[i] = i < dimensions ? group[i] : 1;
        items *= launch->workgroup[i];
        if (!launch->grid[i] || !launch->workgroup[i])
            return fail(error, SG_QUEUE_ERROR_DIMENSIONS,
                        "packet %" PRIu64 ": kernel %s: grid or work-group size is 0", id,
                        launch->kernel_name);
    }
    if (items > MAX_GROUP_ITEMS)
        return fail(error, SG_QUEUE_ERROR_GROUP_SIZE,
                    "packet %" PRIu64 ": kernel %s: work-group of %" PRIu64 " work-items; at most %u", id,
                    launch->kernel_name, items, MAX_GROUP_ITEMS);
    if (packet->group_segment_size > MAX_LDS_BYTES)
        return fail(error, SG_QUEUE_ERROR_GROUP_MEMORY,
                    "packet %" PRIu64 ": kernel %s: %u bytes of LDS; at most %u", id, launch->kernel_name,
                    packet->group_segment_size, MAX_LDS_BYTES);
    return SG_AQL_DONE;
}

static enum sg_aql_result dispatch(struct sg_aql *aql, const hsa_kernel_dispatch_packet_t *packet,
                                   uint64_t id, struct sg_aql_error *error)
{
    struct sg_launch launch = {
        .group_segment_bytes = packet->group_segment_size,
        .private_segment_bytes = packet->private_segment_size,
        .dispatch_packet = (uint64_t)(uintptr_t)packet,
        .queue = (uint64_t)(uintptr_t)aql->amd_queue,
        .kernarg = (uint64_t)(uintptr_t)packet->kernarg_address,
        .dispatch_id = id,
        .shared_aperture_hi = aql->gpu->shared_aperture_hi,
        .private_aperture_hi = aql->gpu->private_aperture_hi,
        .clock = clock_of,
        .interrupt = raise_event,
        .ctx = aql,
        .stop = &aql->stop,
        .owned = aql->gpu->checks_mapping ? owned : NULL,
        .exact_lds = aql->gpu->checks_access,
        .timeout_ns = aql->gpu->timeout_ns,
        .gws = &aql->gws,
    };
    if (sg_kernel_object_load(&aql->kernels, packet->kernel_object, &launch))
        return fail(error, SG_QUEUE_ERROR_CODE_OBJECT,
                    "packet %" PRIu64 ": kernel object 0x%" PRIx64 " is not in memory of the GPU", id,
                    packet->kernel_object);
    enum sg_aql_result result = set_sizes(packet, id, &launch, error);
    if (result != SG_AQL_DONE)
        return result;

    struct sg_counts counts[SG_SHADER_ENGINES] = {{0}};
    struct sg_fault fault = {0};
    const bool counted = aql->pm4.compute_perfcount_enable != 0;
    if (sg_perf_needs_model(aql->gpu->perf, counted)) {
        if (!aql->model)
            aql->model = sg_model_create();
        if (!aql->model)
            return fail(error, SG_QUEUE_ERROR_EXCEPTION, "packet %" PRIu64 ": no memory to count kernel %s",
                        id, launch.kernel_name);
        sg_model_begin(aql->model, &launch);
    }
    int rc = sg_isa_launch(&launch, counts, &fault);
    struct sg_detail detail;
    if (launch.watch && !sg_model_end(aql->model, &detail))
        return fail(error, SG_QUEUE_ERROR_EXCEPTION, "packet %" PRIu64 ": no memory to count kernel %s", id,
                    launch.kernel_name);
    sg_perf_dispatch(aql->gpu->perf, counts, launch.watch ? &detail : NULL, counted);
    if (!rc)
        return SG_AQL_DONE;
    if (fault.kind == SG_FAULT_STOPPED)
        return SG_AQL_STOPPED;
    fail(error, code_of_fault(fault.kind), "%s", fault.text);
    error->is_memory_fault = fault.kind == SG_FAULT_MEMORY;
    error->address = fault.address;
    return SG_AQL_FAILED;
}

static bool is_met(hsa_signal_t signal)
{
    return sg_signal_load(signal) == 0;
}

// Absent dependencies count as met.
static enum sg_aql_result barrier_and(const hsa_barrier_and_packet_t *packet)
{
    for (unsigned i = 0; i < 5; i++) {
        if (packet->dep_signal[i].handle && !is_met(packet->dep_signal[i]))
            return SG_AQL_BLOCKED;
    }
    return SG_AQL_DONE;
}

// Absent dependencies count as not met; with none at all there is nothing to wait for.
static enum sg_aql_result barrier_or(const hsa_barrier_or_packet_t *packet)
{
    bool any = false;
    for (unsigned i = 0; i < 5; i++) {
        if (!packet->dep_signal[i].handle)
            continue;
        any = true;
        if (is_met(packet->dep_signal[i]))
            return SG_AQL_DONE;
    }
    return any ? SG_AQL_BLOCKED : SG_AQL_DONE;
}

static enum sg_aql_result barrier_value(const hsa_amd_barrier_value_packet_t *packet, uint64_t id,
                                        struct sg_aql_error *error)
{
    if (!packet->signal.handle)
        return SG_AQL_DONE;
    int64_t value = sg_signal_load(packet->signal) & packet->mask;
    bool met;
    switch (packet->cond) {
    case HSA_SIGNAL_CONDITION_EQ:
        met = value == packet->value;
        break;
    case HSA_SIGNAL_CONDITION_NE:
        met = value != packet->value;
        break;
    case HSA_SIGNAL_CONDITION_LT:
        met = value < packet->value;
        break;
    case HSA_SIGNAL_CONDITION_GTE:
        met = value >= packet->value;
        break;
    default:
        return fail(error, SG_QUEUE_ERROR_PACKET,
                    "packet %" PRIu64 ": barrier-value with unknown condition %u", id,
                    (unsigned)packet->cond);
    }
    return met ? SG_AQL_DONE : SG_AQL_BLOCKED;
}

// Dwords 1..4 are the packet INDIRECT_BUFFER: header, address low and high, size in dwords in the low 20
// bits.
static enum sg_aql_result pm4_ib(struct sg_aql *aql, const uint32_t *packet, uint64_t id,
                                 struct sg_aql_error *error)
{
    const uint32_t indirect_buffer = 0xc0023f00;
    if (packet[1] != indirect_buffer)
        return fail(error, SG_QUEUE_ERROR_PACKET,
                    "packet %" PRIu64 ": PM4 header 0x%08x is no INDIRECT_BUFFER", id, packet[1]);
    uint64_t address = packet[2] | (uint64_t)(packet[3] & 0xffff) << 32;
    const uint32_t *code = (const uint32_t *)(uintptr_t)address;
    size_t dwords = packet[4] & 0xfffff;
    char why[256] = "";
    if (sg_pm4_run(aql->gpu->perf, &aql->pm4, code, dwords, why, sizeof(why)))
        return fail(error, SG_QUEUE_ERROR_PACKET,
                    "packet %" PRIu64 ": PM4 of %zu dwords at 0x%" PRIx64 ": %s", id, dwords, address, why);
    if (aql->pm4.acquired) { // ROCr announces loaded code so
        aql->pm4.acquired = false;
        sg_isa_invalidate(0, UINT64_MAX);
        sg_kernel_names_invalidate();
    }
    return SG_AQL_DONE;
}

static enum sg_aql_result vendor(struct sg_aql *aql, const void *packet, uint64_t id,
                                 struct sg_aql_error *error)
{
    uint16_t format = ((const uint16_t *)packet)[1];
    switch (format & 0xff) {
    case VENDOR_PM4_IB:
        return pm4_ib(aql, packet, id, error);
    case VENDOR_BARRIER_VALUE:
        return barrier_value(packet, id, error);
    default:
        return fail(error, SG_QUEUE_ERROR_PACKET, "packet %" PRIu64 ": unknown vendor packet format %u", id,
                    format);
    }
}

// All of a packet's signals. What the interpreter or the queue would do with a wild one cannot be undone.
static bool signals_are_there(const void *packet, unsigned type)
{
    const hsa_barrier_and_packet_t *barrier = packet; // the completion signal is at the same place in all
    if (!sg_signal_is_there(barrier->completion_signal))
        return false;
    if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
        const hsa_amd_barrier_value_packet_t *value = packet;
        return value->header.AmdFormat != VENDOR_BARRIER_VALUE || sg_signal_is_there(value->signal);
    }
    if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
        return true;
    for (unsigned i = 0; i < 5; i++) {
        if (!sg_signal_is_there(barrier->dep_signal[i]))
            return false;
    }
    return true;
}

enum sg_aql_result sg_aql_execute(struct sg_aql *aql, const void *packet, uint64_t id,
                                  struct sg_aql_error *error)
{
    enum sg_aql_result result;
    unsigned type = *(const uint16_t *)packet & 0xff;
    if (!signals_are_there(packet, type))
        return fail(error, SG_QUEUE_ERROR_PACKET, "packet %" PRIu64 ": a signal of it is not in memory", id);
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        return dispatch(aql, packet, id, error); // counts for itself
    case HSA_PACKET_TYPE_BARRIER_AND:
        result = barrier_and(packet);
        break;
    case HSA_PACKET_TYPE_BARRIER_OR:
        result = barrier_or(packet);
        break;
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        result = vendor(aql, packet, id, error);
        break;
    default:
        return fail(error, SG_QUEUE_ERROR_PACKET, "packet %" PRIu64 ": unsupported packet type %u", id, type);
    }
    if (result == SG_AQL_DONE)
        sg_perf_packet(aql->gpu->perf);
    return result;
}
