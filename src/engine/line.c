// SPDX-License-Identifier: MIT
#include "engine/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void kr_line(int fd, const char *text)
{
    int err = errno;
    char line[KR_LINE_BYTES];
    int length = snprintf(line, sizeof(line) - 1, "kreplay: %s", text); // one byte less: the newline
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used > sizeof(line) - 2)
        used = sizeof(line) - 2;
    line[used++] = '\n';
    ssize_t written = write(fd, line, used);
    (void)written; // nobody to tell
    errno = err;
}

enum kr_log_level kr_level_asked(void)
{
    enum kr_log_level level = kr_level_parse(getenv(KR_ENV_LOG_LEVEL));
    return level == KR_LEVEL_COUNT ? KR_LEVEL_WARNING : level;
}
