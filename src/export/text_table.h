// SPDX-License-Identifier: MIT
// Lays text out in columns for a terminal. Knows nothing of counters.
#ifndef KR_TEXT_TABLE_H
#define KR_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct kr_text_column {
    char *name;
    bool right;    // aligned right
    bool repeated; // shown in each block, so that a row can be recognised
    size_t width;
};

struct kr_text_table {
    struct kr_text_column *columns;
    size_t column_count;
    char **cells; // row by row; NULL = nothing known, shown as "-"
    size_t row_count, row_room;
    bool no_memory; // set by a failed call; later calls do nothing
};

// Columns come before the first row. Strings are copied.
void kr_text_table_column(struct kr_text_table *table, const char *name, bool right, bool repeated);
void kr_text_table_row(struct kr_text_table *table); // begins a row of empty cells
void kr_text_table_cell(struct kr_text_table *table, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Repeated columns come first by construction of the caller. Columns that do not fit into `width` (0 = no
// limit) go to further blocks below, each with at least one column of its own.
void kr_text_table_print(const struct kr_text_table *table, FILE *out, unsigned width);
void kr_text_table_free(struct kr_text_table *table);

#endif
