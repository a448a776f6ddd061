// SPDX-License-Identifier: MIT
// Text put together piece by piece in a caller's buffer; what does not fit is cut, the result is always
// terminated.
#ifndef KR_TEXT_H
#define KR_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct kr_text {
    char *at; // may be NULL when room is 0
    size_t room;
};

static inline void __attribute__((format(printf, 2, 3)))
kr_text_add(struct kr_text *text, const char *format, ...)
{
    if (text->room == 0)
        return;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at, text->room, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += used;
    text->room -= used;
}

#endif
