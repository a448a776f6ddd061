// SPDX-License-Identifier: MIT
// Owns the words for what can happen, and the outcome of one dispatch.
#include "engine/internal.h"

const char *kreplay_status_text(int status)
{
    switch (status) {
#define X(name, value, text)                                                                                 \
    case KREPLAY_##name:                                                                                     \
        return text;
        KREPLAY_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

const char *kreplay_reason_key(kreplay_reason reason)
{
    switch (reason) {
#define X(name, number, key, text)                                                                           \
    case KREPLAY_REASON_##name:                                                                              \
        return key;
        KREPLAY_REASON_MAP(X)
#undef X
    }
    return "unknown";
}

const char *kreplay_reason_text(kreplay_reason reason)
{
    switch (reason) {
#define X(name, number, key, text)                                                                           \
    case KREPLAY_REASON_##name:                                                                              \
        return text;
        KREPLAY_REASON_MAP(X)
#undef X
    }
    return "unknown reason";
}

kreplay_outcome kr_run_outcome(const struct kr_run *run, const struct kr_op_run *op)
{
    kreplay_outcome outcome = run->outcome;
    outcome.size = sizeof outcome;
    outcome.kind = op->kind;
    outcome.reason = op->reason;
    outcome.requested_passes = op->requested;
    outcome.executed_passes = op->executed;
    outcome.compared_bytes = run->stats.compared_bytes;
    outcome.restored_bytes = run->stats.restored_bytes;
    outcome.restore_retries = run->stats.restore_retries;
    return outcome;
}
