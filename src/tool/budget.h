// SPDX-License-Identifier: MIT
// How long replay may take in a run, beside the program's own executions: when it is spent, kernels run unmeasured.
#ifndef KR_BUDGET_H
#define KR_BUDGET_H

#include "kreplay/kreplay.h"

#include <stdatomic.h>

struct kr_budget {
    uint64_t limit_ns; // 0 = none
    atomic_uint_fast64_t spent_ns;
};

// Adds what the dispatch took in its window. True: with it the budget is spent; once in a run.
bool kr_budget_take(struct kr_budget *budget, const kreplay_outcome *outcome);
bool kr_budget_is_spent(const struct kr_budget *budget);

#endif
