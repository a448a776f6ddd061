// SPDX-License-Identifier: MIT
// See rig.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/mem/mem.h"
#include "softgpu/perf/perf.h"
#include "softgpu/tests/cp/rig.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 60

int rig_setup(void **state)
{
    struct rig *rig = aligned_alloc(64, (sizeof(*rig) + 63) / 64 * 64);
    assert_non_null(rig);
    memset(rig, 0, sizeof(*rig));
    rig->gpu = (struct sg_gpu){.node_id = 1, .perf = sg_perf_create()};
    assert_non_null(rig->gpu.perf);
    rig->ring = aligned_alloc(64, RING_PACKETS * 64);
    assert_non_null(rig->ring);
    memset(rig->ring, 0, RING_PACKETS * 64);
    for (unsigned i = 0; i < RING_PACKETS; i++)
        rig->ring[i * 64] = HSA_PACKET_TYPE_INVALID;
    void *kernels = NULL;
    assert_int_equal(sg_mem_alloc(1, 4096, 0, NULL, &kernels), 0);
    rig->kernels = kernels;
    rig->inactive.event_id = 99;
    rig->inactive.event_mailbox_ptr = (uint64_t)(uintptr_t)&rig->inactive.reserved3;
    rig->amd.queue_inactive_signal = rig_handle(&rig->inactive);
    stub_on_event = NULL;
    stub_events_raised = 0;
    stub_last_event = 0;
    stub_has_memory_event = 1;
    assert_int_equal(sg_queue_create(&rig->gpu, rig->ring, RING_PACKETS * 64, &rig->amd, &rig->queue), 0);
    *state = rig;
    return 0;
}

int rig_teardown(void **state)
{
    struct rig *rig = *state;
    if (rig->queue)
        sg_queue_destroy(rig->queue);
    sg_mem_free(rig->kernels);
    sg_perf_destroy(rig->gpu.perf);
    free(rig->ring);
    free(rig);
    return 0;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

int rig_wait_read(struct rig *rig, uint64_t index)
{
    for (time_t end = time(NULL) + PATIENCE_S; time(NULL) < end; pause_shortly()) {
        if (__atomic_load_n(&rig->amd.read_dispatch_id, __ATOMIC_ACQUIRE) >= index)
            return 1;
    }
    return 0;
}

int rig_wait_signal(const amd_signal_t *signal, int64_t value)
{
    for (time_t end = time(NULL) + PATIENCE_S; time(NULL) < end; pause_shortly()) {
        if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) == value)
            return 1;
    }
    return 0;
}

hsa_signal_t rig_handle(const amd_signal_t *signal)
{
    return (hsa_signal_t){.handle = (uint64_t)(uintptr_t)signal};
}

uint64_t rig_write(struct rig *rig, const void *packet)
{
    uint64_t index = rig->amd.write_dispatch_id++;
    if (index >= RING_PACKETS)
        assert_true(rig_wait_read(rig, index - RING_PACKETS + 1));
    memcpy(rig->ring + index % RING_PACKETS * 64 + 2, (const char *)packet + 2, 62);
    return index;
}

void rig_publish(struct rig *rig, uint64_t index, uint16_t type)
{
    __atomic_store_n((uint16_t *)(rig->ring + index % RING_PACKETS * 64), type, __ATOMIC_RELEASE);
}

void rig_ring(struct rig *rig, uint64_t index)
{
    __atomic_store_n(sg_queue_doorbell(rig->queue), (int64_t)index, __ATOMIC_RELEASE);
}

uint64_t rig_submit(struct rig *rig, const void *packet, uint16_t type)
{
    uint64_t index = rig_write(rig, packet);
    rig_publish(rig, index, type);
    rig_ring(rig, index);
    return index;
}

hsa_kernel_dispatch_packet_t rig_dispatch(struct rig *rig, struct stub_kernel *kernel,
                                          const amd_signal_t *completion)
{
    return (hsa_kernel_dispatch_packet_t){.setup = 1,
                                          .workgroup_size_x = 64,
                                          .grid_size_x = 64,
                                          .kernel_object = (uint64_t)(uintptr_t)rig->kernels,
                                          .kernarg_address = kernel,
                                          .completion_signal = rig_handle(completion)};
}
