// SPDX-License-Identifier: MIT
// What the log says about the process it is in.
#ifndef KR_PROCESS_H
#define KR_PROCESS_H

#include "log/record.h"

// Fills *out but for backend and version; a zero run_id is replaced. hostname and command are allocated.
int kr_process_describe(uint64_t run_id, kr_log_process *out); // KREPLAY_NO_MEMORY: nothing to free
void kr_process_free(kr_log_process *process);

// Joins NUL-separated arguments by blanks, quoted so that a POSIX shell would read the same arguments. free()
// it.
char *kr_process_quote(const char *arguments, size_t bytes); // NULL: out of memory

#endif
