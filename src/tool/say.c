// SPDX-License-Identifier: MIT
#include "tool/say.h"
#include "engine/line.h"
#include "log/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic int chosen = KR_LEVEL_WARNING;

void kr_say_level(enum kr_log_level level)
{
    chosen = (int)level;
}

void kr_say(struct kr_log *log, const char *format, ...)
{
    if (chosen < KR_LEVEL_WARNING)
        return;
    int err = errno;
    char text[KR_LINE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (log != NULL)
        (void)kr_log_put_message(log, text);
    kr_line(STDERR_FILENO, text);
    errno = err;
}
