// SPDX-License-Identifier: MIT
// The driver interface is tested without running kernels: no interpreter behind it.
#include "softgpu/isa/isa.h"

int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault)
{
    (void)launch;
    (void)counts;
    fault->kind = SG_FAULT_ILLEGAL;
    return -1;
}

void sg_isa_invalidate(uint64_t base, uint64_t bytes)
{
    (void)base;
    (void)bytes;
}
