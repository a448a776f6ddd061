// SPDX-License-Identifier: MIT
// What one thread runs launches with: storage of one work-group, kept from group to group and from launch to
// launch, and the state of the launch in progress. Lives on the heap, so that it survives the jump out of a
// faulting access.
#ifndef SG_MACHINE_H
#define SG_MACHINE_H

#include "softgpu/isa/code_cache.h"
#include "softgpu/isa/guard.h"
#include "softgpu/isa/wave.h"

#define SG_MAX_WORKGROUP 1024
#define SG_MAX_WAVES     (SG_MAX_WORKGROUP / SG_LANES)
#define SG_LDS_BYTES     65536
#define SG_VGPR_ROWS     (512 + 16) // a wide access may name registers past the last one

struct sg_machine {
    struct sg_guard guard;
    struct sg_code_view code;
    struct sg_group group;
    struct sg_wave wave[SG_MAX_WAVES];

    uint32_t (*vgpr)[SG_LANES]; // SG_VGPR_ROWS for each wave; pages come into being when used
    uint8_t *lds;               // SG_LDS_BYTES
    uint8_t *scratch;           // grows to the largest need seen
    uint64_t scratch_bytes;

    // In progress.
    struct sg_wave *running;
    const struct sg_inst *inst; // being executed; NULL while fetching
    uint64_t tally[SG_CLASS_OTHER + 1];
    uint64_t lanes_valu;
    unsigned arch_vgprs, acc_vgprs; // granted to each wave
};

// Gives wave `index` of the group in machine->group its initial state. `size` are the work-items that this
// group really has (less than the work-group size at the edge of the grid).
void sg_wave_start(struct sg_machine *machine, unsigned index, const uint32_t size[3]);

// Runs the waves of machine->group, already started, to their end. False: machine->wave[].fault is filled.
bool sg_group_run(struct sg_machine *machine);

// Adds what was tallied to group->counts.
void sg_group_count(struct sg_machine *machine);

#endif
