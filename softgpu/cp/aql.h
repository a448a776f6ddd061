// SPDX-License-Identifier: MIT
// Execution of one AQL packet. Knows packets, signals and launches; the ring, its indices and the thread are
// queue.c's.
#ifndef SG_AQL_H
#define SG_AQL_H

#include "softgpu/cp/kernel_object.h"
#include "softgpu/cp/pm4.h"

#include <hsa/amd_hsa_queue.h>
#include <stdint.h>

struct sg_gpu;
struct sg_model;

// What packets of one queue share; owned by the queue, used by its thread only, but for `stop`.
struct sg_aql {
    struct sg_gpu *gpu;
    amd_queue_t *amd_queue;
    struct sg_pm4_queue pm4;
    struct sg_kernel_cache kernels;
    struct sg_gws gws;
    struct sg_model *model; // made by the first dispatch that needs it, freed by the owner
    volatile int stop;      // set by another thread: a running kernel ends early
};

enum sg_aql_result {
    SG_AQL_DONE,    // executed: retire the packet, then complete its signal
    SG_AQL_BLOCKED, // dependencies not met: try again later
    SG_AQL_STOPPED, // ended early because of `stop`; nothing was reported
    SG_AQL_FAILED,  // *error is filled; the queue must stop with the packet still at its read index
};

// Bits of a queue's inactive signal, as ROCr reads them.
enum sg_queue_error {
    SG_QUEUE_ERROR_DIMENSIONS = 0x2,
    SG_QUEUE_ERROR_GROUP_MEMORY = 0x4,
    SG_QUEUE_ERROR_CODE_OBJECT = 0x8,
    SG_QUEUE_ERROR_PACKET = 0x20,
    SG_QUEUE_ERROR_GROUP_SIZE = 0x40,
    SG_QUEUE_ERROR_APERTURE = 0x20000000,
    SG_QUEUE_ERROR_ILLEGAL_INSTRUCTION = 0x40000000,
    SG_QUEUE_ERROR_EXCEPTION = (int)0x80000000,
};

struct sg_aql_error {
    uint32_t code;       // enum sg_queue_error
    int is_memory_fault; // to be reported by the MEMORY event instead, with `address`
    uint64_t address;
    char text[512];
};

// A 64-byte packet whose header is valid. `id` is its index in the queue.
enum sg_aql_result sg_aql_execute(struct sg_aql *aql, const void *packet, uint64_t id,
                                  struct sg_aql_error *error);

#endif
