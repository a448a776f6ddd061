// SPDX-License-Identifier: MIT
// Reads and writes the runtime's API table through a known layout.
#include "hsa/table.h"

#include <stdio.h>
#include <string.h>

#include "kreplay/kreplay.h"

// The root: version words, then pointers to the core and extension tables, and others that kreplay does not
// use. The root's major version counts the pointers behind those two (3 since 6.2), so it says nothing about
// our two.
struct root_table {
    struct kr_hsa_version version;
    void *parts[KR_HSA_PART_COUNT];
};

static void *slot_value(const struct kr_hsa_table *table, enum kr_hsa_function function)
{
    enum kr_hsa_table_part part = kr_hsa_function_part(function);
    unsigned slot = table->layout->slots[function];
    if (slot == 0 || (slot + 1) * sizeof(void *) > table->bytes[part])
        return NULL;
    return table->slots[part][slot];
}

int kr_hsa_table_open(void *root, struct kr_hsa_table *table, char *error, size_t error_bytes)
{
    const struct root_table *r = root;
    if (!r || r->version.major == 0 || r->version.minor < sizeof(*r) || !r->parts[KR_HSA_CORE] ||
        !r->parts[KR_HSA_EXT]) {
        snprintf(error, error_bytes,
                 "the HSA runtime handed over an API table without core or AMD functions");
        return KREPLAY_UNSUPPORTED;
    }
    const struct kr_hsa_version *core = r->parts[KR_HSA_CORE], *ext = r->parts[KR_HSA_EXT];
    const struct kr_hsa_layout *layout = kr_hsa_layout_find(core, ext);
    if (!layout) {
        snprintf(error, error_bytes,
                 "this HSA runtime's API table is unknown (core version %u of %u bytes, AMD extensions "
                 "version %u of "
                 "%u bytes)",
                 core->major, core->minor, ext->major, ext->minor);
        return KREPLAY_UNSUPPORTED;
    }
    *table = (struct kr_hsa_table){
        .layout = layout,
        .slots = {r->parts[KR_HSA_CORE], r->parts[KR_HSA_EXT]},
        .bytes = {core->minor, ext->minor},
    };
    for (enum kr_hsa_function f = 0; f < KR_FN_COUNT; f++) {
        if (kr_hsa_function_required(f) && !slot_value(table, f)) {
            snprintf(error, error_bytes, "this HSA runtime (%s) has no %s", layout->runtime,
                     kr_hsa_function_name(f));
            return KREPLAY_UNSUPPORTED;
        }
    }
    return KREPLAY_OK;
}

void kr_hsa_table_read(const struct kr_hsa_table *table, struct kr_hsa_api *api)
{
    void *value;
#define X(part, name, type)                                                                                  \
    value = slot_value(table, KR_FN_##name);                                                                 \
    memcpy(&api->name, &value, sizeof(value));
    KR_HSA_FUNCTION_MAP(X)
#undef X
}

void kr_hsa_table_hook(const struct kr_hsa_table *table, enum kr_hsa_function function, void *hook)
{
    if (slot_value(table, function))
        table->slots[kr_hsa_function_part(function)][table->layout->slots[function]] = hook;
}
