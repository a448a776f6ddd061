// SPDX-License-Identifier: MIT
// What the memory instructions share. An instruction first resolves its addresses into `struct sg_lanes` (one
// host pointer per active lane), then one operation runs over the lanes: load, store or atomic. Addresses
// differ per encoding, operations do not. A host pointer that is not mapped ends in the guard of guard.h, at
// no cost here.
#ifndef SG_MEMORY_H
#define SG_MEMORY_H

#include "softgpu/isa/wave.h"

#include <stdbool.h>
#include <stdint.h>

// Element of a plain load or store: `arg` of its opcode row.
enum sg_mem_kind {
    SG_MEM_U8,
    SG_MEM_I8,
    SG_MEM_U16,
    SG_MEM_I16,
    SG_MEM_B32,
    SG_MEM_B64,
    SG_MEM_B96,
    SG_MEM_B128,
    SG_MEM_U8_D16,    // 8 bits extended to 16, into the low half; the other half is kept
    SG_MEM_U8_D16_HI, // the same for the high half; as a store: byte 2 of the register
    SG_MEM_I8_D16,
    SG_MEM_I8_D16_HI,
    SG_MEM_B16_D16,
    SG_MEM_B16_D16_HI,
    SG_MEM_KINDS
};

unsigned sg_mem_bytes(enum sg_mem_kind kind);

// Atomic operation: `arg` of its opcode row, together with SG_ATOMIC_64.
enum sg_atomic_op {
    SG_ATOMIC_SWAP,
    SG_ATOMIC_CMPSWAP,
    SG_ATOMIC_ADD,
    SG_ATOMIC_SUB,
    SG_ATOMIC_SMIN,
    SG_ATOMIC_UMIN,
    SG_ATOMIC_SMAX,
    SG_ATOMIC_UMAX,
    SG_ATOMIC_AND,
    SG_ATOMIC_OR,
    SG_ATOMIC_XOR,
    SG_ATOMIC_INC,
    SG_ATOMIC_DEC,
    SG_ATOMIC_FADD,
    SG_ATOMIC_FMIN,
    SG_ATOMIC_FMAX,
    SG_ATOMIC_PK_ADD_F16,
    // DS only
    SG_ATOMIC_RSUB,
    SG_ATOMIC_MSKOR,
    SG_ATOMIC_FCMPSWAP, // compares as floats
    SG_ATOMIC_WRAP,
    SG_ATOMIC_CONDXCHG,
};
#define SG_ATOMIC_64 0x40

// The value that memory holds afterwards. `data` is the operand, `cmp` the second operand of those that have
// two. `flush`: 32-bit float denormals count as zero.
uint32_t sg_combine32(enum sg_atomic_op op, uint32_t old, uint32_t data, uint32_t cmp, bool flush);
uint64_t sg_combine64(enum sg_atomic_op op, uint64_t old, uint64_t data, uint64_t cmp);

// The same on memory that other threads and the host see, as one atomic step. Returns the value before.
uint32_t sg_atomic32(enum sg_atomic_op op, uint32_t *p, uint32_t data, uint32_t cmp);
uint64_t sg_atomic64(enum sg_atomic_op op, uint64_t *p, uint64_t data, uint64_t cmp);

// A buffer of interleaved elements: lane memory of FLAT and SCRATCH, and what a V# describes.
struct sg_swizzle {
    uint8_t *base;         // with the scalar offset already added
    uint64_t limit;        // bytes (raw) or records (structured)
    uint64_t scalar;       // scalar offset, for the range check of raw buffers
    uint32_t stride;       // bytes
    uint32_t index_stride; // records that are interleaved; 0 = linear
    bool structured;       // `limit` bounds the index, not the offset
    uint8_t *floor, *ceil; // non-NULL: an address that starts inside must end inside (the wave's own scratch)
};
#define SG_ELEMENT_BYTES 4 // of swizzled buffers; fixed on this generation

// Addresses of one instruction. Lanes whose element does not lie in one piece, or has no memory behind it,
// work on `bounce`; those in `writeback` are copied to their place by sg_lanes_finish().
struct sg_lanes {
    uint64_t mask;           // lanes that take part
    uint64_t writeback;      // lanes of `mask` that sg_lanes_finish() has to copy
    uint8_t *ptr[SG_LANES];  // valid where mask is set
    unsigned bytes;          // of one element
    bool indivisible;        // an element partly out of range is out of range
    struct sg_swizzle shape; // of the lanes in writeback
    uint32_t index[SG_LANES];
    uint64_t offset[SG_LANES];
    uint8_t bounce[SG_LANES][16] __attribute__((aligned(16)));
};

