// SPDX-License-Identifier: MIT
// Host faults of emulated memory accesses. While a thread has armed a guard, SIGSEGV and SIGBUS on that
// thread jump to the guard's `env` instead of ending the process; on all other threads they go to whoever had
// the signals before. Arming is one store to a thread-local pointer, so an access itself costs nothing.
#ifndef SG_GUARD_H
#define SG_GUARD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

struct sg_guard {
    sigjmp_buf env;   // set with sigsetjmp(env, 0) before arming
    uint64_t address; // of the access, as the host reports it
    bool no_address;  // the host reports none: the address was not canonical
};

// Takes the two signals when somebody else has them: called at every launch, as programs install handlers at
// any time. Faults that are not of emulated accesses go on to them.
void sg_guard_install(void);

// Arms `guard` for the calling thread, or disarms with NULL. Nothing that holds a lock may run while armed
// and touch emulated memory.
void sg_guard_arm(struct sg_guard *guard);

#endif
