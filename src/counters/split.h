// SPDX-License-Identifier: MIT
// Counter groups that ask for more registers than a block has, cut into the fewest that fit.
#ifndef KR_SPLIT_H
#define KR_SPLIT_H

#include "counters/catalogue.h"
#include "counters/groups.h"

// *out: the groups in their order, each that does not fit in place of itself as the fewest groups that do.
// Counters of a block that fits stay together, in the first of them; those of a block that does not are spread
// evenly, in their order, so that registers stay free in each. `passes`: for each of `groups` how many it
// became. Counters that the catalogue does not have are left for the check of the groups to name.
// KREPLAY_NO_MEMORY: nothing to free.
int kr_groups_split(const struct kr_groups *groups, const struct kr_catalogue *catalogue,
                    struct kr_groups *out, size_t *passes);

#endif
