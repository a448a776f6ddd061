// SPDX-License-Identifier: MIT
// Memory that the software GPUs of this process know: what was allocated through the driver interface and
// what was registered (pinned) for GPU access. GPU addresses are host addresses. Thread-safe; one table a
// process.
#ifndef SG_MEM_H
#define SG_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_MEM_MAX_NODES 16 // CPU node and GPU nodes

enum sg_mem_kind { SG_MEM_ALLOCATED, SG_MEM_REGISTERED };

struct sg_mem_info {
    enum sg_mem_kind kind;
    uint64_t base, bytes;
    uint32_t node;  // where it lives; 0 for registered host memory
    uint32_t flags; // HsaMemFlags.Value of the allocation or registration
    uint32_t mapped_nodes[SG_MEM_MAX_NODES];
    uint32_t n_mapped;
    void *user_data;
};

// `bytes` of zeroed memory for `node`; untouched pages cost nothing. `fixed` (a page-aligned address) or NULL
// for any. Returns 0, -ENOMEM (also when the node's limit would be exceeded), -EEXIST (fixed address in use)
// or -EINVAL.
int sg_mem_alloc(uint32_t node, uint64_t bytes, uint32_t flags, void *fixed, void **out);

// Frees the allocation that starts at `address`. 0 or -ENOENT.
int sg_mem_free(void *address);

// Registration is counted: memory registered twice at one base is known until it is deregistered twice, with
// the largest size seen. 0, -ENOENT, -ENOMEM or -EINVAL.
int sg_mem_register(void *address, uint64_t bytes, uint32_t flags);
int sg_mem_deregister(void *address);

// Remembers which nodes may access the memory at `address`; n == 0 forgets them. 0, -ENOENT, or -EINVAL for a
// node number that cannot be.
int sg_mem_map(const void *address, const uint32_t *nodes, uint32_t n);

// What `address` lies in; allocations first. 0 or -ENOENT.
int sg_mem_query(const void *address, struct sg_mem_info *info);

// Attaches a pointer that sg_mem_query returns. 0 or -ENOENT.
int sg_mem_set_user_data(const void *address, void *user_data);

// Later allocations are followed by `bytes` (whole pages) of address space that is nobody's.
void sg_mem_set_gap(uint64_t bytes);

// The size that the program asked for, of an allocation that was rounded up on the way. 0, -ENOENT when none
// starts at `address`, -EINVAL when it is smaller.
int sg_mem_set_asked(const void *address, uint64_t bytes);

// Do [address, address + bytes) lie in one allocation, as far as asked for, or in registered memory? Then *range
// becomes the owned memory around them. Else `why` tells, in less than 112 characters, where the nearest lies.
bool sg_mem_owns(uint64_t address, uint64_t bytes, uint64_t range[2], char *why, size_t why_bytes);

// May the GPU `node` touch [address, address + bytes)? Not if it lies in an allocation that was never mapped to that GPU.
// Else *range becomes what is as accessible around it; host memory that nobody allocated here is. `why` as above.
bool sg_mem_reaches(uint32_t node, uint64_t address, uint64_t bytes, uint64_t range[2], char *why,
                    size_t why_bytes);

// Bytes that allocations on `node` may sum up to (0 = no limit), and how many are allocated.
void sg_mem_set_limit(uint32_t node, uint64_t bytes);
uint64_t sg_mem_used(uint32_t node);

#endif
