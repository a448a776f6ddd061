// SPDX-License-Identifier: MIT
// Writes the PM4 that arms, reads and stops counters, in the order and with the registers that AMD's counter
// library uses on gfx90a, so that the command processor need not tell the two libraries apart.
#ifndef SG_PERF_PM4_WRITER_H
#define SG_PERF_PM4_WRITER_H

#include "softgpu/perf/registers.h"

#include <stddef.h>
#include <stdint.h>

// One counter of a group, with the register slot that it got.
struct sg_armed_counter {
    enum sg_perf_block_id block;
    uint32_t instance; // of those that a caller tells apart
    uint32_t slot, event;
};

// Where the stream goes. `code` NULL only counts. The caller provides `dwords` counted this way before.
struct sg_pm4_writer {
    uint32_t *code;
    size_t dwords; // written or counted so far
};

void sg_pm4_write_start(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count);

// Samples, and stores the 64-bit value of each counter and instance (counter by counter, engine by engine) to
// consecutive words from `output`.
void sg_pm4_write_read(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count,
                       uint64_t output);

// A read, then the end of counting: the values are there for callers that never read in between.
void sg_pm4_write_stop(struct sg_pm4_writer *writer, const struct sg_armed_counter *counters, size_t count,
                       uint64_t output);

#endif
