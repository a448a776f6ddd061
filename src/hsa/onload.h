// SPDX-License-Identifier: MIT
// The two functions that ROCr looks up in a tools library, by these names.
#ifndef KR_HSA_ONLOAD_H
#define KR_HSA_ONLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kreplay/kreplay.h"

KREPLAY_API bool OnLoad(void *table, uint64_t runtime_version, uint64_t failed_tool_count,
                        const char *const *failed_tool_names);
KREPLAY_API void OnUnload(void);

#endif
