// SPDX-License-Identifier: MIT
// The process's table of GPU-accessible memory: two range maps (allocations never overlap, registrations may)
// under one lock, and a byte count per node that gives each GPU a finite memory.
#include "softgpu/mem/mem.h"
#include "softgpu/isa/isa.h"
#include "softgpu/mem/quarantine.h"
#include "softgpu/mem/range_map.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE (2ull << 20)

struct region {
    enum sg_mem_kind kind;
    uint64_t base, bytes;
    uint64_t asked; // bytes of these that the program asked for
    uint64_t gap;   // bytes behind them that nobody may touch
    uint32_t node, flags;
    uint32_t refs; // registrations at this base; 1 for allocations
    uint32_t mapped_nodes[SG_MEM_MAX_NODES];
    uint32_t n_mapped;
    void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static struct sg_range_map allocations, registrations;
static uint64_t used_bytes[SG_MEM_MAX_NODES], limit_bytes[SG_MEM_MAX_NODES], gap_bytes;

static uint64_t addr_of(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

// Charges the node before mapping, so that two threads cannot both pass the limit. 0 or -ENOMEM.
static int charge(uint32_t node, uint64_t bytes)
{
    int rc = 0;
    pthread_mutex_lock(&lock);
    if (limit_bytes[node] && (bytes > limit_bytes[node] || used_bytes[node] > limit_bytes[node] - bytes))
        rc = -ENOMEM;
    else
        used_bytes[node] += bytes;
    pthread_mutex_unlock(&lock);
    return rc;
}

static void uncharge(uint32_t node, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    used_bytes[node] -= bytes;
    pthread_mutex_unlock(&lock);
}

void sg_mem_set_gap(uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    gap_bytes = bytes;
    pthread_mutex_unlock(&lock);
}

// Address space of `bytes`, as the driver places it: what fills a huge page begins at one. (The allocator that
// kernels use for device-side malloc finds the head of a block so.) MAP_FAILED with errno set.
static char *reserve(void *fixed, uint64_t bytes)
{
    // NORESERVE: ROCr asks for gigabytes of scratch that nothing will ever touch.
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0);
    const uint64_t slack = !fixed && bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *p = mmap(fixed, bytes + slack, PROT_NONE, flags, -1, 0);
    if (p == MAP_FAILED || !slack)
        return p;
    char *aligned = p + (HUGE_PAGE - addr_of(p) % HUGE_PAGE) % HUGE_PAGE;
    if (aligned > p)
        munmap(p, (size_t)(aligned - p));
    munmap(aligned + bytes, (size_t)(p + slack - aligned));
    return aligned;
}

// Maps `bytes` and an inaccessible gap behind them. MAP_FAILED with errno set.
static void *map(void *fixed, uint64_t bytes, uint64_t gap)
{
    char *p = reserve(fixed, bytes + gap);
    if (p == MAP_FAILED || !mprotect(p, bytes, PROT_READ | PROT_WRITE))
        return p;
    munmap(p, bytes + gap);
    errno = ENOMEM;
    return MAP_FAILED;
}

int sg_mem_alloc(uint32_t node, uint64_t bytes, uint32_t flags, void *fixed, void **out)
{
    if (node >= SG_MEM_MAX_NODES || !bytes)
        return -EINVAL;
    int rc = charge(node, bytes);
    if (rc)
        return rc;

    pthread_mutex_lock(&lock);
    const uint64_t gap = fixed ? 0 : gap_bytes;
    pthread_mutex_unlock(&lock);
    void *p = MAP_FAILED;
    struct region *r = calloc(1, sizeof(*r));
    if (!r) {
        rc = -ENOMEM;
        goto error;
    }
    p = map(fixed, bytes, gap);
    if (p == MAP_FAILED) {
        rc = errno == EEXIST ? -EEXIST : -ENOMEM;
        goto error;
    }
    *r = (struct region){.kind = SG_MEM_ALLOCATED,
                         .base = addr_of(p),
                         .bytes = bytes,
                         .asked = bytes,
                         .gap = gap,
                         .node = node,
                         .flags = flags,
                         .refs = 1};
    pthread_mutex_lock(&lock);
    rc = sg_range_map_insert(&allocations, r->base, bytes, r);
    pthread_mutex_unlock(&lock);
    if (rc)
        goto error;
    *out = p;
    return 0;

error:
    if (p != MAP_FAILED)
        munmap(p, bytes + gap);
    free(r);
    uncharge(node, bytes);
    return rc;
}

int sg_mem_free(void *address)
{
    pthread_mutex_lock(&lock);
    struct region *r = sg_range_map_at(&allocations, addr_of(address));
    if (r) {
        sg_range_map_remove(&allocations, r->base, r);
        used_bytes[r->node] -= r->bytes;
    }
    pthread_mutex_unlock(&lock);
    if (!r)
        return -ENOENT;
    // Decoded code of this memory must be gone before another allocation can get the same address.
    sg_isa_invalidate(r->base, r->bytes);
    if (r->gap) // accesses are checked
        sg_quarantine(address, r->bytes + r->gap);
    else
        munmap(address, r->bytes);
    free(r);
    return 0;
}

// Called with the lock held.
static int add_reference(struct region *r, uint64_t bytes)
{
    if (bytes > r->bytes) {
        int rc = sg_range_map_resize(&registrations, r->base, r, bytes);
        if (rc)
            return rc;
        r->bytes = bytes;
    }
    r->refs++;
    return 0;
}

int sg_mem_register(void *address, uint64_t bytes, uint32_t flags)
{
    if (!address || !bytes)
        return -EINVAL;
    struct region *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return -ENOMEM;
    *fresh = (struct region){
        .kind = SG_MEM_REGISTERED, .base = addr_of(address), .bytes = bytes, .flags = flags, .refs = 1};

    pthread_mutex_lock(&lock);
    struct region *known = sg_range_map_at(&registrations, fresh->base);
    int rc =
        known ? add_reference(known, bytes) : sg_range_map_insert(&registrations, fresh->base, bytes, fresh);
    pthread_mutex_unlock(&lock);
    if (known || rc)
        free(fresh);
    return rc;
}

int sg_mem_deregister(void *address)
{
    struct region *gone = NULL;
    pthread_mutex_lock(&lock);
    struct region *r = sg_range_map_at(&registrations, addr_of(address));
    if (r && --r->refs == 0) {
        sg_range_map_remove(&registrations, r->base, r);
        gone = r;
    }
    pthread_mutex_unlock(&lock);
    free(gone);
    return r ? 0 : -ENOENT;
}

// Called with the lock held.
static struct region *find(const void *address)
{
    struct region *r = sg_range_map_find(&allocations, addr_of(address), NULL);
    return r ? r : sg_range_map_find(&registrations, addr_of(address), NULL);
}

int sg_mem_map(const void *address, const uint32_t *nodes, uint32_t n)
{
    if (n > SG_MEM_MAX_NODES)
        return -EINVAL;
    for (uint32_t i = 0; i < n; i++) {
        if (nodes[i] >= SG_MEM_MAX_NODES)
            return -EINVAL;
    }
    pthread_mutex_lock(&lock);
    struct region *r = find(address);
    if (r) {
        for (uint32_t i = 0; i < n; i++)
            r->mapped_nodes[i] = nodes[i];
        r->n_mapped = n;
    }
    pthread_mutex_unlock(&lock);
    return r ? 0 : -ENOENT;
}

int sg_mem_query(const void *address, struct sg_mem_info *info)
{
    pthread_mutex_lock(&lock);
    const struct region *r = find(address);
    if (r) {
        *info = (struct sg_mem_info){.kind = r->kind,
                                     .base = r->base,
                                     .bytes = r->bytes,
                                     .node = r->node,
                                     .flags = r->flags,
                                     .n_mapped = r->n_mapped,
                                     .user_data = r->user_data};
        memcpy(info->mapped_nodes, r->mapped_nodes, r->n_mapped * sizeof(r->mapped_nodes[0]));
    }
    pthread_mutex_unlock(&lock);
    return r ? 0 : -ENOENT;
}

int sg_mem_set_user_data(const void *address, void *user_data)
{
    pthread_mutex_lock(&lock);
    struct region *r = find(address);
    if (r)
        r->user_data = user_data;
    pthread_mutex_unlock(&lock);
    return r ? 0 : -ENOENT;
}

int sg_mem_set_asked(const void *address, uint64_t bytes)
{
    int rc = -ENOENT;
    pthread_mutex_lock(&lock);
    struct region *r = sg_range_map_at(&allocations, addr_of(address));
    if (r)
        rc = bytes && bytes <= r->bytes ? 0 : -EINVAL;
    if (!rc)
        r->asked = bytes;
    pthread_mutex_unlock(&lock);
    return rc;
}

// Called with the lock held.
static bool owns(uint64_t address, uint64_t bytes, uint64_t range[2])
{
    const struct region *r = sg_range_map_find(&allocations, address, NULL);
    if (r) {
        range[0] = r->base;
        range[1] = r->base + r->asked;
        return address < range[1] && bytes <= range[1] - address;
    }
    // Registrations overlap and adjoin.
    r = sg_range_map_find(&registrations, address, NULL);
    if (!r || !sg_range_map_find(&registrations, address + bytes - 1, NULL))
        return false;
    range[0] = r->base;
    range[1] = r->base + r->bytes;
    return true;
}

// Called with the lock held. Size of the allocation as the program knows it; registrations are whole pages.
static uint64_t visible_bytes(const struct region *r)
{
    return r->kind == SG_MEM_ALLOCATED ? r->asked : r->bytes;
}

// Called with the lock held.
static void describe(uint64_t address, char *why, size_t why_bytes)
{
    const struct sg_range_map *maps[] = {&allocations, &registrations};
    const struct region *nearest = NULL;
    uint64_t distance = UINT64_MAX;
    bool behind = false;
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        void *items[2];
        sg_range_map_around(maps[i], address, &items[0], &items[1]);
        const struct region *before = items[0], *after = items[1];
        if (before) {
            const uint64_t end = before->base + visible_bytes(before);
            const uint64_t past = address >= end ? address - end : 0;
            if (past < distance) {
                distance = past;
                nearest = before;
                behind = true;
            }
        }
        if (after && after->base - address < distance) {
            distance = after->base - address;
            nearest = after;
            behind = false;
        }
    }
    if (!nearest)
        snprintf(why, why_bytes, "access to 0x%" PRIx64 ", the GPU has no memory", address);
    else if (behind && address < nearest->base + visible_bytes(nearest))
        snprintf(why, why_bytes, "access to 0x%" PRIx64 " leaves the end of %" PRIu64 " bytes at 0x%" PRIx64,
                 address, visible_bytes(nearest), nearest->base);
    else
        snprintf(why, why_bytes,
                 "access to 0x%" PRIx64 ", %" PRIu64 " bytes %s the %" PRIu64 " bytes at 0x%" PRIx64, address,
                 distance, behind ? "past the end of" : "before", visible_bytes(nearest), nearest->base);
}

