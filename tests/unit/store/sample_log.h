// SPDX-License-Identifier: MIT
// Writes small record logs for the tests of store and exports: one GPU, three kernels, five passes with the
// counters of a usual run, and one declined dispatch.
#ifndef KR_SAMPLE_LOG_H
#define KR_SAMPLE_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct sample_log {
    const char *path;
    uint32_t pid;              // 0 = 4242
    bool killed;               // no last record
    bool idle;                 // no dispatches and no message about them
    bool drift;                // SQ_WAVES of dispatch 1 differs in its last pass
    bool witness;              // SQ_WAVES is asked for in pass 1 only and the witness of the other passes
    bool untimed;              // the declined dispatch has no times
    bool derived;              // GPUBusy and VALUInsts were asked for, and not their inputs of GRBM
    uint64_t lost;             // records, as the last record says
    uint64_t huge_value;       // when not 0: SQ_WAVES of dispatch 1, instance 0, in every pass
    unsigned plain_dispatches; // this many more dispatches without values
    unsigned only_group; // when not 0: a run of this group alone (from 1), as application replay makes them
    uint64_t without;    // when not 0: this dispatch did not happen
    uint64_t counter_shift; // added to the ids of all counters
};

enum {
    SAMPLE_PASSES = 5,
    SAMPLE_INSTANCES = 2,
    SAMPLE_DISPATCHES = 4, // the last one declined
};

// Exits the test with a message when the log cannot be written.
void sample_log_write(const struct sample_log *sample);

// What the log says SQ_WAVES of a dispatch is, over both instances.
uint64_t sample_waves(uint64_t dispatch_id);

#endif
