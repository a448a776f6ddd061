// SPDX-License-Identifier: MIT
#include "cli/say.h"

#include "engine/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void kr_say(const struct kr_options *options, enum kr_log_level level, const char *format, ...)
{
    if ((int)level > options->log_level)
        return;
    char text[KR_LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    kr_line(STDERR_FILENO, text);
}

int kr_say_refused(const struct kr_options *options, const char *why)
{
    if (options->compat == KR_COMPAT_ROCPROFV3) {
        fprintf(stderr, "[rocprofv3] Fatal error: %s\n", why);
        return KR_EXIT_ROCPROFV3;
    }
    kr_say(options, KR_LEVEL_ERROR, "%s", why);
    return KR_EXIT_USAGE;
}
