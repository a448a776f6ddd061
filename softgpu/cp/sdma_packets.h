// SPDX-License-Identifier: MIT
// Execution of one packet of a copy engine.
#ifndef SG_SDMA_PACKETS_H
#define SG_SDMA_PACKETS_H

#include <stdint.h>

enum sg_sdma_result {
    SG_SDMA_DONE,
    SG_SDMA_BLOCKED, // a poll that does not hold yet
    SG_SDMA_FAULT,   // `address` is no memory that the GPU knows
    SG_SDMA_BAD,     // no packet that gfx90a's engines have, or one that is not there
};

#define SG_SDMA_MOST_DWORDS 13

// `dwords` holds SG_SDMA_MOST_DWORDS; *length is how many the packet takes (not set if BAD).
enum sg_sdma_result sg_sdma_execute(const uint32_t *dwords, unsigned *length, uint64_t *address);

#endif
