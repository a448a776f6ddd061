// SPDX-License-Identifier: MIT
// Splitting: the block with the most counters for its registers says how many passes a group needs, and every
// other block fits into these, since its counters share no register with another block's.
#include "counters/split.h"

#include "kreplay/kreplay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kr_block_def *block_of(const struct kr_catalogue *catalogue, const char *name)
{
    const struct kr_counter_def *counter = kr_catalogue_counter(catalogue, name);
    return counter != NULL && counter->block != NULL ? kr_catalogue_block(catalogue, counter->block) : NULL;
}

// How many of the first `count` counters of the group are of the block.
static size_t count_block(const struct kr_catalogue *catalogue, const struct kr_name_group *group,
                          size_t count, const struct kr_block_def *block)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += block_of(catalogue, group->names[i]) == block;
    return found;
}

static size_t passes_of_block(const struct kr_catalogue *catalogue, const struct kr_name_group *group,
                              const struct kr_block_def *block)
{
    size_t counters = count_block(catalogue, group, group->count, block);
    return (counters + block->slots - 1) / block->slots;
}

static size_t passes_of_group(const struct kr_catalogue *catalogue, const struct kr_name_group *group)
{
    size_t most = 1;
    for (size_t i = 0; i < catalogue->block_count; i++) {
        size_t passes = passes_of_block(catalogue, group, &catalogue->blocks[i]);
        most = passes > most ? passes : most;
    }
    return most;
}

// The pass, from 0 in its group, that measures a counter.
static size_t pass_of(const struct kr_catalogue *catalogue, const struct kr_name_group *group, size_t index)
{
    const struct kr_block_def *block = block_of(catalogue, group->names[index]);
    if (block == NULL)
        return 0;
    size_t before = count_block(catalogue, group, index, block);
    return before * passes_of_block(catalogue, group, block) /
           count_block(catalogue, group, group->count, block);
}

static void put_pass(FILE *text, const struct kr_catalogue *catalogue, const struct kr_name_group *group,
                     size_t pass)
{
    for (size_t i = 0; i < group->count; i++)
        if (pass_of(catalogue, group, i) == pass)
            fprintf(text, " %s", group->names[i]);
}

int kr_groups_split(const struct kr_groups *groups, const struct kr_catalogue *catalogue,
                    struct kr_groups *out, size_t *passes)
{
    char *text = NULL, error[128];
    size_t length = 0;
    *out = (struct kr_groups){0};
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return KREPLAY_NO_MEMORY;
    for (size_t g = 0; g < groups->count; g++) {
        passes[g] = passes_of_group(catalogue, &groups->groups[g]);
        for (size_t pass = 0; pass < passes[g]; pass++) {
            if (g + pass > 0)
                putc(';', stream);
            put_pass(stream, catalogue, &groups->groups[g], pass);
        }
    }
    int rc = fclose(stream) == 0 ? kr_groups_parse(text, out, error, sizeof(error)) : KREPLAY_NO_MEMORY;
    free(text);
    return rc;
}
