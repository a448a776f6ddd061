// SPDX-License-Identifier: MIT
// The back end's life in a process: open, begin, end. Not more than one.
#ifndef KR_HSA_LIFE_H
#define KR_HSA_LIFE_H

#include "hsa/state.h"

// Reads the runtime's API table and makes the engine; nothing is changed yet. On error there is nothing to
// undo.
int kr_hsa_open(void *root_table, char *error, size_t error_bytes);

// Nobody wants to collect: forgets the engine, the runtime's table was never touched.
void kr_hsa_leave_alone(void);

// Hooks the table.
void kr_hsa_begin(void);

// Ends collection: waiting dispatches are run, and hooks pass everything through from now on; dispatches that
// still come are recorded as declined. False: there was nothing to end (not begun, ended before, or this is a
// fork child), or a thread did not come back in time, and then everything that it may still use stays as it
// is. The log is complete up to there either way.
bool kr_hsa_end(void);

// After kr_hsa_end() both give the tool its last call; they do nothing if it returned false, or when called
// again. The first is for the very end of a process, when the runtime may be gone.
void kr_hsa_last_call(void);
// While the runtime is still there: also gives back what was taken from it.
void kr_hsa_close(void);

#endif
