// SPDX-License-Identifier: MIT
// A queue with its ring, and the producer's side of the AQL protocol, for the tests of the command processor.
#ifndef SG_TEST_RIG_H
#define SG_TEST_RIG_H

#include "softgpu/cp/queue.h"
#include "softgpu/tests/cp/stub.h"
#include "softgpu/thunk/gpu.h"

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>

#define RING_PACKETS 16

struct rig {
    struct sg_gpu gpu;
    amd_queue_t amd;
    unsigned char *ring;    // RING_PACKETS packets
    unsigned char *kernels; // memory of the GPU with one kernel descriptor at its start
    amd_signal_t inactive;
    struct sg_queue *queue;
};

// cmocka set-up and tear-down; *state is the rig.
int rig_setup(void **state);
int rig_teardown(void **state);

// Waits until the read index is at least `index`, with a long bound. Non-zero when that came.
int rig_wait_read(struct rig *rig, uint64_t index);

// Waits until `signal` is `value`, with a long bound. Non-zero when that came.
int rig_wait_signal(const amd_signal_t *signal, int64_t value);

hsa_signal_t rig_handle(const amd_signal_t *signal);

// A packet's body is written without its header, the header is published, the doorbell is rung: three steps
// that tests put in any order. Each returns or takes the packet's index.
uint64_t rig_write(struct rig *rig, const void *packet);
void rig_publish(struct rig *rig, uint64_t index, uint16_t type);
void rig_ring(struct rig *rig, uint64_t index);

// All three. Waits for room in the ring.
uint64_t rig_submit(struct rig *rig, const void *packet, uint16_t type);

// A dispatch of `kernel` (may be NULL), 64 work-items; `completion` may be NULL.
hsa_kernel_dispatch_packet_t rig_dispatch(struct rig *rig, struct stub_kernel *kernel,
                                          const amd_signal_t *completion);

#endif
