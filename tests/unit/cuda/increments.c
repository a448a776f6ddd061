// SPDX-License-Identifier: MIT
#include "increments.h"

#include "make_cubin.h"

#include <stdlib.h>

struct fake_module increments_module;
struct fake_kernel increments = {"increments", increment, {8}, &increments_module};

void increment(void **arguments)
{
    ++**(uint64_t **)arguments[0];
}

void increments_load(void)
{
    size_t bytes;
    unsigned char *cubin = make_cubin(&(struct make_cubin){.kernels = {"increments"}}, &bytes);
    fake_load(cubin, bytes, 7);
    free(cubin);
}

int increments_set_up(void **state)
{
    (void)state;
    fake_start();
    increments_load();
    return 0;
}
