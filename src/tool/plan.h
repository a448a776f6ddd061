// SPDX-License-Identifier: MIT
// What is collected on one GPU: its share of the counter groups asked for, pass by pass.
#ifndef KR_PLAN_H
#define KR_PLAN_H

#include "counters/groups.h"
#include "log/record.h"
#include "tool/witness.h"

struct kr_plan {
    struct kr_plan *next;
    uint32_t agent_id;
    kreplay_group **groups; // pass i collects groups[i]
    size_t count;           // 0: nothing can be collected here, and `reason` is why
    kreplay_reason reason;
    struct kr_repeated *repeated; // names are the groups' that the plan was made of
    size_t repeated_count;
};

// Holds the groups against the counters of the GPU: a group of which it has no counter is skipped, one of
// which it has some is kept, with a message in both cases. `witness`: see kr_witness_add. `groups` must
// outlive the plan. Writes the counters and the groups to the log.
// NULL: out of memory (said).
struct kr_plan *kr_plan_create(const kreplay_agent *agent, const struct kr_groups *groups, bool witness,
                               struct kr_log *log);
void kr_plan_destroy(struct kr_plan *plan);

#endif
