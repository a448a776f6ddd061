// SPDX-License-Identifier: MIT
// One software GPU node as the command processor sees it.
#ifndef SG_GPU_H
#define SG_GPU_H

#include <stdbool.h>
#include <stdint.h>

struct sg_perf;

struct sg_gpu {
    uint32_t node_id;
    uint32_t shared_aperture_hi, private_aperture_hi; // upper halves of the FLAT apertures
    struct sg_perf *perf;
    bool checks_access;  // kernels may touch what was allocated or registered only
    bool checks_mapping; // kernels may touch no allocation that is not mapped to this GPU
    uint64_t timeout_ns; // a kernel that runs longer is an error; 0 = none is
};

// GPU clock: 25 MHz ticks derived from the monotonic clock; what signals' start_ts and end_ts are in.
uint64_t sg_gpu_clock(void);

// Raises the event with this id as the interrupt of a signal does. Unknown ids are ignored.
void sg_event_raise(uint32_t event_id);

// Reports a memory access fault through the MEMORY event of the process (ROCr prints it and aborts). Returns
// 0, or -1 when the process has no such event, so that the fault must be reported some other way.
int sg_event_memory_fault(const struct sg_gpu *gpu, uint64_t address);

#endif
