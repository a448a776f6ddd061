// SPDX-License-Identifier: MIT
#include "tool/settings.h"
#include "engine/line.h"
#include "kreplay/kreplay.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

int kr_settings_read(struct kr_settings *out, char *error, size_t error_bytes)
{
    out->pmc = environment(KR_ENV_PMC, "");
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
    const char *run_id = environment(KR_ENV_RUN_ID, "0");
    char *end = NULL;
    errno = 0;
    out->run_id = strtoull(run_id, &end, 10);
    if (!isdigit((unsigned char)*run_id) || *end != '\0' || errno != 0) {
        snprintf(error, error_bytes, "%s \"%s\" is not a decimal number", KR_ENV_RUN_ID, run_id);
        return KREPLAY_INVALID;
    }
    return KREPLAY_OK;
}
