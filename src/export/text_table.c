// SPDX-License-Identifier: MIT
// Columns of text, wrapped into blocks.
#include "export/text_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

void kr_text_table_column(struct kr_text_table *table, const char *name, bool right, bool repeated)
{
    if (table->no_memory)
        return;
    struct kr_text_column *columns =
        realloc(table->columns, (table->column_count + 1) * sizeof(*table->columns));
    if (columns)
        table->columns = columns;
    char *copy = strdup(name);
    if (!columns || !copy) {
        free(copy);
        table->no_memory = true;
        return;
    }
    table->columns[table->column_count++] =
        (struct kr_text_column){.name = copy, .right = right, .repeated = repeated, .width = strlen(name)};
}

void kr_text_table_row(struct kr_text_table *table)
{
    if (table->no_memory)
        return;
    if (table->row_count == table->row_room) {
        size_t room = table->row_room ? 2 * table->row_room : 16;
        char **cells = realloc(table->cells, room * table->column_count * sizeof(*cells));
        if (!cells) {
            table->no_memory = true;
            return;
        }
        table->cells = cells;
        table->row_room = room;
    }
    memset(table->cells + table->row_count * table->column_count, 0,
           table->column_count * sizeof(*table->cells));
    table->row_count++;
}

void kr_text_table_cell(struct kr_text_table *table, size_t column, const char *format, ...)
{
    if (table->no_memory)
        return;
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        table->no_memory = true;
        return;
    }
    char **cell = &table->cells[(table->row_count - 1) * table->column_count + column];
    free(*cell);
    *cell = text;
    if ((size_t)length > table->columns[column].width)
        table->columns[column].width = (size_t)length;
}

// The last column of a line is not padded, so that no line ends in blanks.
static void put_field(FILE *out, const struct kr_text_column *column, const char *text, bool first, bool last)
{
    if (!first)
        fprintf(out, "%*s", GAP, "");
    if (column->right)
        fprintf(out, "%*s", (int)column->width, text);
    else
        fprintf(out, "%-*s", last ? 0 : (int)column->width, text);
}

// row < 0: the heading. The block is the repeated columns and [begin, end).
static void put_line(const struct kr_text_table *table, FILE *out, size_t begin, size_t end, ptrdiff_t row)
{
    bool first = true;
    for (size_t c = 0; c < end; c++) {
        if (c < begin && !table->columns[c].repeated)
            continue;
        const char *text = table->columns[c].name;
        if (row >= 0)
            text = table->cells[(size_t)row * table->column_count + c];
        put_field(out, &table->columns[c], text ? text : "-", first, c + 1 == end);
        first = false;
    }
    putc('\n', out);
}

void kr_text_table_print(const struct kr_text_table *table, FILE *out, unsigned width)
{
    size_t begin = 0;
    while (begin < table->column_count) {
        size_t used = 0;
        for (size_t c = 0; c < begin; c++)
            if (table->columns[c].repeated)
                used += table->columns[c].width + GAP;
        size_t end = begin;
        bool own = false; // a column that is not repeated is in this block
        while (end < table->column_count) {
            size_t wide = table->columns[end].width;
            if (own && width && used + wide > width)
                break;
            used += wide + GAP;
            own = own || !table->columns[end].repeated;
            end++;
        }
        if (begin)
            putc('\n', out);
        put_line(table, out, begin, end, -1);
        for (size_t row = 0; row < table->row_count; row++)
            put_line(table, out, begin, end, (ptrdiff_t)row);
        begin = end;
    }
}

void kr_text_table_free(struct kr_text_table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free(table->cells[i]);
    for (size_t c = 0; c < table->column_count; c++)
        free(table->columns[c].name);
    free(table->cells);
    free(table->columns);
    *table = (struct kr_text_table){0};
}
