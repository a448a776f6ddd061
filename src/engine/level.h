// SPDX-License-Identifier: MIT
// How much kreplay says on standard error. A message appears when its level is at or before the one asked
// for.
#ifndef KR_LEVEL_H
#define KR_LEVEL_H

#include <stddef.h>
#include <string.h>

#define KR_ENV_LOG_LEVEL "KREPLAY_LOG_LEVEL"

#define KR_LEVEL_MAP(X)                                                                                      \
    X(FATAL, "fatal")                                                                                        \
    X(ERROR, "error")                                                                                        \
    X(WARNING, "warning")                                                                                    \
    X(INFO, "info")                                                                                          \
    X(TRACE, "trace")

enum kr_log_level {
#define X(name, word) KR_LEVEL_##name,
    KR_LEVEL_MAP(X)
#undef X
        KR_LEVEL_COUNT
};

// The level of that name. NULL or "": warning, the default. KR_LEVEL_COUNT: there is none of that name.
static inline enum kr_log_level kr_level_parse(const char *text)
{
    static const char *const words[] = {
#define X(name, word) word,
        KR_LEVEL_MAP(X)
#undef X
    };
    if (text == NULL || *text == '\0')
        return KR_LEVEL_WARNING;
    for (size_t i = 0; i < KR_LEVEL_COUNT; i++)
        if (strcmp(text, words[i]) == 0)
            return (enum kr_log_level)i;
    return KR_LEVEL_COUNT;
}

#endif
