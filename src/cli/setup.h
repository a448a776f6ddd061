// SPDX-License-Identifier: MIT
// What a run needs and what does not change from one run of the program to the next: found and checked before
// anything is started.
#ifndef KR_SETUP_H
#define KR_SETUP_H

#include "cli/options.h"
#include "counters/groups.h"

struct kr_setup {
    const struct kr_options *options; // borrowed
    struct kr_groups groups;          // to measure
    char *derived, *inputs;           // names as struct kr_measured has them; NULL = none
    char *tool;                       // the user's, absolute; NULL = none
    bool loads;                       // kreplay is loaded into the program,
    bool logs;                        // and leaves logs there
    char *program;                    // path
    char *library;                    // libkreplay.so, or libkreplay-cuda.so
    bool nvidia;                      // which of them
    char *soft_folder;                // NULL without --soft-gpu
    char *driver;                     // what a GPU's user opens
};

// 0, or -1 with a one-line `error`. Free either way.
int kr_setup_make(const struct kr_options *options, struct kr_setup *setup, char *error, size_t error_bytes);
void kr_setup_free(struct kr_setup *setup);

#endif
