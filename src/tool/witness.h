// SPDX-License-Identifier: MIT
// Counters that several passes collect, so that the passes can be held against each other: those that the
// user put into several groups, and the witness, which kreplay adds where it costs no pass.
#ifndef KR_WITNESS_H
#define KR_WITNESS_H

#include "kreplay/kreplay.h"

// One group of a plan while it is made: what was asked for of it and exists on the GPU.
struct kr_plan_group {
    uint32_t index; // on the command line
    const char **names;
    uint64_t *ids; // as many; both have room for one more
    size_t count;
    kreplay_group *group;
    uint64_t witness; // counter added to the group; 0 = none
};

// A counter's id by its name, 0 if the GPU has none.
typedef uint64_t (*kr_find_counter)(const void *arg, const char *name);

// Adds a witness to each group that lacks it, if one fits all of them; else leaves all as they are. Nothing
// is added when some counter is in all groups already, or when there is only one group.
void kr_witness_add(struct kr_plan_group *groups, size_t count, uint32_t agent_id, kr_find_counter find,
                    const void *arg);

// A counter that several groups of the plan have.
struct kr_repeated {
    uint64_t counter_id;
    const char *name; // the group's
    double tolerance;
};

// *out is to be freed; NULL when no counter is repeated. -1: out of memory.
int kr_repeated_list(const struct kr_plan_group *groups, size_t count, struct kr_repeated **out,
                     size_t *out_count);

// The passes with the least and the most of a counter.
struct kr_disagreement {
    const struct kr_repeated *counter;
    uint32_t least_pass, most_pass;
    double least, most;
};

// How many of the counters differ between the record's passes beyond their tolerance; *first is one of them.
uint32_t kr_repeated_disagree(const struct kr_repeated *list, size_t count,
                              const kreplay_dispatch_record *record, struct kr_disagreement *first);

#endif
