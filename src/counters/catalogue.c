// SPDX-License-Identifier: MIT
// Looking things up in the catalogues, and whether a group of counters fits a GPU.
#include "counters/catalogue.h"
#include "counters/gfx90a.h"
#include "counters/text.h"
#include "kreplay/kreplay.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_NAMES 2u

static const struct kr_catalogue *const catalogues[] = {&kr_catalogue_gfx90a};

const struct kr_catalogue *kr_catalogue_find(const char *arch)
{
    size_t length = strcspn(arch, ":");
    for (size_t i = 0; i < sizeof(catalogues) / sizeof(catalogues[0]); i++)
        if (strlen(catalogues[i]->arch) == length && memcmp(catalogues[i]->arch, arch, length) == 0)
            return catalogues[i];
    return NULL;
}

const char *kr_catalogue_arches(void)
{
    _Static_assert(sizeof(catalogues) / sizeof(catalogues[0]) == 1,
                   "with a second one this has to make a list");
    return kr_catalogue_gfx90a.arch;
}

static int compare_name(const void *key, const void *element)
{
    const struct kr_counter_def *counter = element;
    return strcmp(key, counter->name);
}

const struct kr_counter_def *kr_catalogue_counter(const struct kr_catalogue *catalogue, const char *name)
{
    return bsearch(name, catalogue->counters, catalogue->counter_count, sizeof(catalogue->counters[0]),
                   compare_name);
}

const struct kr_block_def *kr_catalogue_block(const struct kr_catalogue *catalogue, const char *name)
{
    for (size_t i = 0; i < catalogue->block_count; i++)
        if (strcmp(catalogue->blocks[i].name, name) == 0)
            return &catalogue->blocks[i];
    return NULL;
}

static int unknown_counter(const struct kr_catalogue *catalogue, const char *name, struct kr_text error)
{
    const char *near[NEAR_NAMES];
    size_t count = kr_catalogue_near(catalogue, name, near, NEAR_NAMES);
    kr_text_add(&error, "unknown counter \"%s\" for %s", name, catalogue->arch);
    for (size_t i = 0; i < count; i++)
        kr_text_add(&error, "%s%s", i == 0 ? "; did you mean " : ", ", near[i]);
    if (count != 0)
        kr_text_add(&error, "?");
    return KREPLAY_UNKNOWN_COUNTER;
}

static bool named_before(const char *const *names, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(names[i], names[index]) == 0)
            return true;
    return false;
}

// The counter names[index] if it is the first mention of a counter of `block`, else NULL.
static const struct kr_counter_def *takes_slot(const struct kr_catalogue *catalogue, const char *const *names,
                                               size_t index, const struct kr_block_def *block)
{
    const struct kr_counter_def *counter = kr_catalogue_counter(catalogue, names[index]);
    return strcmp(counter->block, block->name) == 0 && !named_before(names, index) ? counter : NULL;
}

// All names are known hardware counters here.
static int check_block(const struct kr_catalogue *catalogue, const char *const *names, size_t count,
                       const struct kr_block_def *block, struct kr_text error)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += takes_slot(catalogue, names, i, block) != NULL;
    if (wanted <= block->slots)
        return KREPLAY_OK;
    kr_text_add(&error, "block %s has %u counter registers, the group asks for %u:", block->name,
                block->slots, wanted);
    for (size_t i = 0; i < count; i++)
        if (takes_slot(catalogue, names, i, block) != NULL)
            kr_text_add(&error, " %s", names[i]);
    kr_text_add(&error, "; split the group over several --pmc options");
    return KREPLAY_NO_SLOT;
}

int kr_catalogue_check_group(const struct kr_catalogue *catalogue, const char *const *names, size_t count,
                             char *error, size_t error_bytes)
{
    struct kr_text text = {.at = error, .room = error_bytes};
    for (size_t i = 0; i < count; i++) {
        const struct kr_counter_def *counter = kr_catalogue_counter(catalogue, names[i]);
        if (counter == NULL)
            return unknown_counter(catalogue, names[i], text);
        if (counter->block == NULL) {
            kr_text_add(
                &text,
                "counter \"%s\" is derived (%s): a group measures hardware counters, ask for its inputs",
                counter->name, counter->expression);
            return KREPLAY_UNSUPPORTED;
        }
    }
    for (size_t i = 0; i < catalogue->block_count; i++) {
        int rc = check_block(catalogue, names, count, &catalogue->blocks[i], text);
        if (rc != KREPLAY_OK)
            return rc;
    }
    return KREPLAY_OK;
}
