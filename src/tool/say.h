// SPDX-License-Identifier: MIT
// The one place through which the built-in tool speaks: a line on stderr and a message record in the log.
#ifndef KR_SAY_H
#define KR_SAY_H

#include "engine/level.h"

struct kr_log;

// Up to which level things are said; warning until it is called. All that the tool says are warnings.
void kr_say_level(enum kr_log_level level);

// A warning. `log` may be NULL: stderr only.
void kr_say(struct kr_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
