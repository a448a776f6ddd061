// SPDX-License-Identifier: MIT
// Text of the outputs is UTF-8, whatever bytes a program's arguments or names have.
#ifndef KR_UTF8_H
#define KR_UTF8_H

#include <sqlite3.h>
#include <stddef.h>

// Bytes of the well-formed sequence that `text` begins with (Unicode 15, table 3-7), 0 if it begins with
// none.
size_t kr_utf8_sequence(const char *text);

// A copy of `text` with U+FFFD for every byte that belongs to no sequence; the caller frees. NULL: out of
// memory.
char *kr_utf8_repair(const char *text);

// Binds `text` (NULL = SQL's NULL), repaired where needed. A code of SQLite's.
int kr_bind_text(sqlite3_stmt *statement, int index, const char *text);

#endif
