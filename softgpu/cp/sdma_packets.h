// SPDX-License-Identifier: MIT
// Execution of one packet of a copy engine.
#ifndef SG_SDMA_PACKETS_H
#define SG_SDMA_PACKETS_H

#include <stdint.h>

struct sg_gpu;

enum sg_sdma_result {
    SG_SDMA_DONE,
    SG_SDMA_BLOCKED, // a poll that does not hold yet
    SG_SDMA_FAULT,   // an address is no memory of the GPU's; see struct sg_sdma_fault
    SG_SDMA_BAD,     // no packet that gfx90a's engines have, or one that is not there
};

#define SG_SDMA_MOST_DWORDS 13

struct sg_sdma_fault {
    uint64_t address;
    char why[112];
};

// `dwords` holds SG_SDMA_MOST_DWORDS, of which `rung` (or more) were rung for: a packet that is longer is BAD and does
// nothing. *length is how many the packet takes (not set if BAD). Engines of a GPU that checks
// kernels' accesses (sg_gpu) are checked as well.
enum sg_sdma_result sg_sdma_execute(const struct sg_gpu *gpu, const uint32_t *dwords, uint64_t rung,
                                    unsigned *length, struct sg_sdma_fault *fault);

#endif
