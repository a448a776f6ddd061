// SPDX-License-Identifier: MIT
// Little-endian bytes out and in, with bounds. A writer past its capacity only counts, so the same code first
// measures a record and then writes it. A reader past its end fails once and then yields zeros; the caller
// looks at `failed`.
#ifndef KR_WIRE_H
#define KR_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kr_out {
    uint8_t *bytes; // NULL when capacity is 0
    size_t capacity;
    size_t used; // may exceed capacity: then nothing was written beyond it
};

static inline void kr_out_bytes(struct kr_out *out, const void *from, size_t count)
{
    if (count != 0 && out->used <= out->capacity && count <= out->capacity - out->used)
        memcpy(out->bytes + out->used, from, count);
    out->used += count;
}

static inline void kr_out_u64(struct kr_out *out, uint64_t value)
{
    value = htole64(value);
    kr_out_bytes(out, &value, sizeof(value));
}

static inline void kr_out_u32(struct kr_out *out, uint32_t value)
{
    value = htole32(value);
    kr_out_bytes(out, &value, sizeof(value));
}

static inline void kr_out_i64(struct kr_out *out, int64_t value)
{
    kr_out_u64(out, (uint64_t)value);
}

static inline void kr_out_bool(struct kr_out *out, bool value)
{
    uint8_t b = value;
    kr_out_bytes(out, &b, 1);
}

// Length, bytes and a closing NUL, so that a reader can hand out a pointer into its buffer. NULL is written
// as "".
static inline void kr_out_string(struct kr_out *out, const char *text)
{
    if (text == NULL)
        text = "";
    size_t length = strlen(text);
    if (length > UINT32_MAX)
        length = UINT32_MAX;
    kr_out_u32(out, (uint32_t)length);
    kr_out_bytes(out, text, length);
    kr_out_bytes(out, "", 1);
}

// A section is a length and its bytes: fields can be appended to it later and old readers step over them.
static inline size_t kr_out_begin(struct kr_out *out)
{
    kr_out_u32(out, 0);
    return out->used;
}

static inline void kr_out_end(struct kr_out *out, size_t begin)
{
    size_t end = out->used;
    out->used = begin - 4;
    kr_out_u32(out, (uint32_t)(end - begin));
    out->used = end;
}

struct kr_in {
    const uint8_t *bytes;
    size_t left;
    bool failed;
};

// `count` bytes, or NULL (and failed) when fewer are left.
static inline const uint8_t *kr_in_bytes(struct kr_in *in, size_t count)
{
    if (in->failed || count > in->left) {
        in->failed = true;
        return NULL;
    }
    const uint8_t *at = in->bytes;
    in->bytes += count;
    in->left -= count;
    return at;
}

static inline uint64_t kr_in_u64(struct kr_in *in)
{
    const uint8_t *b = kr_in_bytes(in, 8);
    uint64_t value = 0;
    for (int i = 0; b != NULL && i < 8; i++)
        value |= (uint64_t)b[i] << (8 * i);
    return value;
}

static inline uint32_t kr_in_u32(struct kr_in *in)
{
    const uint8_t *b = kr_in_bytes(in, 4);
    uint32_t value = 0;
    for (int i = 0; b != NULL && i < 4; i++)
        value |= (uint32_t)b[i] << (8 * i);
    return value;
}

static inline int64_t kr_in_i64(struct kr_in *in)
{
    return (int64_t)kr_in_u64(in);
}

static inline bool kr_in_bool(struct kr_in *in)
{
    const uint8_t *b = kr_in_bytes(in, 1);
    return b != NULL && *b != 0;
}

// Never NULL; points into the input.
static inline const char *kr_in_string(struct kr_in *in)
{
    size_t length = kr_in_u32(in);
    const uint8_t *text = kr_in_bytes(in, length);
    const uint8_t *end = kr_in_bytes(in, 1);
    if (end == NULL || *end != 0) {
        in->failed = true;
        return "";
    }
    return (const char *)text;
}

static inline struct kr_in kr_in_section(struct kr_in *in)
{
    size_t length = kr_in_u32(in);
    const uint8_t *bytes = kr_in_bytes(in, length);
    return (struct kr_in){.bytes = bytes, .left = bytes == NULL ? 0 : length, .failed = bytes == NULL};
}

#endif
