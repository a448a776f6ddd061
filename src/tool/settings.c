// SPDX-License-Identifier: MIT
#include "tool/settings.h"
#include "kreplay/kreplay.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_RUN_DIR "kreplay-run"

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : otherwise;
}

int kr_settings_read(struct kr_settings *out, char *error, size_t error_bytes)
{
    out->pmc = environment(KR_ENV_PMC, "");
    out->run_dir = environment(KR_ENV_RUN_DIR, DEFAULT_RUN_DIR);
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
