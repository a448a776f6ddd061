// SPDX-License-Identifier: MIT
// The one form in which the command, the engine, the built-in tool and the entries of the back ends speak.
#ifndef KR_LINE_H
#define KR_LINE_H

#include "engine/level.h"

#define KR_LINE_BYTES 1024u // with prefix, newline and final zero; what is longer is cut

// Writes "kreplay: text" and a newline to `fd` in one write, so that lines of several threads and processes
// do not mix. Leaves errno alone. Any thread.
void kr_line(int fd, const char *text);

// The level that KREPLAY_LOG_LEVEL asks for, which programs under kreplay inherit; the default where it names
// none that there is.
enum kr_log_level kr_level_asked(void);

#endif