// Address of byte `offset` of record `index`, or NULL when out of range.
uint8_t *sg_swizzle_at(const struct sg_swizzle *shape, uint64_t index, uint64_t offset, unsigned bytes);

// Points `lane` at its element of the swizzled buffer lanes->shape, through bounce when it is in several
// pieces. False when the element leaves shape.floor/ceil.
bool sg_lanes_swizzle(struct sg_lanes *lanes, unsigned lane, uint32_t index, uint64_t offset);

// Addresses of a MUBUF or MTBUF instruction whose elements have `bytes`, for who looks on. In mem_buffer.c.
enum sg_step sg_buffer_lanes(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                             unsigned bytes);

// Points `lane` at zeroes that are thrown away afterwards: reads of zero, dropped writes.
void sg_lanes_drop(struct sg_lanes *lanes, unsigned lane);

// Copies bounced elements to memory, after a store or an atomic.
void sg_lanes_finish(struct sg_lanes *lanes);

// The shape of the private memory of one lane of this wave: dwords of 64 lanes interleaved from `base`.
void sg_private_shape(const struct sg_wave *w, uint64_t base, struct sg_swizzle *shape);

// The operations. `dst`/`src` are rows of w->vgpr.
void sg_lanes_load(struct sg_wave *w, const struct sg_lanes *lanes, unsigned dst, enum sg_mem_kind kind);
void sg_lanes_store(const struct sg_wave *w, struct sg_lanes *lanes, unsigned src, enum sg_mem_kind kind);
// `op` with SG_ATOMIC_64. Data at `src`, for CMPSWAP followed by the value to compare with. Old values go to
// `dst` when `returns`.
enum sg_step sg_lanes_atomic(struct sg_wave *w, const struct sg_inst *inst, struct sg_lanes *lanes,
                             unsigned src, unsigned dst, unsigned op, bool returns);
// A load whose data go to LDS at M0[15:0] + instruction offset + 4 * lane.
enum sg_step sg_lanes_load_lds(struct sg_wave *w, const struct sg_inst *inst, const struct sg_lanes *lanes,
                               enum sg_mem_kind kind);

// Is every lane's element memory of the program? Only when the launch asks for it.
enum sg_step sg_check_lanes(struct sg_wave *w, const struct sg_inst *inst, const struct sg_lanes *lanes);
enum sg_step sg_check_scalar(struct sg_wave *w, const struct sg_inst *inst, const void *p, uint64_t bytes);

static inline bool sg_checks_access(const struct sg_wave *w)
{
    return w->group->launch->owned;
}

// After a host fault that came without an address: the address that no memory can have, of an active lane.
// False when the instruction has none.
bool sg_memory_odd_address(const struct sg_wave *w, const struct sg_inst *inst, uint64_t *address);

// Loop over the set bits of `mask`, lowest first.
#define SG_EACH_LANE(lane, mask)                                                                             \
    for (uint64_t lanes_left_ = (mask), lane = 0;                                                            \
         lanes_left_ && (lane = (unsigned)__builtin_ctzll(lanes_left_), true);                               \
         lanes_left_ &= lanes_left_ - 1)

// Rows that FLAT, GLOBAL, SCRATCH and MUBUF have under the same opcodes. `a` is the width of the address in
// dwords.
#define SG_MEM_ROW(e, c, op, n, fn, dst, a, data, argument)                                                  \
    {                                                                                                        \
        .opcode = op, .encoding = e, .klass = c, .mnemonic = n, .exec = fn, .dst_dwords = dst,               \
        .src_dwords = {a, data, 0}, .arg = argument                                                          \
    }
