// SPDX-License-Identifier: MIT
// The API table of this process's runtime: checked once, originals read from it, hooks written into it.
#ifndef KR_HSA_TABLE_H
#define KR_HSA_TABLE_H

#include "hsa/table_layouts.h"

// The runtime's own functions, under their own names. Optional ones may be NULL.
struct kr_hsa_api {
#define X(table, name, type) type name;
    KR_HSA_FUNCTION_MAP(X)
#undef X
};

struct kr_hsa_table {
    const struct kr_hsa_layout *layout;
    void **slots[KR_HSA_PART_COUNT]; // the runtime's live tables
    uint32_t bytes[KR_HSA_PART_COUNT];
};

// Looks at the root table that OnLoad got and fills `table`. KREPLAY_UNSUPPORTED with a one-line `error` for
// a table that is missing, short, or of an unknown layout, or that lacks a function.
int kr_hsa_table_open(void *root, struct kr_hsa_table *table, char *error, size_t error_bytes);

void kr_hsa_table_read(const struct kr_hsa_table *table, struct kr_hsa_api *api);

// Puts `hook` in place of a function; nothing happens when the table does not have it.
void kr_hsa_table_hook(const struct kr_hsa_table *table, enum kr_hsa_function function, void *hook);

#endif
