// SPDX-License-Identifier: MIT
// Owns the line about one replay attempt, and how often it is said.
#include "engine/diagnose.h"

#include "engine/internal.h"

#include <inttypes.h>
#include <stdio.h>

#define WARNINGS_PER_REASON 10u

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

void kr_diagnosis(uint64_t dispatch_id, const kreplay_outcome *outcome, char *line, size_t bytes)
{
    snprintf(line, bytes,
             "[kernel-replay] dispatch_id=%" PRIu64 " outcome=%s reason=%s requested_passes=%" PRIu32
             " executed_passes=%" PRIu32 " footprint_bytes=%" PRIu64 " footprint_regions=%" PRIu64
             " untracked_vmem_bytes=%" PRIu64 " untracked_vmem_regions=%" PRIu64
             " untracked_pool_bytes=%" PRIu64 " untracked_pool_regions=%" PRIu64
             " snap_seconds=%.4f restore_seconds=%.4f reentrancy=%d",
             dispatch_id, outcome->kind == KREPLAY_DECLINED ? "declined" : "replayed",
             kreplay_reason_key(outcome->reason), outcome->requested_passes, outcome->executed_passes,
             outcome->captured_bytes, outcome->captured_regions, outcome->untracked_vmem_bytes,
             outcome->untracked_vmem_regions, outcome->untracked_bytes - outcome->untracked_vmem_bytes,
             outcome->untracked_regions - outcome->untracked_vmem_regions, seconds(outcome->snapshot_ns),
             seconds(outcome->restore_ns), outcome->reentrant);
}

// Whether this line of a reason is said, and after which of them that no more follow.
static bool within_limit(struct kr_engine *engine, kreplay_reason reason, bool *last)
{
    *last = false;
    if (engine->level > KR_LEVEL_WARNING || (unsigned)reason >= KR_REASON_COUNT)
        return true; // whoever asks for more gets all
    // Looked at first, so that the number cannot come round again.
    if (atomic_load(&engine->diagnosed.said[reason]) >= WARNINGS_PER_REASON)
        return false;
    uint32_t before = atomic_fetch_add(&engine->diagnosed.said[reason], 1);
    *last = before + 1 == WARNINGS_PER_REASON;
    return before < WARNINGS_PER_REASON;
}

void kr_diagnose(struct kr_engine *engine, const kreplay_dispatch_record *record)
{
    const kreplay_outcome *outcome = record->outcome;
    char line[KR_DIAGNOSIS_BYTES];
    bool warn = outcome->kind == KREPLAY_DECLINED || outcome->reentrant, last = false;

    if (outcome->kind != KREPLAY_REPLAYED && outcome->kind != KREPLAY_DECLINED)
        return;
    enum kr_log_level level = warn ? KR_LEVEL_WARNING : KR_LEVEL_INFO;
    if (level > engine->level || (warn && !within_limit(engine, outcome->reason, &last)))
        return;
    kr_diagnosis(record->dispatch->dispatch_id, outcome, line, sizeof line);
    kr_engine_say(engine, level, "%s", line);
    if (last)
        kr_engine_say(engine, level,
                      "no more lines with reason=%s: the summary counts them, and " KR_ENV_LOG_LEVEL
                      "=info shows each",
                      kreplay_reason_key(outcome->reason));
}
