// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a cubin.
#include "cuda/cubin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kr_cubin *cubin = NULL;
    size_t letters = 0;
    if (kr_cubin_parse(data, size, &cubin) != 0) {
        if (cubin)
            abort();
        return 0;
    }
    for (size_t i = 0; i < cubin->kernel_count; i++)
        if (kr_cubin_find(cubin, cubin->kernels[i].name) == NULL)
            abort();
    for (size_t i = 0; i < cubin->variable_count; i++)
        letters += strlen(cubin->variables[i].name);
    kr_cubin_free(cubin);
    return letters == SIZE_MAX; // all of it can be read
}
