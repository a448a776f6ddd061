// SPDX-License-Identifier: MIT
// Runs kernels of kernels.cl under the model.
#ifndef SG_MODEL_RIG_H
#define SG_MODEL_RIG_H

#include "softgpu/model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct rig {
    uint32_t grid[3], group[3];
    uint32_t more_lds; // bytes beyond the kernel's own
    unsigned threads;
    const void *kernarg;
    // Results.
    struct sg_counts counts[SG_SHADER_ENGINES];
    struct sg_detail detail;
};

void rig_open(const char *path); // the code object

// With the model, or, for its counts alone, without.
void rig_run(struct rig *rig, const char *kernel);
void rig_run_unwatched(struct rig *rig, const char *kernel);

struct sg_cu_detail rig_cus(const struct rig *rig);           // the sum
struct sg_channel_detail rig_channels(const struct rig *rig); // the sum

// Memory at the start of a page of its own, zeroed; leaked.
void *rig_memory(size_t bytes);

// Ready-made launches.
void rig_copy(struct rig *rig, unsigned stride);
void rig_product(struct rig *rig, const char *kernel, int n);
void rig_banks(struct rig *rig, int stride);
void rig_chase(struct rig *rig, uint32_t more_lds);
void rig_matrix(struct rig *rig);

#define RIG_COPY_ITEMS 16384u

#endif