bool sg_mem_owns(uint64_t address, uint64_t bytes, uint64_t range[2], char *why, size_t why_bytes)
{
    pthread_mutex_lock(&lock);
    const bool ok = owns(address, bytes, range);
    if (!ok)
        describe(address, why, why_bytes);
    pthread_mutex_unlock(&lock);
    return ok;
}

static bool is_mapped_to(const struct region *r, uint32_t node)
{
    for (uint32_t i = 0; i < r->n_mapped; i++) {
        if (r->mapped_nodes[i] == node)
            return true;
    }
    return false;
}

bool sg_mem_reaches(uint32_t node, uint64_t address, uint64_t bytes, uint64_t range[2], char *why,
                    size_t why_bytes)
{
    void *items[2];
    pthread_mutex_lock(&lock);
    sg_range_map_around(&allocations, address, &items[0], &items[1]);
    const struct region *before = items[0], *after = items[1];
    range[0] = before ? before->base + before->bytes : 0;
    range[1] = after ? after->base : UINT64_MAX;
    const struct region *bad = NULL;
    if (before && address < range[0]) {
        range[0] = before->base;
        range[1] = before->base + before->bytes;
        bad = is_mapped_to(before, node) ? NULL : before;
    }
    // A lane's access that goes on into the next allocation.
    if (!bad && after && bytes > 0 && address + bytes - 1 >= after->base && !is_mapped_to(after, node))
        bad = after;
    if (bad)
        snprintf(why, why_bytes,
                 "access to 0x%" PRIx64 ", in %" PRIu64
                 " bytes of node %u that are not mapped to GPU node %u",
                 address, bad->bytes, bad->node, node);
    pthread_mutex_unlock(&lock);
    return !bad;
}

void sg_mem_set_limit(uint32_t node, uint64_t bytes)
{
    if (node >= SG_MEM_MAX_NODES)
        return;
    pthread_mutex_lock(&lock);
    limit_bytes[node] = bytes;
    pthread_mutex_unlock(&lock);
}

uint64_t sg_mem_used(uint32_t node)
{
    if (node >= SG_MEM_MAX_NODES)
        return 0;
    pthread_mutex_lock(&lock);
    uint64_t used = used_bytes[node];
    pthread_mutex_unlock(&lock);
    return used;
}
