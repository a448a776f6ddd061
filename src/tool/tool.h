// SPDX-License-Identifier: MIT
// The built-in counter tool: a plain client of include/kreplay/kreplay.h that replays every dispatch once per
// counter group and writes the record log.
#ifndef KR_TOOL_H
#define KR_TOOL_H

// Reads the environment (settings.h), opens the log, registers the tool and loads the user's. Called by a back
// end after it has made the engine and before it adds agents. `backend` names it in the log. Returns 0 (also
// when there is nothing to collect: then no tool is registered and kreplay stays passive) or a negative
// kreplay_status with `error` filled.
int kr_tool_start(const char *backend, char *error, unsigned long error_bytes);

// The process goes down now. The tool's last call then only completes the log: threads of the program may
// still be inside libraries that are torn down already, and each microsecond more is one in which they can
// crash.
void kr_tool_hurry(void);

#endif
