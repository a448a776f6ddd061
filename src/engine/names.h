// SPDX-License-Identifier: MIT
// Kernels that are not repeated because of their name: those of collective communication, which wait for partners
// that do not run again, and whatever the user adds.
#ifndef KR_NAMES_H
#define KR_NAMES_H

#include "kreplay/kreplay.h"

// Parts of names, separated by commas, in place of the default ones; with a "+" before the first, beside them.
#define KR_ENV_DECLINE_KERNELS "KREPLAY_DECLINE_KERNELS"

enum { KR_NAME_PARTS = 64 };

struct kr_names {
    char *text; // owned; the parts point into it
    const char *parts[KR_NAME_PARTS];
    unsigned count;
    _Atomic uint64_t said; // bits of parts that were mentioned
};

// KREPLAY_NO_MEMORY: there are none. What does not fit is left out: KREPLAY_INVALID.
int kr_names_read(struct kr_names *names, const char *environment);
void kr_names_free(struct kr_names *names);
// The part that the name contains, or NULL. *first: nobody has asked about it before.
const char *kr_names_find(struct kr_names *names, const char *kernel, bool *first);

#endif
