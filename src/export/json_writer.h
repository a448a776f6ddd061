// SPDX-License-Identifier: MIT
// Writes JSON as it is told to, with indentation and commas, and keeps only the nesting in memory.
#ifndef KR_JSON_WRITER_H
#define KR_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { KR_JSON_DEPTH = 32 };

struct kr_json {
    FILE *out;
    unsigned depth;
    bool filled[KR_JSON_DEPTH]; // whether the object or list at this depth has a member
    bool list[KR_JSON_DEPTH];
    unsigned flat; // depth from which everything stands on one line; 0 = nowhere
};

void kr_json_begin(struct kr_json *json, FILE *out); // opens the outermost object
void kr_json_end(struct kr_json *json);              // closes it and ends the line

// key NULL inside a list.
void kr_json_object(struct kr_json *json, const char *key);
void kr_json_list(struct kr_json *json, const char *key);
void kr_json_close(struct kr_json *json); // the innermost object or list
void kr_json_flat(struct kr_json *json);  // until the innermost is closed, its members go on one line

void kr_json_u64(struct kr_json *json, const char *key, uint64_t value);
void kr_json_real(struct kr_json *json, const char *key, double value); // infinite or undefined: null
void kr_json_i64(struct kr_json *json, const char *key, int64_t value);
void kr_json_bool(struct kr_json *json, const char *key, bool value);
void kr_json_text(struct kr_json *json, const char *key, const char *text); // NULL is written as null
void kr_json_raw(struct kr_json *json, const char *key, const char *text);  // JSON as it is

#endif
