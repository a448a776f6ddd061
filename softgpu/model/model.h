// SPDX-License-Identifier: MIT
// Watches launches and says what gfx90a's caches and pipelines would have done. One object serves one launch at a time.
// Everything in it starts empty with each launch, and addresses matter only by the order in which pages are touched, so
// the same program gives the same numbers in every run.
#ifndef SG_MODEL_H
#define SG_MODEL_H

#include "softgpu/model/detail.h"

struct sg_model;

struct sg_model *sg_model_create(void);        // NULL when out of memory
void sg_model_destroy(struct sg_model *model); // NULL is fine

// Makes the model the watcher of `launch`, which must be run next and outlive it.
void sg_model_begin(struct sg_model *model, struct sg_launch *launch);

// After the launch, however it ended. False when memory ran out on the way and *detail would be wrong.
bool sg_model_end(struct sg_model *model, struct sg_detail *detail);

#endif
