// SPDX-License-Identifier: MIT
// Runs an export over sample logs and hands back its text.
#ifndef KR_EXPORT_FIXTURE_H
#define KR_EXPORT_FIXTURE_H

#include "export/export.h"
#include "sample_log.h"

#include <stddef.h>

// The text of `run` over a store of the given logs (`path` is filled in); the caller frees. Fails the test on
// error.
char *export_text(const struct sample_log *logs, size_t count, int (*run)(struct kr_export *export));

#endif
