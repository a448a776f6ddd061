// SPDX-License-Identifier: MIT
// A reader of just enough msgpack: walks maps and arrays in place, skips what it does not know, allocates
// nothing.
#include "hsa/metadata.h"

#include <string.h>

enum { MAX_DEPTH = 32 };

struct cursor {
    const unsigned char *p, *end;
    bool bad;
};

enum kind { NIL_OR_BOOL, UINT, INT, FLOAT, STRING, BINARY, ARRAY, MAP };

struct item {
    enum kind kind;
    uint64_t number; // value, length of a string, number of elements (pairs of a map)
    const char *text;
};

static uint64_t big_endian(struct cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->p) < bytes) {
        c->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | *c->p++;
    return value;
}

static struct item blob(struct cursor *c, enum kind kind, uint64_t length)
{
    if (c->bad || (uint64_t)(c->end - c->p) < length) {
        c->bad = true;
        return (struct item){0};
    }
    const struct item item = {kind, length, (const char *)c->p};
    c->p += length;
    return item;
}

// Reads one item's head; strings are taken whole, arrays and maps leave the cursor at their first element.
static struct item next(struct cursor *c)
{
    unsigned char tag = (unsigned char)big_endian(c, 1);
    if (c->bad)
        return (struct item){0};
    if (tag < 0x80)
        return (struct item){.kind = UINT, .number = tag};
    if (tag < 0x90)
        return (struct item){.kind = MAP, .number = tag & 0x0f};
    if (tag < 0xa0)
        return (struct item){.kind = ARRAY, .number = tag & 0x0f};
    if (tag < 0xc0)
        return blob(c, STRING, tag & 0x1f);
    if (tag >= 0xe0)
        return (struct item){.kind = INT, .number = (uint64_t)(int8_t)tag};
    switch (tag) {
    case 0xc0:
    case 0xc2:
    case 0xc3:
        return (struct item){.kind = NIL_OR_BOOL, .number = tag == 0xc3};
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return blob(c, BINARY, big_endian(c, 1u << (tag - 0xc4)));
    case 0xca:
    case 0xcb:
        return (struct item){.kind = FLOAT, .number = big_endian(c, 4u << (tag - 0xca))};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return (struct item){.kind = UINT, .number = big_endian(c, 1u << (tag - 0xcc))};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return (struct item){.kind = INT, .number = big_endian(c, 1u << (tag - 0xd0))};
    case 0xd9:
    case 0xda:
    case 0xdb:
        return blob(c, STRING, big_endian(c, 1u << (tag - 0xd9)));
    case 0xdc:
    case 0xdd:
        return (struct item){.kind = ARRAY, .number = big_endian(c, 2u << (tag - 0xdc))};
    case 0xde:
    case 0xdf:
        return (struct item){.kind = MAP, .number = big_endian(c, 2u << (tag - 0xde))};
    default: // extension types do not occur in this metadata
        c->bad = true;
        return (struct item){0};
    }
}

static void skip(struct cursor *c, unsigned depth)
{
    struct item item = next(c);
    uint64_t inside = item.kind == MAP ? 2 * item.number : item.kind == ARRAY ? item.number : 0;
    if (depth > MAX_DEPTH)
        c->bad = true;
    for (uint64_t i = 0; i < inside && !c->bad; i++)
        skip(c, depth + 1);
}

static bool is(const struct item *item, const char *text)
{
    return item->kind == STRING && item->number == strlen(text) &&
           memcmp(item->text, text, item->number) == 0;
}

// Goes through a map: `member` gets each key and must consume the value.
static void walk_map(struct cursor *c, void (*member)(struct cursor *c, const struct item *key, void *arg),
                     void *arg)
{
    struct item map = next(c);
    if (map.kind != MAP)
        c->bad = true;
    for (uint64_t i = 0; i < map.number && !c->bad; i++) {
        struct item key = next(c);
        if (!c->bad)
            member(c, &key, arg);
    }
}

// One argument while its members are read.
struct argument {
    uint64_t offset, size;
    bool talks_to_host, read_only;
};

static void argument_member(struct cursor *c, const struct item *key, void *arg)
{
    static const char *const talking[] = {"hidden_hostcall_buffer", "hidden_printf_buffer",
                                          "hidden_default_queue"};
    struct argument *argument = arg;
    if (is(key, ".offset")) {
        argument->offset = next(c).number;
    } else if (is(key, ".size")) {
        argument->size = next(c).number;
    } else if (is(key, ".value_kind")) {
        struct item value = next(c);
        for (size_t i = 0; i < sizeof(talking) / sizeof(talking[0]); i++)
            argument->talks_to_host |= is(&value, talking[i]);
    } else if (is(key, ".address_space")) {
        struct item value = next(c);
        argument->read_only |= is(&value, "constant");
    } else if (is(key, ".actual_access")) {
        struct item value = next(c);
        argument->read_only |= is(&value, "read_only");
    } else {
        skip(c, 0);
    }
}

static void read_argument(struct cursor *c, struct kr_kernel_metadata *kernel)
{
    struct argument argument = {0};
    walk_map(c, argument_member, &argument);
    kernel->talks_to_host |= argument.talks_to_host;
    if (argument.size != 8 || argument.offset % 8 != 0 || argument.offset >= 64 * 8)
        return;
    uint64_t word = UINT64_C(1) << argument.offset / 8;
    kernel->read_only_words |= argument.read_only ? word : 0;
    kernel->host_words |= argument.talks_to_host ? word : 0;
}

static void kernel_member(struct cursor *c, const struct item *key, void *arg)
{
    struct kr_kernel_metadata *kernel = arg;
    if (is(key, ".symbol")) {
        struct item value = next(c);
        if (value.kind == STRING) {
            kernel->symbol = value.text;
            kernel->symbol_length = value.number;
        }
    } else if (is(key, ".vgpr_count")) {
        kernel->vgprs = (uint32_t)next(c).number;
    } else if (is(key, ".agpr_count")) {
        kernel->agprs = (uint32_t)next(c).number;
    } else if (is(key, ".sgpr_count")) {
        kernel->sgprs = (uint32_t)next(c).number;
    } else if (is(key, ".args")) {
        struct item list = next(c);
        if (list.kind != ARRAY)
            c->bad = true;
        for (uint64_t i = 0; i < list.number && !c->bad; i++)
            read_argument(c, kernel);
    } else {
        skip(c, 0);
    }
}

struct root {
    void (*visit)(void *arg, const struct kr_kernel_metadata *k);
    void *arg;
    bool found;
};

static void root_member(struct cursor *c, const struct item *key, void *arg)
{
    struct root *root = arg;
    if (!is(key, "amdhsa.kernels")) {
        skip(c, 0);
        return;
    }
    struct item list = next(c);
    if (list.kind != ARRAY)
        c->bad = true;
    root->found = !c->bad;
    for (uint64_t i = 0; i < list.number && !c->bad; i++) {
        struct kr_kernel_metadata kernel = {0};
        walk_map(c, kernel_member, &kernel);
        if (!c->bad && kernel.symbol)
            root->visit(root->arg, &kernel);
    }
}

bool kr_metadata_kernels(const void *note, size_t bytes,
                         void (*visit)(void *arg, const struct kr_kernel_metadata *k), void *arg)
{
    if (!note)
        return false;
    struct cursor c = {note, (const unsigned char *)note + bytes, false};
    struct root root = {visit, arg, false};
    walk_map(&c, root_member, &root);
    return root.found && !c.bad;
}
