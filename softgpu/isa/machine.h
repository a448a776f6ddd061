// SPDX-License-Identifier: MIT
// What one thread runs work-groups with: resident work-groups with their storage, and the state of the launch in
// progress. Lives on the heap, so that it survives the jump out of a faulting access. One work-group's storage
// is kept from launch to launch; more exist only while groups of one launch take turns.
#ifndef SG_MACHINE_H
#define SG_MACHINE_H

#include "softgpu/isa/code_cache.h"
#include "softgpu/isa/guard.h"
#include "softgpu/isa/job.h"
#include "softgpu/isa/wave.h"

#define SG_MAX_WORKGROUP 1024
#define SG_MAX_WAVES     (SG_MAX_WORKGROUP / SG_LANES)
#define SG_LDS_BYTES     65536
#define SG_VGPR_ROWS     (512 + 16) // a wide access may name registers past the last one
#define SG_MAX_RESIDENT  4096

// A work-group that has started and not ended. Pages of its storage come into being when used.
struct sg_resident {
    struct sg_group group;
    uint64_t number; // of the group in the grid
    struct sg_wave wave[SG_MAX_WAVES];
    unsigned alive;             // waves that have not ended
    uint32_t (*vgpr)[SG_LANES]; // SG_VGPR_ROWS for each wave
    uint8_t *lds;
    uint8_t *scratch; // NULL when the launch has none
    uint64_t bytes;   // of the mapping that holds all this
};

struct sg_machine {
    struct sg_guard guard;
    struct sg_code_view code;

    // [0] is the thread's own, with room for any group; its scratch grows to the largest need seen.
    struct sg_resident *resident[SG_MAX_RESIDENT];
    unsigned n_resident; // with storage
    uint64_t scratch_bytes;

    // The launch in progress, and what this thread counted and met of it.
    struct sg_job *job;
    bool helper; // the launch is another thread's
    const struct sg_launch *launch;
    struct sg_counts counts[SG_SHADER_ENGINES];
    struct sg_fault fault;
    uint64_t deadline_ns; // 0 = none
    uint32_t groups[3];
    unsigned group_waves;  // of a whole group
    unsigned max_resident; // of all threads
    uint64_t executed;     // instructions of turns that are over
    uint32_t lds_bytes;
    uint64_t wave_scratch_bytes;
    unsigned arch_vgprs, acc_vgprs; // granted to each wave
    struct sg_resident *turn;       // whose turn it is
    struct sg_wave *running;
    const struct sg_inst *inst;   // being executed; NULL while fetching
    const struct sg_block *block; // that `inst` is number `at` of, or NULL
    unsigned at;
    uint64_t tally[SG_CLASS_OTHER + 1]; // of the turn, until sg_group_count()
    uint64_t lanes_valu;
};

// Gives wave `index` of the group in `resident` its initial state. `size` are the work-items that this group
// really has (less than the work-group size at the edge of the grid).
void sg_wave_start(struct sg_machine *machine, struct sg_resident *resident, unsigned index,
                   const uint32_t size[3]);

// What became of a group's turn, in which each of its waves ran at most one slice.
enum sg_turn {
    SG_TURN_ENDED, // all waves have ended
    SG_TURN_MOVED,
    SG_TURN_IDLE,    // every wave waits or sleeps
    SG_TURN_WAITING, // the same, and one waits at a global wave sync resource
    SG_TURN_FAULT,   // machine->fault is filled, or another thread's
};
enum sg_turn sg_group_turn(struct sg_machine *machine, struct sg_resident *resident);

// After a jump out of an instruction: counts those of its block up to it.
void sg_group_faulted(struct sg_machine *machine);

// Adds what was tallied to the counts of the group whose turn it was.
void sg_group_count(struct sg_machine *machine);

// True when a wave that waits at a global wave sync resource may go on; it then no longer waits.
bool sg_gws_released(struct sg_wave *wave);

// Runs work-groups of the launch until none is left to begin and those begun here have ended. False: one had a fault,
// here or on another thread.
bool sg_schedule(struct sg_machine *machine);

// A mapping for a group of the launch in progress, and its end. NULL when out of memory.
struct sg_resident *sg_resident_new(const struct sg_machine *machine);
void sg_resident_free(struct sg_resident *resident);

// Work-groups of `waves` waves that one compute unit holds: its registers, waves and LDS. In launch.c.
struct sg_residency {
    unsigned groups;                     // at least 1
    unsigned by_waves, by_vgprs, by_lds; // what each would allow
};
struct sg_residency sg_residency(const struct sg_launch *launch, unsigned waves, uint32_t lds_bytes);

// Nanoseconds of the monotonic clock.
uint64_t sg_now_ns(void);

#endif
