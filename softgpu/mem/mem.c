// SPDX-License-Identifier: MIT
// The process's table of GPU-accessible memory: two range maps (allocations never overlap, registrations may)
// under one lock, and a byte count per node that gives each GPU a finite memory.
#include "softgpu/mem/mem.h"
#include "softgpu/isa/isa.h"
#include "softgpu/mem/range_map.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct region {
    enum sg_mem_kind kind;
    uint64_t base, bytes;
    uint32_t node, flags;
    uint32_t refs; // registrations at this base; 1 for allocations
    uint32_t mapped_nodes[SG_MEM_MAX_NODES];
    uint32_t n_mapped;
    void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards everything below
static struct sg_range_map allocations, registrations;
static uint64_t used_bytes[SG_MEM_MAX_NODES], limit_bytes[SG_MEM_MAX_NODES];

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

int sg_mem_alloc(uint32_t node, uint64_t bytes, uint32_t flags, void *fixed, void **out)
{
    if (node >= SG_MEM_MAX_NODES || !bytes)
        return -EINVAL;
    int rc = charge(node, bytes);
    if (rc)
        return rc;

    void *p = MAP_FAILED;
    struct region *r = calloc(1, sizeof(*r));
    if (!r) {
        rc = -ENOMEM;
        goto error;
    }
    // NORESERVE: ROCr asks for gigabytes of scratch that nothing will ever touch.
    int mmap_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0);
    p = mmap(fixed, bytes, PROT_READ | PROT_WRITE, mmap_flags, -1, 0);
    if (p == MAP_FAILED) {
        rc = errno == EEXIST ? -EEXIST : -ENOMEM;
        goto error;
    }
    *r = (struct region){.kind = SG_MEM_ALLOCATED,
                         .base = addr_of(p),
                         .bytes = bytes,
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
        munmap(p, bytes);
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
