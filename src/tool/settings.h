// SPDX-License-Identifier: MIT
// What the command tells the profiled process, by environment variables. The command sets them; somebody who loads
// libkreplay.so by hand may set them too.
#ifndef KR_SETTINGS_H
#define KR_SETTINGS_H

// Counter groups: names separated by blanks or commas, groups by ';'. Unset or empty: nothing is collected, kreplay
// passes everything through.
#define KR_ENV_PMC "KREPLAY_PMC"
// Folder for the record log; the file is <folder>/<pid>.krlog. Unset: "kreplay-run" in the current folder.
#define KR_ENV_RUN_DIR "KREPLAY_RUN_DIR"
// Id of the run, decimal; 0 or unset: made from time and pid.
#define KR_ENV_RUN_ID "KREPLAY_RUN_ID"
// Debug switches that break one mechanism each, comma separated; see engine/fault.h.
#define KR_ENV_FAULT "KREPLAY_FAULT"

#endif
