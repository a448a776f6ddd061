// SPDX-License-Identifier: MIT
// See stub.h.
#include "softgpu/tests/cp/stub.h"
#include "softgpu/thunk/gpu.h"

#include <stdio.h>
#include <time.h>

void (*_Atomic stub_on_event)(uint32_t event_id);
atomic_uint stub_events_raised, stub_last_event, stub_invalidations;
atomic_int stub_has_memory_event = 1;
atomic_ullong stub_fault_address;

int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault)
{
    struct stub_kernel *kernel = (struct stub_kernel *)(uintptr_t)launch->kernarg;
    counts[0].waves++;
    if (!kernel)
        return 0;
    fault->kind = kernel->run(kernel, launch);
    fault->address = 0xdead000;
    snprintf(fault->text, sizeof(fault->text), "fault of the test kernel %s", launch->kernel_name);
    return fault->kind ? -1 : 0;
}

void sg_isa_invalidate(uint64_t base, uint64_t bytes)
{
    (void)base;
    if (bytes == UINT64_MAX)
        atomic_fetch_add(&stub_invalidations, 1);
}

void sg_event_raise(uint32_t event_id)
{
    void (*callback)(uint32_t) = stub_on_event;
    if (callback)
        callback(event_id);
    stub_last_event = event_id;
    atomic_fetch_add(&stub_events_raised, 1);
}

int sg_event_memory_fault(const struct sg_gpu *gpu, uint64_t address)
{
    (void)gpu;
    stub_fault_address = address;
    return stub_has_memory_event ? 0 : -1;
}

uint64_t sg_gpu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec) / 40;
}