#define SG_ROWS_PLAIN(e, rd, wr, p, a, load, store)                                                          \
    SG_MEM_ROW(e, rd, 16, p "_load_ubyte", load, 1, a, 0, SG_MEM_U8),                                        \
        SG_MEM_ROW(e, rd, 17, p "_load_sbyte", load, 1, a, 0, SG_MEM_I8),                                    \
        SG_MEM_ROW(e, rd, 18, p "_load_ushort", load, 1, a, 0, SG_MEM_U16),                                  \
        SG_MEM_ROW(e, rd, 19, p "_load_sshort", load, 1, a, 0, SG_MEM_I16),                                  \
        SG_MEM_ROW(e, rd, 20, p "_load_dword", load, 1, a, 0, SG_MEM_B32),                                   \
        SG_MEM_ROW(e, rd, 21, p "_load_dwordx2", load, 2, a, 0, SG_MEM_B64),                                 \
        SG_MEM_ROW(e, rd, 22, p "_load_dwordx3", load, 3, a, 0, SG_MEM_B96),                                 \
        SG_MEM_ROW(e, rd, 23, p "_load_dwordx4", load, 4, a, 0, SG_MEM_B128),                                \
        SG_MEM_ROW(e, wr, 24, p "_store_byte", store, 0, a, 1, SG_MEM_U8),                                   \
        SG_MEM_ROW(e, wr, 25, p "_store_byte_d16_hi", store, 0, a, 1, SG_MEM_U8_D16_HI),                     \
        SG_MEM_ROW(e, wr, 26, p "_store_short", store, 0, a, 1, SG_MEM_U16),                                 \
        SG_MEM_ROW(e, wr, 27, p "_store_short_d16_hi", store, 0, a, 1, SG_MEM_B16_D16_HI),                   \
        SG_MEM_ROW(e, wr, 28, p "_store_dword", store, 0, a, 1, SG_MEM_B32),                                 \
        SG_MEM_ROW(e, wr, 29, p "_store_dwordx2", store, 0, a, 2, SG_MEM_B64),                               \
        SG_MEM_ROW(e, wr, 30, p "_store_dwordx3", store, 0, a, 3, SG_MEM_B96),                               \
        SG_MEM_ROW(e, wr, 31, p "_store_dwordx4", store, 0, a, 4, SG_MEM_B128),                              \
        SG_MEM_ROW(e, rd, 32, p "_load_ubyte_d16", load, 1, a, 0, SG_MEM_U8_D16),                            \
        SG_MEM_ROW(e, rd, 33, p "_load_ubyte_d16_hi", load, 1, a, 0, SG_MEM_U8_D16_HI),                      \
        SG_MEM_ROW(e, rd, 34, p "_load_sbyte_d16", load, 1, a, 0, SG_MEM_I8_D16),                            \
        SG_MEM_ROW(e, rd, 35, p "_load_sbyte_d16_hi", load, 1, a, 0, SG_MEM_I8_D16_HI),                      \
        SG_MEM_ROW(e, rd, 36, p "_load_short_d16", load, 1, a, 0, SG_MEM_B16_D16),                           \
        SG_MEM_ROW(e, rd, 37, p "_load_short_d16_hi", load, 1, a, 0, SG_MEM_B16_D16_HI)
#define SG_ROWS_ATOMIC32(e, wr, p, a, fn)                                                                    \
    SG_MEM_ROW(e, wr, 64, p "_atomic_swap", fn, 1, a, 1, SG_ATOMIC_SWAP),                                    \
        SG_MEM_ROW(e, wr, 65, p "_atomic_cmpswap", fn, 1, a, 2, SG_ATOMIC_CMPSWAP),                          \
        SG_MEM_ROW(e, wr, 66, p "_atomic_add", fn, 1, a, 1, SG_ATOMIC_ADD),                                  \
        SG_MEM_ROW(e, wr, 67, p "_atomic_sub", fn, 1, a, 1, SG_ATOMIC_SUB),                                  \
        SG_MEM_ROW(e, wr, 68, p "_atomic_smin", fn, 1, a, 1, SG_ATOMIC_SMIN),                                \
        SG_MEM_ROW(e, wr, 69, p "_atomic_umin", fn, 1, a, 1, SG_ATOMIC_UMIN),                                \
        SG_MEM_ROW(e, wr, 70, p "_atomic_smax", fn, 1, a, 1, SG_ATOMIC_SMAX),                                \
        SG_MEM_ROW(e, wr, 71, p "_atomic_umax", fn, 1, a, 1, SG_ATOMIC_UMAX),                                \
        SG_MEM_ROW(e, wr, 72, p "_atomic_and", fn, 1, a, 1, SG_ATOMIC_AND),                                  \
        SG_MEM_ROW(e, wr, 73, p "_atomic_or", fn, 1, a, 1, SG_ATOMIC_OR),                                    \
        SG_MEM_ROW(e, wr, 74, p "_atomic_xor", fn, 1, a, 1, SG_ATOMIC_XOR),                                  \
        SG_MEM_ROW(e, wr, 75, p "_atomic_inc", fn, 1, a, 1, SG_ATOMIC_INC),                                  \
        SG_MEM_ROW(e, wr, 76, p "_atomic_dec", fn, 1, a, 1, SG_ATOMIC_DEC)
