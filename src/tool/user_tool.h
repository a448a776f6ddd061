// SPDX-License-Identifier: MIT
// A user's tool: a library that is loaded into the profiled process beside kreplay's own tool, or instead of it.
#ifndef KR_USER_TOOL_H
#define KR_USER_TOOL_H

#include <stddef.h>

// Loads the library and calls its kreplay_tool_start(). It stays loaded. KREPLAY_IO: it cannot be loaded;
// KREPLAY_UNSUPPORTED: it is no tool, or says that it cannot start; `error` has the words.
int kr_user_tool_load(const char *path, char *error, size_t error_bytes);

#endif
