// SPDX-License-Identifier: MIT
// From the counters that somebody asked for to those that the hardware measures: derived counters give way to
// their inputs, and what then fits in no single pass is cut up.
#ifndef KR_DERIVE_H
#define KR_DERIVE_H

#include "counters/catalogue.h"
#include "counters/groups.h"

#include <stdbool.h>

struct kr_measured {
    struct kr_groups groups; // of hardware counters; passes of one group asked for follow each other
    size_t *passes;          // for each group asked for: how many of these it became
    char *derived;           // names asked for, each once, separated by blanks; "" = none
    char *inputs;            // measured for these alone: nobody asked for them by name
};

// `split`: groups that do not fit may become several (split.h). Inputs of one derived counter then stay in one
// pass, unless they do not fit there by themselves; passes are filled in the order in which the counters were
// asked for. Without it they are left as they are, for kr_catalogue_check_group() to refuse.
// On error nothing is left to free: KREPLAY_UNSUPPORTED (a derived counter that hardware has to accumulate),
// KREPLAY_INVALID (an expression of the catalogue's), KREPLAY_NO_MEMORY; `error` says in one line what and why.
int kr_measured_make(const struct kr_groups *asked, const struct kr_catalogue *catalogue, bool split,
                     struct kr_measured *out, char *error, size_t error_bytes);
void kr_measured_free(struct kr_measured *measured); // leaves it empty

#endif
