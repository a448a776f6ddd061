// SPDX-License-Identifier: MIT
// Owns the list of names.
#include "engine/names.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels of NCCL and RCCL, MSCCL, NVSHMEM and rocSHMEM, and the all-reduce of vLLM, as their sources name them.
static const char collectives[] =
    "ncclKernel,ncclDevKernel,ncclDevFunc,mscclKernel,mscclpp,nvshmem,rocshmem,cross_device_reduce";

int kr_names_read(struct kr_names *names, const char *environment)
{
    bool beside = environment && *environment == '+';
    const char *own = environment ? environment + beside : "";
    char *rest = NULL;

    *names = (struct kr_names){0};
    if (asprintf(&names->text, "%s,%s", environment && !beside ? "" : collectives, own) < 0) {
        names->text = NULL;
        return KREPLAY_NO_MEMORY;
    }
    for (char *part = strtok_r(names->text, ", ", &rest); part; part = strtok_r(NULL, ", ", &rest)) {
        if (names->count == KR_NAME_PARTS)
            return KREPLAY_INVALID;
        names->parts[names->count++] = part;
    }
    return KREPLAY_OK;
}

void kr_names_free(struct kr_names *names)
{
    free(names->text);
    *names = (struct kr_names){0};
}

const char *kr_names_find(struct kr_names *names, const char *kernel, bool *first)
{
    *first = false;
    for (unsigned i = 0; kernel && i < names->count; i++) {
        if (!strstr(kernel, names->parts[i]))
            continue;
        uint64_t bit = UINT64_C(1) << i;
        *first = !(atomic_fetch_or(&names->said, bit) & bit);
        return names->parts[i];
    }
    return NULL;
}
