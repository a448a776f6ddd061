// SPDX-License-Identifier: MIT
// What the command tells the profiled process, by environment variables. The command sets them; somebody who
// loads libkreplay.so by hand may set them too.
#ifndef KR_SETTINGS_H
#define KR_SETTINGS_H

#include "engine/level.h" // KR_ENV_LOG_LEVEL
#include "select/selection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Counter groups: names separated by blanks or commas, groups by ';'. Unset or empty: nothing is collected,
// kreplay passes everything through.
#define KR_ENV_PMC "KREPLAY_PMC"
// Derived counters that were asked for, separated by blanks: their inputs are in the groups, their values are
// worked out from the log. And the counters of the groups that nobody asked for by name, but for these.
#define KR_ENV_DERIVED "KREPLAY_DERIVED"
#define KR_ENV_INPUTS  "KREPLAY_INPUTS"
// Folder for the record log; the file is <folder>/<pid>.krlog. Unset: "kreplay-run" in the current folder.
#define KR_ENV_RUN_DIR "KREPLAY_RUN_DIR"
// Id of the run, decimal; 0 or unset: made from time and pid.
#define KR_ENV_RUN_ID "KREPLAY_RUN_ID"
// Whether a witness is repeated in groups that have room for it: on (default) or off.
#define KR_ENV_WITNESS "KREPLAY_WITNESS"
// Seconds that replay may take in the process beside the program's own executions, decimal; 0 or unset: no limit.
#define KR_ENV_BUDGET "KREPLAY_BUDGET"
// A user's tool, a library, that joins kreplay's own; and whether it replaces it: on or off (default).
#define KR_ENV_TOOL      "KREPLAY_TOOL"
#define KR_ENV_TOOL_ONLY "KREPLAY_TOOL_ONLY"
// Which dispatches are measured: the rules of select/selection.h, in its order; the base is one of
// KR_NAME_BASE_MAP's words. Unset or empty: no such rule.
#define KR_ENV_INCLUDE    "KREPLAY_KERNEL_INCLUDE_REGEX"
#define KR_ENV_EXCLUDE    "KREPLAY_KERNEL_EXCLUDE_REGEX"
#define KR_ENV_NAME       "KREPLAY_KERNEL_NAME"
#define KR_ENV_NAME_BASE  "KREPLAY_KERNEL_NAME_BASE"
#define KR_ENV_ITERATIONS "KREPLAY_KERNEL_ITERATION_RANGE"
#define KR_ENV_MOST       "KREPLAY_MAX_PER_KERNEL"
#define KR_ENV_SKIP       "KREPLAY_LAUNCH_SKIP"
#define KR_ENV_COUNT      "KREPLAY_LAUNCH_COUNT"
// Debug switches that break one mechanism each, comma separated; see engine/fault.h.
#define KR_ENV_FAULT "KREPLAY_FAULT"

// What of it the built-in tool uses. Strings belong to the environment.
struct kr_settings {
    const char *pmc; // never NULL, nor the next three
    const char *derived, *inputs;
    const char *run_dir;
    uint64_t run_id; // 0 = none given
    bool witness;
    uint64_t budget_s; // 0 = none
    const char *tool;  // never NULL; "" = none
    bool tool_only;
    struct kr_selection_rules selection;
    enum kr_log_level level;
};

// 0, or KREPLAY_INVALID with a one-line `error`.
int kr_settings_read(struct kr_settings *out, char *error, size_t error_bytes);

#endif
