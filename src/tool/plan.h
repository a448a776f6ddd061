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

// What was asked for. Names are separated by blanks; all must outlive the plan.
struct kr_plan_wish {
    const struct kr_groups *groups; // of hardware counters
    const char *derived;            // counters to be worked out from these,
    const char *inputs;             // and counters of the groups that are there only for them
    bool witness;                   // see kr_witness_add
};

// Holds the groups against the counters of the GPU: a group of which it has no counter is skipped, one of
// which it has some is kept, with a message in both cases. Writes the counters, their roles and the groups to the
// log.
// NULL: out of memory (said).
struct kr_plan *kr_plan_create(const kreplay_agent *agent, const struct kr_plan_wish *wish,
                               struct kr_log *log);
void kr_plan_destroy(struct kr_plan *plan);

#endif
