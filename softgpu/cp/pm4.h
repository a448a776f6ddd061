// SPDX-License-Identifier: MIT
// The part of the command processor that runs PM4: register writes, copies from registers to memory, events.
// It knows registers, not queues or packets of AQL.
#ifndef SG_PM4_H
#define SG_PM4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_perf;

// Register state of one queue that PM4 sets and that is not shared with other queues (SH registers of the
// compute pipe). Zero-initialised by the owner of the queue.
struct sg_pm4_queue {
    uint32_t compute_perfcount_enable; // COMPUTE_PERFCOUNT_ENABLE: waves of this queue are counted by the SQ
    // An ACQUIRE_MEM has run, which on hardware empties the instruction caches. The owner resets it.
    bool acquired;
};

// Runs `dwords` dwords of PM4 at `code`. `perf` is the counter block of the GPU, shared by its queues (it
// locks itself). Unknown type-3 packets are skipped, as ROCr sends cache maintenance through here. Returns 0,
// or -1 with `error` filled when the stream is malformed (a packet that reaches past its end, a type other
// than 2 or 3), when it reads or writes memory that is not mapped, or when it reads a counter that is not
// modelled.
int sg_pm4_run(struct sg_perf *perf, struct sg_pm4_queue *queue, const uint32_t *code, size_t dwords,
               char *error, size_t error_bytes);

#endif
