// SPDX-License-Identifier: MIT
// For tests of what lies above the interpreter: nobody watches launches, so counters that need that cannot be counted.
#include "softgpu/model/model.h"

#include <stddef.h>

struct sg_model *sg_model_create(void)
{
    return NULL;
}

void sg_model_destroy(struct sg_model *model)
{
    (void)model;
}

void sg_model_begin(struct sg_model *model, struct sg_launch *launch)
{
    (void)model;
    (void)launch;
}

bool sg_model_end(struct sg_model *model, struct sg_detail *detail)
{
    (void)model;
    (void)detail;
    return false;
}
