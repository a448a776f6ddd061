// SPDX-License-Identifier: MIT
#include "tool/say.h"
#include "log/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX     "kreplay: "
#define LINE_BYTES 1024u

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
    char line[LINE_BYTES] = PREFIX;
    char *text = line + strlen(PREFIX);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(line) - strlen(PREFIX) - 1, format, args); // one byte less: the newline
    va_end(args);
    if (log != NULL)
        (void)kr_log_put_message(log, text);
    size_t length = strlen(line);
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; // nobody to tell
    errno = err;
}
