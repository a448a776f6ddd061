// SPDX-License-Identifier: MIT
// Decoded code, shared by all threads, in pages of 4 KiB. A page is a copy of the memory at the time of
// decoding and one slot per dword. Code may be rewritten by anything (a host copy, a kernel that copies, a
// reload at the same address), so each launch compares every page with memory when it enters it for the first
// time: one memcmp of 4 KiB per page and launch makes stale instructions impossible, whoever wrote, without
// hooking any store. Pages are reference-counted: a launch keeps those it has entered until it ends.
#ifndef SG_CODE_CACHE_H
#define SG_CODE_CACHE_H

#include "softgpu/isa/inst.h"

#define SG_CODE_PAGE_SHIFT 12
#define SG_CODE_SLOTS      1024
#define SG_CODE_WAYS       64

// Instructions that follow each other in memory and, but for the last, in execution.
#define SG_BLOCK_INSTS 64
struct sg_block {
    struct sg_block *next; // of the page
    unsigned n;
    uint64_t tally[SG_CLASS_OTHER + 1]; // of all n, by class
    const struct sg_inst *inst[];
};

struct sg_code_page {
    const struct sg_block *block[SG_CODE_SLOTS]; // that begin there
    const struct sg_inst *slot[SG_CODE_SLOTS];   // only what can be executed; NULL: not decoded yet
    uint64_t number;                             // address >> SG_CODE_PAGE_SHIFT
    struct sg_code_details *details;
};

// What one launch on one thread uses. Zero-initialised, except `number` which is UINT64_MAX; see
// sg_code_begin().
struct sg_code_view {
    uint64_t number; // of `page`
    struct sg_code_page *page;
    struct sg_code_page *way[SG_CODE_WAYS]; // entered pages by number
    struct sg_code_page **held;             // all entered pages; one reference each
    unsigned n_held, held_capacity;
    struct sg_inst odd; // an instruction that is not cached
    uint32_t live[SG_CODE_SLOTS];
};

void sg_code_begin(struct sg_code_view *view);

// Gives back the references. The view can be used again after sg_code_begin().
void sg_code_end(struct sg_code_view *view);

// Frees what the view itself owns.
void sg_code_free(struct sg_code_view *view);

// The slow way: enters pages, decodes. Returns an instruction with `info` or `info->exec` NULL when it cannot
// be executed; NULL when out of memory. Reads code memory, so a guard should be armed.
const struct sg_inst *sg_code_fetch(struct sg_code_view *view, uint64_t pc);

// The block at `pc`. NULL when its first instruction is not cached: sg_code_fetch() says why.
const struct sg_block *sg_code_block(struct sg_code_view *view, uint64_t pc);

static inline const struct sg_block *sg_code_block_cached(const struct sg_code_view *view, uint64_t pc)
{
    if (pc >> SG_CODE_PAGE_SHIFT != view->number)
        return NULL;
    return __atomic_load_n(&view->page->block[pc >> 2 & (SG_CODE_SLOTS - 1)], __ATOMIC_ACQUIRE);
}

#endif
