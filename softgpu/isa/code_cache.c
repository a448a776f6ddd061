// SPDX-License-Identifier: MIT
// The cache behind code_cache.h: a hash table of pages under one lock, and lazy decoding under the page's
// lock. No lock is held while code memory is read, as such a read may end in a guard.
#include "softgpu/isa/code_cache.h"
#include "softgpu/isa/coverage.h"
#include "softgpu/isa/fast.h"
#include "softgpu/isa/isa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS     1024
#define MAX_PAGES   4096 // decoded code is some 30 times as large as code; past this the table starts over
#define CHUNK_INSTS 32

struct chunk {
    struct chunk *next;
    unsigned used;
    struct sg_inst inst[CHUNK_INSTS];
};

struct sg_code_details {
    pthread_mutex_t lock; // of filling slots and chunks
    struct chunk *chunks;
    struct sg_block *blocks;
    struct sg_code_page *next; // in the bucket; under table.lock
    unsigned references;       // under table.lock
    uint32_t words[SG_CODE_SLOTS];
};

static struct {
    pthread_mutex_t lock;
    struct sg_code_page *bucket[BUCKETS];
    unsigned pages;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sg_code_page **bucket_of(uint64_t number)
{
    return &table.bucket[(number ^ number >> 10) % BUCKETS];
}

static void page_free(struct sg_code_page *page)
{
    for (struct chunk *chunk = page->details->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (struct sg_block *block = page->details->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    pthread_mutex_destroy(&page->details->lock);
    free(page->details);
    free(page);
}

static struct sg_code_page *page_new(uint64_t number, const uint32_t *words)
{
    struct sg_code_page *page = calloc(1, sizeof *page);
    struct sg_code_details *details = calloc(1, sizeof *details);
    if (!page || !details) {
        free(page);
        free(details);
        return NULL;
    }
    page->number = number;
    page->details = details;
    pthread_mutex_init(&details->lock, NULL);
    memcpy(details->words, words, sizeof details->words);
    return page;
}

// Under table.lock.
static void page_release(struct sg_code_page *page)
{
    if (--page->details->references == 0)
        page_free(page);
}

// Takes the page that *link points to out of the table. Under table.lock.
static void unlink_page(struct sg_code_page **link)
{
    struct sg_code_page *page = *link;
    *link = page->details->next;
    table.pages--;
    page_release(page);
}

static struct sg_code_page **find(uint64_t number)
{
    struct sg_code_page **link = bucket_of(number);
    while (*link && (*link)->number != number)
        link = &(*link)->details->next;
    return link;
}

static void forget_range(uint64_t first, uint64_t last)
{
    for (unsigned b = 0; b < BUCKETS; b++) {
        struct sg_code_page **link = &table.bucket[b];
        while (*link) {
            if ((*link)->number >= first && (*link)->number <= last)
                unlink_page(link);
            else
                link = &(*link)->details->next;
        }
    }
}

// The page whose copy equals `words`, with a reference for the caller. NULL when out of memory.
static struct sg_code_page *page_enter(uint64_t number, const uint32_t *words)
{
    pthread_mutex_lock(&table.lock);
    struct sg_code_page **link = find(number), *page = *link;
    if (page && memcmp(page->details->words, words, sizeof page->details->words) != 0) {
        unlink_page(link);
        page = NULL;
    }
    if (!page) {
        if (table.pages >= MAX_PAGES)
            forget_range(0, UINT64_MAX);
        page = page_new(number, words);
        if (page) {
            struct sg_code_page **head = bucket_of(number);
            page->details->next = *head;
            page->details->references = 1;
            *head = page;
            table.pages++;
        }
    }
    if (page)
        page->details->references++;
    pthread_mutex_unlock(&table.lock);
    return page;
}

void sg_isa_invalidate(uint64_t base, uint64_t bytes)
{
    if (!bytes)
        return;
    const uint64_t end = bytes > UINT64_MAX - base ? UINT64_MAX : base + bytes - 1;
    const uint64_t first = bytes == UINT64_MAX ? 0 : base >> SG_CODE_PAGE_SHIFT;
    const uint64_t last = bytes == UINT64_MAX ? UINT64_MAX : end >> SG_CODE_PAGE_SHIFT;
    pthread_mutex_lock(&table.lock);
    if (last - first >= BUCKETS) {
        forget_range(first, last);
    } else {
        for (uint64_t number = first; number <= last; number++) {
            struct sg_code_page **link = find(number);
            if (*link)
                unlink_page(link);
        }
    }
    pthread_mutex_unlock(&table.lock);
}

void sg_code_begin(struct sg_code_view *view)
{
    view->number = UINT64_MAX;
    view->page = NULL;
    memset(view->way, 0, sizeof view->way);
}

void sg_code_end(struct sg_code_view *view)
{
    pthread_mutex_lock(&table.lock);
    for (unsigned i = 0; i < view->n_held; i++)
        page_release(view->held[i]);
    pthread_mutex_unlock(&table.lock);
    view->n_held = 0;
    sg_code_begin(view);
}

void sg_code_free(struct sg_code_view *view)
{
    sg_code_end(view);
    free(view->held);
    view->held = NULL;
    view->held_capacity = 0;
}

static struct sg_code_page *find_held(const struct sg_code_view *view, uint64_t number)
{
    struct sg_code_page *page = view->way[number % SG_CODE_WAYS];
    if (page && page->number == number)
        return page;
    for (unsigned i = 0; i < view->n_held; i++)
        if (view->held[i]->number == number)
            return view->held[i];
    return NULL;
}

// A page holds whatever lies around the code, so the copy must not be judged by an address sanitizer;
// volatile keeps it from becoming a call of memcpy, which would be.
__attribute__((no_sanitize("address"))) static void copy_live(uint32_t *to, uint64_t address)
{
    const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)address;
    for (unsigned i = 0; i < SG_CODE_SLOTS / 2; i++) {
        const uint64_t two = from[i];
        memcpy(to + 2 * (size_t)i, &two, sizeof two);
    }
}

static struct sg_code_page *enter(struct sg_code_view *view, uint64_t number)
{
    if (view->n_held == view->held_capacity) {
        const unsigned capacity = view->held_capacity ? 2 * view->held_capacity : 16;
        struct sg_code_page **held = realloc(view->held, capacity * sizeof(struct sg_code_page *));
        if (!held)
            return NULL;
        view->held = held;
        view->held_capacity = capacity;
    }
    copy_live(view->live, number << SG_CODE_PAGE_SHIFT);
    struct sg_code_page *page = page_enter(number, view->live);
    if (page)
        view->held[view->n_held++] = page;
    return page;
}

static struct sg_inst *new_inst(struct sg_code_details *details)
{
    if (!details->chunks || details->chunks->used == CHUNK_INSTS) {
        struct chunk *chunk = malloc(sizeof *chunk);
        if (!chunk)
            return NULL;
        chunk->next = details->chunks;
        chunk->used = 0;
        details->chunks = chunk;
    }
    return &details->chunks->inst[details->chunks->used++];
}

// Decodes an instruction that reaches into the next page. It is not cached, as this page's copy does not
// cover it.
__attribute__((no_sanitize("address"))) static void decode_across(struct sg_code_view *view, uint64_t pc,
                                                                  unsigned index)
{
    uint32_t words[4];
    const unsigned here = SG_CODE_SLOTS - index;
    memcpy(words, &view->page->details->words[index], 4 * (size_t)here);
    const volatile uint32_t *next = (const volatile uint32_t *)(uintptr_t)(pc + 4 * (uint64_t)here);
    for (unsigned i = here; i < 4; i++)
        words[i] = next[i - here];
    sg_decode(words, 4, &view->odd);
}

const struct sg_inst *sg_code_fetch(struct sg_code_view *view, uint64_t pc)
{
    const uint64_t number = pc >> SG_CODE_PAGE_SHIFT;
    struct sg_code_page *page = find_held(view, number);
    if (!page && !(page = enter(view, number)))
        return NULL;
    view->way[number % SG_CODE_WAYS] = page;
    view->page = page;
    view->number = number;

    const unsigned index = pc >> 2 & (SG_CODE_SLOTS - 1);
    const struct sg_inst *inst = __atomic_load_n(&page->slot[index], __ATOMIC_ACQUIRE);
    if (inst)
        return inst;
    const unsigned left = SG_CODE_SLOTS - index;
    if (!sg_decode(&page->details->words[index], left, &view->odd) && left < 4)
        decode_across(view, pc & ~UINT64_C(3), index);
    if (!view->odd.info || !view->odd.info->exec)
        return &view->odd;
    sg_coverage_note(&view->odd);
    sg_fast_choose(&view->odd);
    if (view->odd.n_words > left)
        return &view->odd;

    pthread_mutex_lock(&page->details->lock);
    inst = page->slot[index];
    if (!inst) {
        struct sg_inst *fresh = new_inst(page->details);
        if (fresh) {
            *fresh = view->odd;
            __atomic_store_n(&page->slot[index], fresh, __ATOMIC_RELEASE);
        }
        inst = fresh ? fresh : &view->odd;
    }
    pthread_mutex_unlock(&page->details->lock);
    return inst;
}

// Does execution always go on behind it? (Exceptions leave the block: faults, and waves that give way.)
static bool goes_on(const struct sg_inst *inst)
{
    const bool sopp = inst->info->encoding == SG_ENC_SOPP;
    return inst->info->klass != SG_CLASS_BRANCH && !(sopp && inst->info->klass != SG_CLASS_OTHER) &&
           strcmp(inst->info->mnemonic, "s_endpgm") != 0 && strcmp(inst->info->mnemonic, "s_barrier") != 0;
}

const struct sg_block *sg_code_block(struct sg_code_view *view, uint64_t pc)
{
    const struct sg_inst *inst[SG_BLOCK_INSTS];
    const unsigned limit = sg_fast_paths() & SG_FAST_BLOCKS ? SG_BLOCK_INSTS : 1;
    const uint64_t first = pc;
    unsigned n = 0;
    while (n < limit && pc >> SG_CODE_PAGE_SHIFT == first >> SG_CODE_PAGE_SHIFT) {
        const struct sg_inst *next = sg_code_fetch(view, pc);
        if (!next || next == &view->odd)
            break;
        inst[n++] = next;
        pc += 4 * (uint64_t)next->n_words;
        if (!goes_on(next))
            break;
    }
    if (!n)
        return NULL;
    struct sg_block *block = calloc(1, sizeof *block + n * sizeof block->inst[0]);
    if (!block)
        return NULL;
    block->n = n;
    memcpy(block->inst, inst, n * sizeof inst[0]);
    for (unsigned i = 0; i < n; i++)
        block->tally[inst[i]->info->klass]++;

    struct sg_code_page *page = view->page;
    const struct sg_block **slot = &page->block[first >> 2 & (SG_CODE_SLOTS - 1)];
    pthread_mutex_lock(&page->details->lock);
    if (*slot) { // another thread's
        free(block);
        block = NULL;
    } else {
        block->next = page->details->blocks;
        page->details->blocks = block;
        __atomic_store_n(slot, block, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&page->details->lock);
    return *slot;
}
