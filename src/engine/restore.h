// SPDX-License-Identifier: MIT
// Moving bytes so that a failure of one path is survived: a list of copies is tried over the primary path
// and, if that fails, whole over the fallback. Sources are never also targets of a list, so a second try is
// safe.
#ifndef KR_RESTORE_H
#define KR_RESTORE_H

#include "engine/snapshot.h"

// Adds a copy to the shadow's batch and flushes it when full. Non-zero: both paths failed. `stats` may be
// NULL.
int kr_batch_add(struct kr_engine *engine, struct kr_shadow *shadow, void *to, const void *from, size_t bytes,
                 struct kr_stats *stats);
int kr_batch_flush(struct kr_engine *engine, struct kr_shadow *shadow, struct kr_stats *stats);

#endif
