// SPDX-License-Identifier: MIT
// A streaming JSON writer.
#include "export/json_writer.h"

#include <assert.h>
#include <inttypes.h>

static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at == '\n')
            fputs("\\n", out);
        else if (*at == '\t')
            fputs("\\t", out);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            putc(*at, out);
    }
    putc('"', out);
}

static void new_line(struct kr_json *json)
{
    if (json->flat && json->depth >= json->flat) {
        putc(' ', json->out);
        return;
    }
    fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

// What stands before each member: comma, line, key.
static void put_key(struct kr_json *json, const char *key)
{
    unsigned top = json->depth - 1;
    if (json->filled[top])
        putc(',', json->out);
    if (json->filled[top] || !json->flat || json->depth < json->flat)
        new_line(json);
    json->filled[top] = true;
    assert(json->list[top] == !key);
    if (!key)
        return;
    put_string(json->out, key);
    fputs(": ", json->out);
}

static void open_level(struct kr_json *json, bool list)
{
    assert(json->depth < KR_JSON_DEPTH);
    putc(list ? '[' : '{', json->out);
    json->filled[json->depth] = false;
    json->list[json->depth] = list;
    json->depth++;
}

void kr_json_begin(struct kr_json *json, FILE *out)
{
    *json = (struct kr_json){.out = out};
    open_level(json, false);
}

void kr_json_object(struct kr_json *json, const char *key)
{
    put_key(json, key);
    open_level(json, false);
}

void kr_json_list(struct kr_json *json, const char *key)
{
    put_key(json, key);
    open_level(json, true);
}

void kr_json_flat(struct kr_json *json)
{
    if (!json->flat)
        json->flat = json->depth;
}

void kr_json_close(struct kr_json *json)
{
    bool on_line = json->flat && json->depth >= json->flat;
    if (json->flat == json->depth)
        json->flat = 0;
    json->depth--;
    if (json->filled[json->depth] && !on_line)
        new_line(json);
    putc(json->list[json->depth] ? ']' : '}', json->out);
}

void kr_json_end(struct kr_json *json)
{
    kr_json_close(json);
    putc('\n', json->out);
    assert(json->depth == 0);
}

void kr_json_u64(struct kr_json *json, const char *key, uint64_t value)
{
    put_key(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void kr_json_real(struct kr_json *json, const char *key, double value)
{
    put_key(json, key);
    // Infinity minus itself is not 0, and neither is what is undefined.
    if (value - value == 0)
        fprintf(json->out, "%.17g", value);
    else
        fputs("null", json->out);
}

void kr_json_i64(struct kr_json *json, const char *key, int64_t value)
{
    put_key(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void kr_json_bool(struct kr_json *json, const char *key, bool value)
{
    put_key(json, key);
    fputs(value ? "true" : "false", json->out);
}

void kr_json_text(struct kr_json *json, const char *key, const char *text)
{
    put_key(json, key);
    if (text)
        put_string(json->out, text);
    else
        fputs("null", json->out);
}

void kr_json_raw(struct kr_json *json, const char *key, const char *text)
{
    put_key(json, key);
    fputs(text, json->out);
}
