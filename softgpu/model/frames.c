// SPDX-License-Identifier: MIT
// Addresses differ from run to run, caches must not care: pages get numbers in the order of their first touch, as a
// driver that hands out frames one after another would give them.
#include "softgpu/model/internal.h"

#include <stdlib.h>

#define PAGE_SHIFT     12
#define FIRST_CAPACITY 4096u // a power of two

bool sg_frames_init(struct sg_frames *f)
{
    *f = (struct sg_frames){.capacity = FIRST_CAPACITY, .epoch = 1, .last_page = UINT64_MAX};
    f->slots = calloc(f->capacity, sizeof *f->slots);
    return f->slots;
}

// Slots of earlier epochs are empty.
void sg_frames_reset(struct sg_frames *f)
{
    f->epoch++;
    f->used = 0;
    f->last_page = UINT64_MAX;
    f->failed = false;
}

static struct sg_frame *find(struct sg_frame *slots, uint32_t capacity, uint32_t epoch, uint64_t page)
{
    uint32_t at = (uint32_t)((page * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
    while (slots[at].epoch == epoch && slots[at].page != page)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct sg_frames *f)
{
    const uint32_t capacity = 2 * f->capacity;
    struct sg_frame *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < f->capacity; i++)
        if (f->slots[i].epoch == f->epoch)
            *find(slots, capacity, f->epoch, f->slots[i].page) = f->slots[i];
    free(f->slots);
    f->slots = slots;
    f->capacity = capacity;
    return true;
}

uint64_t sg_frames_address(struct sg_frames *f, uint64_t address)
{
    const uint64_t page = address >> PAGE_SHIFT, rest = address & ((1u << PAGE_SHIFT) - 1);
    if (page == f->last_page)
        return f->last_base | rest;
    struct sg_frame *slot = find(f->slots, f->capacity, f->epoch, page);
    if (slot->epoch != f->epoch) {
        if (f->used >= f->capacity / 2) {
            if (!grow(f)) {
                f->failed = true;
                return address;
            }
            slot = find(f->slots, f->capacity, f->epoch, page);
        }
        *slot = (struct sg_frame){.page = page, .epoch = f->epoch, .frame = f->used++};
    }
    f->last_page = page;
    f->last_base = (uint64_t)slot->frame << PAGE_SHIFT;
    return f->last_base | rest;
}
