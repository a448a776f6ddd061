// SPDX-License-Identifier: MIT
// The functions of the public API that the tool calls, answered from a table of counters per GPU.
#ifndef STUB_API_H
#define STUB_API_H

#include "kreplay/kreplay.h"

struct kreplay_group {
    uint32_t agent_id;
    char names[200]; // joined by blanks
};

struct stub {
    kreplay_tool tool;          // as registered; size 0 if none is
    int register_status;        // what kreplay_register answers
    const char *counters[2][8]; // by GPU, NULL-terminated; ids are 100 * GPU + position + 1
    int counters_status[2];     // non-zero: kreplay_counters fails so
    const char *refused;        // a group with this counter does not fit
    unsigned groups_alive;
};

extern struct stub stub;

#endif
