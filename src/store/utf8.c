// SPDX-License-Identifier: MIT
// Well-formed UTF-8, and the repair of what is not.
#include "store/utf8.h"

#include <stdlib.h>
#include <string.h>

static int between(unsigned char byte, unsigned low, unsigned high)
{
    return byte >= low && byte <= high;
}

size_t kr_utf8_sequence(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    if (b[0] < 0x80)
        return b[0] != 0;
    if (between(b[0], 0xc2, 0xdf))
        return between(b[1], 0x80, 0xbf) ? 2 : 0;
    // The second byte's range keeps out overlong forms, surrogates and what is above U+10FFFF.
    if (between(b[0], 0xe0, 0xef)) {
        unsigned low = b[0] == 0xe0 ? 0xa0 : 0x80, high = b[0] == 0xed ? 0x9f : 0xbf;
        return between(b[1], low, high) && between(b[2], 0x80, 0xbf) ? 3 : 0;
    }
    if (between(b[0], 0xf0, 0xf4)) {
        unsigned low = b[0] == 0xf0 ? 0x90 : 0x80, high = b[0] == 0xf4 ? 0x8f : 0xbf;
        return between(b[1], low, high) && between(b[2], 0x80, 0xbf) && between(b[3], 0x80, 0xbf) ? 4 : 0;
    }
    return 0;
}

// Bytes that belong to no sequence.
static size_t count_bad(const char *text)
{
    size_t bad = 0;
    while (*text) {
        size_t bytes = kr_utf8_sequence(text);
        bad += bytes == 0;
        text += bytes ? bytes : 1;
    }
    return bad;
}

char *kr_utf8_repair(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd"; // U+FFFD
    const size_t replacement_bytes = sizeof(replacement) - 1;
    char *repaired = malloc(strlen(text) + count_bad(text) * (replacement_bytes - 1) + 1);
    if (!repaired)
        return NULL;
    char *out = repaired;
    while (*text) {
        size_t bytes = kr_utf8_sequence(text);
        memcpy(out, bytes ? text : replacement, bytes ? bytes : replacement_bytes);
        out += bytes ? bytes : replacement_bytes;
        text += bytes ? bytes : 1;
    }
    *out = '\0';
    return repaired;
}

int kr_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    if (!text || count_bad(text) == 0)
        return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
    char *repaired = kr_utf8_repair(text);
    return repaired ? sqlite3_bind_text(statement, index, repaired, -1, free) : SQLITE_NOMEM;
}
