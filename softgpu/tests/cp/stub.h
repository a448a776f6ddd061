// SPDX-License-Identifier: MIT
// What surrounds the command processor in its tests: an interpreter that calls a C function instead of GPU
// code, and events that are only counted.
#ifndef SG_TEST_STUB_H
#define SG_TEST_STUB_H

#include "softgpu/isa/isa.h"

#include <stdatomic.h>
#include <stdint.h>

// A "kernel": the packet's kernarg address points to one of these. `run` is called on the queue's thread; a
// non-zero fault kind makes the launch fail with it.
struct stub_kernel {
    enum sg_fault_kind (*run)(struct stub_kernel *self, const struct sg_launch *launch);
    void *arg;
};

// Called for every event raised, on the thread that raises it; NULL does nothing.
extern void (*_Atomic stub_on_event)(uint32_t event_id);
extern atomic_uint stub_events_raised;
extern atomic_uint stub_last_event;

extern atomic_int stub_has_memory_event; // what sg_event_memory_fault answers
extern atomic_ullong stub_fault_address; // last address reported to it
extern atomic_uint stub_invalidations;   // calls of sg_isa_invalidate for everything

#endif
