// SPDX-License-Identifier: MIT
// Packets of gfx90a's copy engines, those that ROCr uses. Layouts: the tables in AMD's vega10_sdma_pkt_open.h
// (Linux, amdgpu) and ROCr's sdma_registers.h.
#include "softgpu/cp/sdma_packets.h"
#include "softgpu/mem/mem.h"
#include "softgpu/thunk/gpu.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum opcode {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL_REGMEM = 8,
    OP_ATOMIC = 10,
    OP_TIMESTAMP = 13,
};
enum { SUB_COPY_LINEAR = 0, SUB_COPY_RECT = 4, SUB_TIMESTAMP_GET_GLOBAL = 2, ATOMIC_ADD64 = 47 };
enum { POLL_LESS = 1, POLL_LESS_EQUAL, POLL_EQUAL, POLL_NOT_EQUAL, POLL_GREATER_EQUAL, POLL_GREATER };

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((UINT32_C(1) << count) - 1);
}

static uint64_t address_at(const uint32_t *dwords)
{
    return dwords[0] | (uint64_t)dwords[1] << 32;
}

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

// Whether the GPU knows all of [address, address + bytes). HIP pins a large buffer in pieces that overlap by
// a page, so what one region does not cover may be in the next.
static bool known(uint64_t address, uint64_t bytes)
{
    const uint64_t end = address + bytes;
    struct sg_mem_info info;
    while (address < end) {
        if (sg_mem_query(pointer(address), &info) != 0)
            return false;
        address = info.base + info.bytes;
    }
    return true;
}

// What a packet works with besides its dwords.
struct context {
    const struct sg_gpu *gpu;
    struct sg_sdma_fault *fault;
};

static bool allowed(const struct context *c, uint64_t address, uint64_t bytes)
{
    uint64_t range[2];
    char *why = c->fault->why;
    const size_t size = sizeof(c->fault->why);
    c->fault->address = address;
    if (address + bytes < address || !known(address, bytes)) {
        snprintf(why, size, "no memory at 0x%" PRIx64, address);
        return false;
    }
    return (!c->gpu->checks_mapping || sg_mem_reaches(c->gpu->node_id, address, bytes, range, why, size)) &&
           (!c->gpu->checks_access || sg_mem_owns(address, bytes, range, why, size));
}

static enum sg_sdma_result copy(const struct context *c, uint64_t to, uint64_t from, uint64_t bytes)
{
    if (!allowed(c, from, bytes) || !allowed(c, to, bytes))
        return SG_SDMA_FAULT;
    memmove(pointer(to), pointer(from), bytes);
    return SG_SDMA_DONE;
}

static enum sg_sdma_result copy_linear(const struct context *c, const uint32_t *d)
{
    return copy(c, address_at(d + 5), address_at(d + 3), (uint64_t)bits(d[1], 0, 30) + 1);
}

// One side of a copy of a box: pitches count elements.
struct box {
    uint64_t base, x, y, z, pitch, slice;
};

static struct box box_at(const uint32_t *d)
{
    return (struct box){
        .base = address_at(d),
        .x = bits(d[2], 0, 14),
        .y = bits(d[2], 16, 14),
        .z = bits(d[3], 0, 11),
        .pitch = (uint64_t)bits(d[3], 13, 19) + 1,
        .slice = (uint64_t)bits(d[4], 0, 28) + 1,
    };
}

static uint64_t row_of(const struct box *box, uint64_t y, uint64_t z, unsigned element_log2)
{
    return box->base + ((box->x + (box->y + y) * box->pitch + (box->z + z) * box->slice) << element_log2);
}

static enum sg_sdma_result copy_rect(const struct context *c, const uint32_t *d)
{
    const unsigned element_log2 = bits(d[0], 29, 3);
    const struct box from = box_at(d + 1), to = box_at(d + 6);
    const uint64_t row_bytes = ((uint64_t)bits(d[11], 0, 14) + 1) << element_log2;
    const uint64_t rows = (uint64_t)bits(d[11], 16, 14) + 1, slices = (uint64_t)bits(d[12], 0, 11) + 1;
    for (uint64_t z = 0; z < slices; z++)
        for (uint64_t y = 0; y < rows; y++) {
            enum sg_sdma_result result =
                copy(c, row_of(&to, y, z, element_log2), row_of(&from, y, z, element_log2), row_bytes);
            if (result != SG_SDMA_DONE)
                return result;
        }
    return SG_SDMA_DONE;
}

