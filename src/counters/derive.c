// SPDX-License-Identifier: MIT
// Works on items: a hardware counter that was asked for, or the inputs of a derived counter, which belong
// together. Each group's items go one after the other into the first pass that has room for all that is new in
// them. A group without derived counters is split.c's, which spreads them evenly.
#include "counters/derive.h"

#include "counters/expression.h"
#include "counters/split.h"
#include "counters/text.h"
#include "kreplay/kreplay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A group that is built up; its names are not its own.
static int add(struct kr_name_group *names, const char *name)
{
    if (kr_name_group_has(names, name))
        return KREPLAY_OK;
    const char **grown = realloc(names->names, (names->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return KREPLAY_NO_MEMORY;
    names->names = grown;
    names->names[names->count++] = name;
    return KREPLAY_OK;
}

static const struct kr_counter_def *derived_counter(const struct kr_catalogue *catalogue, const char *name)
{
    const struct kr_counter_def *counter = kr_catalogue_counter(catalogue, name);
    return counter != NULL && counter->block == NULL ? counter : NULL;
}

// What to measure for it. Errors as in derive.h; on error nothing is left to free.
static int find_inputs(const struct kr_catalogue *catalogue, const struct kr_counter_def *derived,
                       struct kr_counter_inputs *out, char *error, size_t error_bytes)
{
    struct kr_text text = {.at = error, .room = error_bytes};
    struct kr_expression *expression;
    char cause[256] = "out of memory";
    *out = (struct kr_counter_inputs){0};
    int rc = kr_expression_parse(derived->expression, &expression, cause, sizeof(cause));
    if (rc == KREPLAY_OK)
        rc = kr_expression_inputs(expression, catalogue, out, cause, sizeof(cause));
    kr_expression_free(expression);
    if (rc != KREPLAY_OK) {
        kr_text_add(&text, "derived counter %s: %s", derived->name, cause);
        return rc == KREPLAY_NO_MEMORY ? rc : KREPLAY_INVALID;
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->list[i].level != NULL) {
            kr_text_add(
                &text, "derived counter %s is not supported yet: the hardware has to accumulate %s over time",
                derived->name, out->list[i].level);
            kr_counter_inputs_free(out);
            return KREPLAY_UNSUPPORTED;
        }
    return KREPLAY_OK;
}

// ---- Passes of one group

struct packing {
    const struct kr_catalogue *catalogue;
    bool split;
    struct kr_name_group *passes;
    size_t count;
};

static bool fits(const struct packing *packing, const struct kr_name_group *pass,
                 const struct kr_name_group *item)
{
    for (size_t b = 0; b < packing->catalogue->block_count; b++) {
        const struct kr_block_def *block = &packing->catalogue->blocks[b];
        uint32_t taken = 0;
        for (size_t i = 0; i < pass->count + item->count; i++) {
            const char *name = i < pass->count ? pass->names[i] : item->names[i - pass->count];
            const struct kr_counter_def *counter = kr_catalogue_counter(packing->catalogue, name);
            if (counter == NULL || counter->block == NULL || strcmp(counter->block, block->name) != 0)
                continue;
            taken += i < pass->count || !kr_name_group_has(pass, name);
        }
        if (taken > block->slots)
            return false;
    }
    return true;
}

static int put(struct packing *packing, const struct kr_name_group *item)
{
    size_t p = 0;
    while (p < packing->count && packing->split && !fits(packing, &packing->passes[p], item))
        p++;
    if (p == packing->count) {
        struct kr_name_group *grown = realloc(packing->passes, (p + 1) * sizeof(*grown));
        if (grown == NULL)
            return KREPLAY_NO_MEMORY;
        packing->passes = grown;
        packing->passes[packing->count++] = (struct kr_name_group){0};
    }
    for (size_t i = 0; i < item->count; i++)
        if (add(&packing->passes[p], item->names[i]) != KREPLAY_OK)
            return KREPLAY_NO_MEMORY;
    return KREPLAY_OK;
}

// An item that fits in no pass, even one of its own, goes in counter by counter.
static int put_item(struct packing *packing, const struct kr_name_group *item)
{
    const struct kr_name_group nothing = {0};
    if (!packing->split || fits(packing, &nothing, item))
        return put(packing, item);
    for (size_t i = 0; i < item->count; i++)
        if (put(packing, &(struct kr_name_group){&item->names[i], 1}) != KREPLAY_OK)
            return KREPLAY_NO_MEMORY;
    return KREPLAY_OK;
}

static int put_derived(struct packing *packing, const struct kr_counter_def *derived,
                       struct kr_name_group *inputs, char *error, size_t error_bytes)
{
    struct kr_counter_inputs found;
    int rc = find_inputs(packing->catalogue, derived, &found, error, error_bytes);
    if (rc != KREPLAY_OK)
        return rc;
    struct kr_name_group item = {0};
    for (size_t i = 0; rc == KREPLAY_OK && i < found.count; i++) {
        // The name that lives as long as the catalogue.
        rc = add(&item, found.list[i].name);
        if (rc == KREPLAY_OK)
            rc = add(inputs, found.list[i].name);
    }
    if (rc == KREPLAY_OK)
        rc = put_item(packing, &item);
    free(item.names);
    kr_counter_inputs_free(&found);
    return rc;
}

static int pack(struct packing *packing, const struct kr_name_group *group, struct kr_name_group *derived,
                struct kr_name_group *inputs, char *error, size_t error_bytes)
{
    int rc = KREPLAY_OK;
    for (size_t i = 0; rc == KREPLAY_OK && i < group->count; i++) {
        const struct kr_counter_def *counter = derived_counter(packing->catalogue, group->names[i]);
        if (counter == NULL) {
            rc = put_item(packing, &(struct kr_name_group){&group->names[i], 1});
            continue;
        }
        rc = add(derived, counter->name);
        if (rc == KREPLAY_OK)
            rc = put_derived(packing, counter, inputs, error, error_bytes);
    }
    return rc;
}

static void forget_passes(struct packing *packing)
{
    for (size_t i = 0; i < packing->count; i++)
        free(packing->passes[i].names);
    free(packing->passes);
}

// ---- All groups, as text

static void write_pass(FILE *text, const char *const *names, size_t count)
{
    if (ftell(text) > 0)
        putc(';', text);
    for (size_t i = 0; i < count; i++)
        fprintf(text, " %s", names[i]);
}

static bool has_derived(const struct kr_name_group *group, const struct kr_catalogue *catalogue)
{
    for (size_t i = 0; i < group->count; i++)
        if (derived_counter(catalogue, group->names[i]) != NULL)
            return true;
    return false;
}

static int write_plain(FILE *text, const struct kr_name_group *group, const struct kr_catalogue *catalogue,
                       bool split, size_t *passes)
{
    const struct kr_groups one = {.groups = (struct kr_name_group *)group, .count = 1};
    struct kr_groups cut = {0};
    *passes = 1;
    if (split && kr_groups_split(&one, catalogue, &cut, passes) != KREPLAY_OK)
        return KREPLAY_NO_MEMORY;
    const struct kr_groups *chosen = split ? &cut : &one;
    for (size_t i = 0; i < chosen->count; i++)
        write_pass(text, chosen->groups[i].names, chosen->groups[i].count);
    kr_groups_free(&cut);
    return KREPLAY_OK;
}

// Names that somebody asked for are no mere inputs.
static void drop_asked(struct kr_name_group *inputs, const struct kr_groups *asked)
{
    size_t kept = 0;
    for (size_t i = 0; i < inputs->count; i++)
        if (!kr_groups_have(asked, inputs->names[i]))
            inputs->names[kept++] = inputs->names[i];
    inputs->count = kept;
}

static int write_groups(FILE *text, const struct kr_groups *asked, const struct kr_catalogue *catalogue,
                        bool split, struct kr_measured *out, char *error, size_t error_bytes)
{
    struct kr_name_group derived = {0}, inputs = {0};
    int rc = KREPLAY_OK;
    for (size_t g = 0; rc == KREPLAY_OK && g < asked->count; g++) {
        const struct kr_name_group *group = &asked->groups[g];
        if (!has_derived(group, catalogue)) {
            rc = write_plain(text, group, catalogue, split, &out->passes[g]);
            continue;
        }
        struct packing packing = {.catalogue = catalogue, .split = split};
        rc = pack(&packing, group, &derived, &inputs, error, error_bytes);
        out->passes[g] = packing.count;
        for (size_t p = 0; p < packing.count; p++)
            write_pass(text, packing.passes[p].names, packing.passes[p].count);
        forget_passes(&packing);
    }
    if (rc == KREPLAY_OK) {
        drop_asked(&inputs, asked);
        out->derived = kr_groups_text(&derived, 1);
        out->inputs = kr_groups_text(&inputs, 1);
        if (out->derived == NULL || out->inputs == NULL)
            rc = KREPLAY_NO_MEMORY;
    }
    free(derived.names);
    free(inputs.names);
    return rc;
}

int kr_measured_make(const struct kr_groups *asked, const struct kr_catalogue *catalogue, bool split,
                     struct kr_measured *out, char *error, size_t error_bytes)
{
    struct kr_text message = {.at = error, .room = error_bytes};
    char *text = NULL;
    size_t length = 0;
    kr_text_add(&message, "out of memory");
    *out = (struct kr_measured){.passes = calloc(asked->count + 1, sizeof(*out->passes))};
    FILE *stream = out->passes != NULL ? open_memstream(&text, &length) : NULL;
    if (stream == NULL) {
        kr_measured_free(out);
        return KREPLAY_NO_MEMORY;
    }
    int rc = write_groups(stream, asked, catalogue, split, out, error, error_bytes);
    if (fclose(stream) != 0 && rc == KREPLAY_OK)
        rc = KREPLAY_NO_MEMORY;
    if (rc == KREPLAY_OK)
        rc = kr_groups_parse(text, &out->groups, error, error_bytes);
    free(text);
    if (rc != KREPLAY_OK)
        kr_measured_free(out);
    return rc;
}

void kr_measured_free(struct kr_measured *measured)
{
    kr_groups_free(&measured->groups);
    free(measured->passes);
    free(measured->derived);
    free(measured->inputs);
    *measured = (struct kr_measured){0};
}
