// SPDX-License-Identifier: MIT
// The counter blocks of one software GPU: select, control and result registers as gfx90a has them, and the
// model that turns what was executed into counts. One object a GPU, shared by all its queues, locks itself.
#ifndef SG_PERF_H
#define SG_PERF_H

#include "softgpu/isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_perf;
struct sg_detail;

struct sg_perf *sg_perf_create(void); // NULL when out of memory
void sg_perf_destroy(struct sg_perf *perf);

// Register access by dword address in the GPU's register space: UCONFIG offset + 0xc000, as PM4's
// SET_UCONFIG_REG adds it, and as COPY_DATA names results (SQ slot 0: 0xd1c0); see registers.h.
// GRBM_GFX_INDEX is a register here too and selects what reads and writes touch. Result registers show the
// last sample. Unknown registers read 0 and ignore writes. Each access locks for itself: two queues that
// program counters at the same time disturb each other through GRBM_GFX_INDEX, as on hardware.
uint32_t sg_perf_read(struct sg_perf *perf, uint32_t reg);
void sg_perf_write(struct sg_perf *perf, uint32_t reg, uint32_t value);

// Whether a read of `reg` shows what hardware would. False with the reason in `why` when it is the result of
// a block or an event that is not modelled: who asks for such a counter must not be told 0.
bool sg_perf_can_read(struct sg_perf *perf, uint32_t reg, char *why, size_t why_bytes);

// Whether a counter runs that only a dispatch which is watched by the model can feed. `counted` as below.
bool sg_perf_needs_model(struct sg_perf *perf, bool counted);

// One kernel dispatch has ended: add to the running counters. `counts` has SG_SHADER_ENGINES entries; `detail` is NULL
// when the dispatch was not watched, then counters that need that stay as they are. GRBM, CPC and CPF count always, the
// other blocks only if `counted` (the queue's COMPUTE_PERFCOUNT_ENABLE).
void sg_perf_dispatch(struct sg_perf *perf, const struct sg_counts *counts, const struct sg_detail *detail,
                      bool counted);

// One packet that is not a dispatch passed the command processor: GRBM_COUNT and the command processor's own counters
// advance by the fixed cost of a packet.
void sg_perf_packet(struct sg_perf *perf);

#endif