static enum sg_sdma_result fence(const struct context *c, const uint32_t *d)
{
    if (!allowed(c, address_at(d + 1), sizeof(uint32_t)))
        return SG_SDMA_FAULT;
    __atomic_store_n((uint32_t *)pointer(address_at(d + 1)), d[3], __ATOMIC_RELEASE);
    return SG_SDMA_DONE;
}

static enum sg_sdma_result trap(const struct context *c, const uint32_t *d)
{
    (void)c;
    sg_event_raise(bits(d[1], 0, 28));
    return SG_SDMA_DONE;
}

static bool holds(unsigned function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case POLL_LESS:
        return value < reference;
    case POLL_LESS_EQUAL:
        return value <= reference;
    case POLL_EQUAL:
        return value == reference;
    case POLL_NOT_EQUAL:
        return value != reference;
    case POLL_GREATER_EQUAL:
        return value >= reference;
    case POLL_GREATER:
        return value > reference;
    default:
        return true;
    }
}

static enum sg_sdma_result poll_regmem(const struct context *c, const uint32_t *d)
{
    if (!bits(d[0], 31, 1)) // of a register: how the host data path is flushed, of which there is none
        return SG_SDMA_DONE;
    if (!allowed(c, address_at(d + 1), sizeof(uint32_t)))
        return SG_SDMA_FAULT;
    uint32_t value = __atomic_load_n((const uint32_t *)pointer(address_at(d + 1)), __ATOMIC_ACQUIRE);
    return holds(bits(d[0], 28, 3), value & d[4], d[3]) ? SG_SDMA_DONE : SG_SDMA_BLOCKED;
}

static enum sg_sdma_result atomic(const struct context *c, const uint32_t *d)
{
    if (bits(d[0], 25, 7) != ATOMIC_ADD64)
        return SG_SDMA_BAD;
    if (!allowed(c, address_at(d + 1), sizeof(uint64_t)))
        return SG_SDMA_FAULT;
    __atomic_fetch_add((uint64_t *)pointer(address_at(d + 1)), address_at(d + 3), __ATOMIC_SEQ_CST);
    return SG_SDMA_DONE;
}

static enum sg_sdma_result timestamp(const struct context *c, const uint32_t *d)
{
    if (!allowed(c, address_at(d + 1), sizeof(uint64_t)))
        return SG_SDMA_FAULT;
    __atomic_store_n((uint64_t *)pointer(address_at(d + 1)), sg_gpu_clock(), __ATOMIC_RELAXED);
    return SG_SDMA_DONE;
}

static const struct packet {
    uint8_t op, sub_op, dwords;
    enum sg_sdma_result (*execute)(const struct context *c, const uint32_t *dwords);
} packets[] = {
    {OP_COPY, SUB_COPY_LINEAR, 7, copy_linear},
    {OP_COPY, SUB_COPY_RECT, 13, copy_rect},
    {OP_FENCE, 0, 4, fence},
    {OP_TRAP, 0, 2, trap},
    {OP_POLL_REGMEM, 0, 6, poll_regmem},
    {OP_ATOMIC, 0, 8, atomic},
    {OP_TIMESTAMP, SUB_TIMESTAMP_GET_GLOBAL, 3, timestamp},
};

enum sg_sdma_result sg_sdma_execute(const struct sg_gpu *gpu, const uint32_t *dwords, uint64_t rung,
                                    unsigned *length, struct sg_sdma_fault *fault)
{
    const struct context c = {.gpu = gpu, .fault = fault};
    const unsigned op = bits(dwords[0], 0, 8), sub_op = bits(dwords[0], 8, 8);
    if (op == OP_NOP) {
        *length = 1 + bits(dwords[0], 16, 14);
        return *length <= rung ? SG_SDMA_DONE : SG_SDMA_BAD;
    }
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        if (packets[i].op == op && packets[i].sub_op == sub_op) {
            *length = packets[i].dwords;
            return packets[i].dwords <= rung ? packets[i].execute(&c, dwords) : SG_SDMA_BAD;
        }
    return SG_SDMA_BAD;
}
