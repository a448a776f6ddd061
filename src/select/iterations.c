// SPDX-License-Identifier: MIT
// Reader of iteration ranges. Brackets only group for the eye: "[1,[5-8]]" says what "1,5-8" says.
#include "select/iterations.h"

#include "kreplay/kreplay.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    int depth; // of brackets
};

static void skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

// Brackets and blanks before or behind a range. False: one is closed that was not opened.
static bool skip_brackets(struct reader *reader, char bracket)
{
    for (skip_blanks(reader); *reader->at == bracket; skip_blanks(reader)) {
        reader->depth += bracket == '[' ? 1 : -1;
        reader->at++;
    }
    return reader->depth >= 0;
}

static bool read_number(struct reader *reader, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*reader->at))
        return false;
    errno = 0;
    *out = strtoull(reader->at, &end, 10);
    reader->at = end;
    skip_blanks(reader);
    return errno == 0 && *out > 0;
}

static bool read_range(struct reader *reader, struct kr_iteration_range *out)
{
    if (!skip_brackets(reader, '[') || !read_number(reader, &out->first))
        return false;
    out->last = out->first;
    if (*reader->at == '-') {
        reader->at++;
        skip_blanks(reader);
        if (!read_number(reader, &out->last) || out->last < out->first)
            return false;
    }
    return skip_brackets(reader, ']');
}

int kr_iterations_parse(const char *text, struct kr_iterations *out, char *error, size_t error_bytes)
{
    struct reader reader = {.at = text};
    size_t most = 1;
    *out = (struct kr_iterations){0};
    skip_blanks(&reader);
    if (*reader.at == '\0')
        return KREPLAY_OK;
    for (const char *comma = text; (comma = strchr(comma, ',')) != NULL; comma++)
        most++;
    out->ranges = calloc(most, sizeof(*out->ranges));
    if (out->ranges == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return KREPLAY_NO_MEMORY;
    }
    while (read_range(&reader, &out->ranges[out->count])) {
        out->count++;
        if (*reader.at == '\0' && reader.depth == 0)
            return KREPLAY_OK;
        if (*reader.at != ',')
            break;
        reader.at++;
    }
    snprintf(error, error_bytes,
             "\"%s\" is not a range of launches (from 1, like \"[1,2,[5-8]]\"): it cannot be read at \"%s\"",
             text, reader.at);
    kr_iterations_free(out);
    return KREPLAY_INVALID;
}

void kr_iterations_free(struct kr_iterations *iterations)
{
    free(iterations->ranges);
    *iterations = (struct kr_iterations){0};
}

bool kr_iterations_have(const struct kr_iterations *iterations, uint64_t launch)
{
    for (size_t i = 0; i < iterations->count; i++)
        if (launch >= iterations->ranges[i].first && launch <= iterations->ranges[i].last)
            return true;
    return iterations->count == 0;
}
