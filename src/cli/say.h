// SPDX-License-Identifier: MIT
// What the command says: one line on standard error with the prefix "kreplay: ".
#ifndef KR_SAY_H
#define KR_SAY_H

#include "cli/options.h"

// Writes the line if `level` is at or below that of the options.
void kr_say(const struct kr_options *options, enum kr_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Exit status of a command line that cannot be carried out.
enum { KR_EXIT_USAGE = 2, KR_EXIT_ROCPROFV3 = 1 };

// Says why the program is not started, as kreplay or as rocprofv3 does, and returns the exit status for that.
int kr_say_refused(const struct kr_options *options, const char *why);

#endif
