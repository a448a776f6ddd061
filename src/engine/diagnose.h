// SPDX-License-Identifier: MIT
// One line on standard error for each attempt to replay a dispatch. Its prefix, its keys and their order are
// those of rocprofiler-sdk's kernel replay, so that scripts which read that line read this one.
#ifndef KR_DIAGNOSE_H
#define KR_DIAGNOSE_H

#include "kreplay/kreplay.h"

#include <stdatomic.h>

struct kr_engine;

enum {
    KR_REASON_COUNT = 0
#define X(name, number, key, text) +1
    KREPLAY_REASON_MAP(X)
#undef X
};

// Lines said at warning level, by reason: none stands for replays into which something was submitted.
struct kr_diagnosed {
    _Atomic uint32_t said[KR_REASON_COUNT];
};

#define KR_DIAGNOSIS_BYTES 512 // enough for any line

// The line, without "kreplay: " and newline.
void kr_diagnosis(uint64_t dispatch_id, const kreplay_outcome *outcome, char *line, size_t bytes);

// Says it: declined and re-entrant dispatches at warning level, where the first ten of a reason must do; the
// others at info level. Dispatches for which no replay was asked have no line.
void kr_diagnose(struct kr_engine *engine, const kreplay_dispatch_record *record);

#endif
