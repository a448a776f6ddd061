// SPDX-License-Identifier: MIT
#include "tool/settings.h"
#include "engine/line.h"
#include "kreplay/kreplay.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_RUN_DIR "kreplay-run"

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : otherwise;
}

// The words that the command takes for its switches.
static int read_switch(const char *name, bool otherwise, bool *out)
{
    static const char *const words[2][6] = {{"off", "0", "false", "no", "n", "f"},
                                            {"on", "1", "true", "yes", "y", "t"}};
    const char *text = environment(name, NULL);
    *out = otherwise;
    if (text == NULL)
        return 0;
    for (int truth = 0; truth < 2; truth++)
        for (size_t i = 0; i < 6; i++)
            if (strcasecmp(text, words[truth][i]) == 0) {
                *out = truth != 0;
                return 0;
            }
    return -1;
}

static int read_number(const char *name, uint64_t *out, char *error, size_t error_bytes)
{
    const char *text = environment(name, "0");
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && *end == '\0' && errno == 0)
        return KREPLAY_OK;
    snprintf(error, error_bytes, "%s \"%s\" is not a decimal number", name, text);
    return KREPLAY_INVALID;
}

static int read_name_base(enum kr_name_base *out, char *error, size_t error_bytes)
{
    static const char *const words[] = {
#define X(name, word) word,
        KR_NAME_BASE_MAP(X)
#undef X
    };
    const char *text = environment(KR_ENV_NAME_BASE, words[KR_NAME_FUNCTION]);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum kr_name_base)i;
            return KREPLAY_OK;
        }
    snprintf(error, error_bytes, "%s \"%s\" is none of function, demangled and mangled", KR_ENV_NAME_BASE,
             text);
    return KREPLAY_INVALID;
}

static int read_selection(struct kr_selection_rules *out, char *error, size_t error_bytes)
{
    out->include = environment(KR_ENV_INCLUDE, NULL);
    out->exclude = environment(KR_ENV_EXCLUDE, NULL);
    out->name = environment(KR_ENV_NAME, NULL);
    out->iterations = environment(KR_ENV_ITERATIONS, NULL);
    int rc = read_name_base(&out->base, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = read_number(KR_ENV_MOST, &out->most, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = read_number(KR_ENV_SKIP, &out->skip, error, error_bytes);
    return rc == KREPLAY_OK ? read_number(KR_ENV_COUNT, &out->count, error, error_bytes) : rc;
}

int kr_settings_read(struct kr_settings *out, char *error, size_t error_bytes)
{
    out->pmc = environment(KR_ENV_PMC, "");
    out->derived = environment(KR_ENV_DERIVED, "");
    out->inputs = environment(KR_ENV_INPUTS, "");
    out->run_dir = environment(KR_ENV_RUN_DIR, DEFAULT_RUN_DIR);
    if (read_switch(KR_ENV_WITNESS, true, &out->witness) != 0) {
        snprintf(error, error_bytes, "%s \"%s\" is neither on nor off", KR_ENV_WITNESS,
                 getenv(KR_ENV_WITNESS));
        return KREPLAY_INVALID;
    }
    out->tool = environment(KR_ENV_TOOL, "");
    if (read_switch(KR_ENV_TOOL_ONLY, false, &out->tool_only) != 0) {
        snprintf(error, error_bytes, "%s \"%s\" is neither on nor off", KR_ENV_TOOL_ONLY,
                 getenv(KR_ENV_TOOL_ONLY));
        return KREPLAY_INVALID;
    }
    // The engine, which reads it too, complains about a level that there is not.
    out->level = kr_level_asked();
    int rc = read_number(KR_ENV_RUN_ID, &out->run_id, error, error_bytes);
    if (rc == KREPLAY_OK)
        rc = read_number(KR_ENV_BUDGET, &out->budget_s, error, error_bytes);
    return rc == KREPLAY_OK ? read_selection(&out->selection, error, error_bytes) : rc;
}
