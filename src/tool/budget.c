// SPDX-License-Identifier: MIT
#include "tool/budget.h"

bool kr_budget_take(struct kr_budget *budget, const kreplay_outcome *outcome)
{
    uint64_t took = outcome->gate_ns + outcome->drain_ns + outcome->snapshot_ns + outcome->compare_ns +
                    outcome->restore_ns + outcome->passes_ns +
                    outcome->finish_ns; // the live execution is the program's
    uint64_t before = atomic_fetch_add(&budget->spent_ns, took);
    return budget->limit_ns != 0 && before < budget->limit_ns && before + took >= budget->limit_ns;
}

bool kr_budget_is_spent(const struct kr_budget *budget)
{
    return budget->limit_ns != 0 && atomic_load(&budget->spent_ns) >= budget->limit_ns;
}
