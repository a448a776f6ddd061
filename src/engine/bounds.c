// SPDX-License-Identifier: MIT
// Owns the table of limits and how the environment changes it.
#include "engine/bounds.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct kr_bound_info kr_bound_table[] = {
#define X(field, value, unit, variable, text)                                                                \
    {#field, variable, text, value, unit, offsetof(struct kr_bounds, field)},
    KR_BOUND_MAP(X)
#undef X
};
const size_t kr_bound_count = sizeof kr_bound_table / sizeof kr_bound_table[0];

static bool parse(const char *text, uint64_t unit, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return false;
    return !__builtin_mul_overflow((uint64_t)value, unit, out);
}

void kr_bounds_read(struct kr_bounds *bounds,
                    void (*complain)(void *arg, const char *variable, const char *value), void *arg)
{
    for (size_t i = 0; i < kr_bound_count; i++) {
        const struct kr_bound_info *info = &kr_bound_table[i];
        uint64_t *field = (uint64_t *)((char *)bounds + info->offset);
        const char *text = getenv(info->variable);
        *field = info->value * info->unit;
        if (text && *text && !parse(text, info->unit, field)) {
            *field = info->value * info->unit;
            complain(arg, info->variable, text);
        }
    }
    if (bounds->block_bytes == 0)
        bounds->block_bytes = 4096;
    // Addresses are looked for in aligned words, and devices compare in words of this size.
    bounds->block_bytes = (bounds->block_bytes + 15) & ~UINT64_C(15);
}

uint64_t kr_bounds_host_half(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    unsigned long long kib = 0;
    char line[128];
    uint64_t half = UINT64_MAX;

    if (!file)
        return half;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1) {
            half = (uint64_t)kib * 512;
            break;
        }
    }
    fclose(file);
    return half;
}
