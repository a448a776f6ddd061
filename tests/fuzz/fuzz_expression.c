// SPDX-License-Identifier: MIT
// Expressions of derived counters, and groups of counters, as people write them.
#include "counters/catalogue.h"
#include "counters/expression.h"
#include "counters/groups.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void try_expression(const char *text)
{
    struct kr_expression *expression = NULL;
    char error[256] = "";
    if (kr_expression_parse(text, &expression, error, sizeof(error)) != KREPLAY_OK) {
        if (strlen(error) == 0)
            abort(); // every refusal says why
        return;
    }
    struct kr_counter_inputs inputs;
    if (kr_expression_inputs(expression, kr_catalogue_find("gfx90a"), &inputs, error, sizeof(error)) ==
        KREPLAY_OK)
        kr_counter_inputs_free(&inputs);
    kr_expression_free(expression);
}

static void try_groups(const char *text)
{
    struct kr_groups groups;
    char error[256] = "";
    if (kr_groups_parse(text, &groups, error, sizeof(error)) != KREPLAY_OK)
        return;
    for (size_t g = 0; g < groups.count; g++)
        if (groups.groups[g].count == 0)
            abort();
    kr_groups_free(&groups);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    if (!text)
        return 0;
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    try_expression(text);
    try_groups(text);
    free(text);
    return 0;
}