#define SG_ROWS_ATOMIC_F32(e, wr, p, a, fn)                                                                  \
    SG_MEM_ROW(e, wr, 77, p "_atomic_add_f32", fn, 1, a, 1, SG_ATOMIC_FADD),                                 \
        SG_MEM_ROW(e, wr, 78, p "_atomic_pk_add_f16", fn, 1, a, 1, SG_ATOMIC_PK_ADD_F16)
#define SG_ROWS_ATOMIC_F64(e, wr, p, a, fn)                                                                  \
    SG_MEM_ROW(e, wr, 79, p "_atomic_add_f64", fn, 2, a, 2, SG_ATOMIC_FADD | SG_ATOMIC_64),                  \
        SG_MEM_ROW(e, wr, 80, p "_atomic_min_f64", fn, 2, a, 2, SG_ATOMIC_FMIN | SG_ATOMIC_64),              \
        SG_MEM_ROW(e, wr, 81, p "_atomic_max_f64", fn, 2, a, 2, SG_ATOMIC_FMAX | SG_ATOMIC_64)
#define SG_ROWS_ATOMIC64(e, wr, p, a, fn)                                                                    \
    SG_MEM_ROW(e, wr, 96, p "_atomic_swap_x2", fn, 2, a, 2, SG_ATOMIC_SWAP | SG_ATOMIC_64),                  \
        SG_MEM_ROW(e, wr, 97, p "_atomic_cmpswap_x2", fn, 2, a, 4, SG_ATOMIC_CMPSWAP | SG_ATOMIC_64),        \
        SG_MEM_ROW(e, wr, 98, p "_atomic_add_x2", fn, 2, a, 2, SG_ATOMIC_ADD | SG_ATOMIC_64),                \
        SG_MEM_ROW(e, wr, 99, p "_atomic_sub_x2", fn, 2, a, 2, SG_ATOMIC_SUB | SG_ATOMIC_64),                \
        SG_MEM_ROW(e, wr, 100, p "_atomic_smin_x2", fn, 2, a, 2, SG_ATOMIC_SMIN | SG_ATOMIC_64),             \
        SG_MEM_ROW(e, wr, 101, p "_atomic_umin_x2", fn, 2, a, 2, SG_ATOMIC_UMIN | SG_ATOMIC_64),             \
        SG_MEM_ROW(e, wr, 102, p "_atomic_smax_x2", fn, 2, a, 2, SG_ATOMIC_SMAX | SG_ATOMIC_64),             \
        SG_MEM_ROW(e, wr, 103, p "_atomic_umax_x2", fn, 2, a, 2, SG_ATOMIC_UMAX | SG_ATOMIC_64),             \
        SG_MEM_ROW(e, wr, 104, p "_atomic_and_x2", fn, 2, a, 2, SG_ATOMIC_AND | SG_ATOMIC_64),               \
        SG_MEM_ROW(e, wr, 105, p "_atomic_or_x2", fn, 2, a, 2, SG_ATOMIC_OR | SG_ATOMIC_64),                 \
        SG_MEM_ROW(e, wr, 106, p "_atomic_xor_x2", fn, 2, a, 2, SG_ATOMIC_XOR | SG_ATOMIC_64),               \
        SG_MEM_ROW(e, wr, 107, p "_atomic_inc_x2", fn, 2, a, 2, SG_ATOMIC_INC | SG_ATOMIC_64),               \
        SG_MEM_ROW(e, wr, 108, p "_atomic_dec_x2", fn, 2, a, 2, SG_ATOMIC_DEC | SG_ATOMIC_64)
#define SG_TABLE(rows_)                                                                                      \
    {                                                                                                        \
        .rows = rows_, .count = sizeof(rows_) / sizeof((rows_)[0])                                           \
    }

#endif
