// SPDX-License-Identifier: MIT
// Makes an exec function from one expression per lane. SG_VOP1/2/3(name, D, A, B, C, expression) defines
// op_<name> with sources a, b, c of kinds A, B, C and a result of kind D. Kinds: u32 i32 f32 u16 i16 f16 u64
// i64 f64; f16 values are floats inside the expression and are rounded once, at the end. Unsigned 32- and
// 64-bit kinds serve raw bit patterns too. In scope: w, inst, and ieee (the MODE bit).
#ifndef SG_LANES_H
#define SG_LANES_H

#include "softgpu/isa/fp.h"
#include "softgpu/isa/operand.h"

#define SG_BITS_u32  uint32_t
#define SG_BITS_i32  uint32_t
#define SG_BITS_f32  uint32_t
#define SG_BITS_r32  uint32_t
#define SG_BITS_u16  uint32_t
#define SG_BITS_i16  uint32_t
#define SG_BITS_f16  uint32_t
#define SG_BITS_r16  uint32_t
#define SG_BITS_h16  uint32_t
#define SG_BITS_hf16 uint32_t
#define SG_BITS_u64  uint64_t
#define SG_BITS_i64  uint64_t
#define SG_BITS_f64  uint64_t
#define SG_BITS_r64  uint64_t

#define SG_VALUE_u32 uint32_t
#define SG_VALUE_i32 int32_t
#define SG_VALUE_f32 float
#define SG_VALUE_r32 uint32_t
#define SG_VALUE_u16 uint32_t
#define SG_VALUE_i16 int32_t
#define SG_VALUE_f16 float
#define SG_VALUE_r16 uint32_t
#define SG_VALUE_u64 uint64_t
#define SG_VALUE_i64 int64_t
#define SG_VALUE_f64 double
#define SG_VALUE_r64 uint64_t

// r32, r16, r64: float operands with their modifiers applied, handed over as bit patterns.
#define SG_GATHER_u32 sg_fast32
#define SG_GATHER_i32 sg_fast32
#define SG_GATHER_f32 sg_fast_f32
#define SG_GATHER_r32 sg_fast_f32
#define SG_GATHER_u16 sg_src16
#define SG_GATHER_i16 sg_src16
#define SG_GATHER_f16 sg_src_f16
#define SG_GATHER_r16 sg_src_f16
#define SG_GATHER_u64 sg_src64
#define SG_GATHER_i64 sg_src64
#define SG_GATHER_f64 sg_src_f64
#define SG_GATHER_r64 sg_src_f64

#define SG_LOAD_u32(x) (x)
#define SG_LOAD_i32(x) ((int32_t)(x))
#define SG_LOAD_f32(x) sg_f32(x)
#define SG_LOAD_r32(x) (x)
#define SG_LOAD_u16(x) (x)
#define SG_LOAD_i16(x) ((int32_t)(int16_t)(x))
#define SG_LOAD_f16(x) sg_f32_from_f16(x)
#define SG_LOAD_r16(x) (x)
#define SG_LOAD_u64(x) (x)
#define SG_LOAD_i64(x) ((int64_t)(x))
#define SG_LOAD_f64(x) sg_f64(x)
#define SG_LOAD_r64(x) (x)

// The h16 and hf16 results write only the half of the register that op_sel names.
#define SG_PACK_u32(x)  ((uint32_t)(x))
#define SG_PACK_i32(x)  ((uint32_t)(x))
#define SG_PACK_f32(x)  sg_bits32(x)
#define SG_PACK_r32(x)  (x)
#define SG_PACK_u16(x)  ((uint32_t)(x))
#define SG_PACK_i16(x)  ((uint32_t)(x))
#define SG_PACK_f16(x)  sg_bits32(x)
#define SG_PACK_r16(x)  (x)
#define SG_PACK_h16(x)  ((uint32_t)(x))
#define SG_PACK_hf16(x) SG_PACK_f16(x)
#define SG_PACK_u64(x)  ((uint64_t)(x))
#define SG_PACK_i64(x)  ((uint64_t)(x))
#define SG_PACK_f64(x)  sg_bits64(x)
#define SG_PACK_r64(x)  (x)

#define SG_STORE_u32 sg_dst32
#define SG_STORE_i32 sg_dst32
#define SG_STORE_f32 sg_dst_f32
#define SG_STORE_r32 sg_dst_f32
#define SG_STORE_u16 sg_dst16
#define SG_STORE_i16 sg_dst16
// f16 results are f32 until the whole loop is done: rounding them is a loop of its own.
#define SG_STORE_f16(w, inst, r)  (sg_round_f16(w, r), sg_dst_f16(w, inst, r))
#define SG_STORE_r16              sg_dst_f16
#define SG_STORE_h16              sg_dst16_half
#define SG_STORE_hf16(w, inst, r) (sg_round_f16(w, r), sg_dst_f16_half(w, inst, r))
#define SG_STORE_u64              sg_dst64
#define SG_STORE_i64              sg_dst64
#define SG_STORE_f64              sg_dst_f64
#define SG_STORE_r64              sg_dst_f64

// Where a result may be computed in place, by kind.
#define SG_PLACE_u32(w, inst)  sg_place32(w, inst)
#define SG_PLACE_i32(w, inst)  sg_place32(w, inst)
#define SG_PLACE_f32(w, inst)  sg_place_f32(w, inst)
#define SG_PLACE_r32(w, inst)  sg_place_f32(w, inst)
#define SG_PLACE_u16(w, inst)  NULL
#define SG_PLACE_i16(w, inst)  NULL
#define SG_PLACE_f16(w, inst)  NULL
#define SG_PLACE_r16(w, inst)  NULL
#define SG_PLACE_h16(w, inst)  NULL
#define SG_PLACE_hf16(w, inst) NULL
#define SG_PLACE_u64(w, inst)  NULL
#define SG_PLACE_i64(w, inst)  NULL
#define SG_PLACE_f64(w, inst)  NULL
#define SG_PLACE_r64(w, inst)  NULL

// No iteration over lanes depends on another one.
#ifdef __clang__
#define SG_LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define SG_LANES_APART _Pragma("GCC ivdep")
#endif

// Rounding mode by kind of result.
#define SG_ROUND_u32  0u
#define SG_ROUND_i32  0u
#define SG_ROUND_r32  0u
#define SG_ROUND_u16  0u
#define SG_ROUND_i16  0u
#define SG_ROUND_r16  0u
#define SG_ROUND_h16  0u
#define SG_ROUND_u64  0u
#define SG_ROUND_i64  0u
#define SG_ROUND_r64  0u
#define SG_ROUND_f32  (w->mode & SG_MODE_ROUND32)
#define SG_ROUND_f16  ((w->mode & SG_MODE_ROUND64) >> 2)
#define SG_ROUND_hf16 SG_ROUND_f16
#define SG_ROUND_f64  SG_ROUND_f16

#define SG_VOP_BEGIN(name, D)                                                                                \
    static enum sg_step op_##name(struct sg_wave *w, const struct sg_inst *inst)                             \
    {                                                                                                        \
        const unsigned round = SG_ROUND_##D;                                                                 \
        const bool ieee = w->mode & SG_MODE_IEEE;                                                            \
        SG_BITS_##D result[SG_LANES], *const place = SG_PLACE_##D(w, inst);                                  \
        SG_BITS_##D *const to = place ? place : result;                                                      \
        (void)ieee;

#define SG_VOP_SOURCE(x, X, n)                                                                               \
    SG_BITS_##X x##_buf[SG_LANES];                                                                           \
    const SG_BITS_##X *x##_in = SG_GATHER_##X(w, inst, n, x##_buf);

#define SG_VOP_LANE(x, X) const SG_VALUE_##X x = SG_LOAD_##X(x##_in[lane]);

#define SG_VOP_END(D, expr)                                                                                  \
    to[lane] = SG_PACK_##D(expr);                                                                            \
    }                                                                                                        \
    sg_round_leave(round);                                                                                   \
    if (!place)                                                                                              \
        SG_STORE_##D(w, inst, result);                                                                       \
    return SG_STEP_OK;                                                                                       \
    }

#define SG_VOP1(name, D, A, expr)                                                                            \
    SG_VOP_BEGIN(name, D)                                                                                    \
    SG_VOP_SOURCE(a, A, 0)                                                                                   \
    sg_round_enter(round);                                                                                   \
    SG_LANES_APART                                                                                           \
    for (unsigned lane = 0; lane < SG_LANES; lane++) {                                                       \
        SG_VOP_LANE(a, A)                                                                                    \
        SG_VOP_END(D, expr)

#define SG_VOP2(name, D, A, B, expr)                                                                         \
    SG_VOP_BEGIN(name, D)                                                                                    \
    SG_VOP_SOURCE(a, A, 0)                                                                                   \
    SG_VOP_SOURCE(b, B, 1)                                                                                   \
    sg_round_enter(round);                                                                                   \
    SG_LANES_APART                                                                                           \
    for (unsigned lane = 0; lane < SG_LANES; lane++) {                                                       \
        SG_VOP_LANE(a, A)                                                                                    \
        SG_VOP_LANE(b, B)                                                                                    \
        SG_VOP_END(D, expr)

#define SG_VOP3(name, D, A, B, C, expr)                                                                      \
    SG_VOP_BEGIN(name, D)                                                                                    \
    SG_VOP_SOURCE(a, A, 0)                                                                                   \
    SG_VOP_SOURCE(b, B, 1)                                                                                   \
    SG_VOP_SOURCE(c, C, 2)                                                                                   \
    sg_round_enter(round);                                                                                   \
    SG_LANES_APART                                                                                           \
    for (unsigned lane = 0; lane < SG_LANES; lane++) {                                                       \
        SG_VOP_LANE(a, A)                                                                                    \
        SG_VOP_LANE(b, B)                                                                                    \
        SG_VOP_LANE(c, C)                                                                                    \
        SG_VOP_END(D, expr)

// Table rows: semantics by mnemonic, semantics shared between mnemonics, and mnemonics known by name alone.
#define SG_ROW(enc, op, name, d, s0, s1, s2, arg, flags)                                                     \
    {                                                                                                        \
        op, enc, SG_CLASS_VALU, #name, op_##name, d, {s0, s1, s2}, arg, flags                                \
    }
#define SG_ROW_AS(enc, op, name, fn, d, s0, s1, s2, arg, flags)                                              \
    {                                                                                                        \
        op, enc, SG_CLASS_VALU, #name, op_##fn, d, {s0, s1, s2}, arg, flags                                  \
    }
#define SG_ROW_NAMED(enc, op, name, d, s0, s1, s2, flags)                                                    \
    {                                                                                                        \
        op, enc, SG_CLASS_VALU, #name, NULL, d, {s0, s1, s2}, 0, flags                                       \
    }

#endif
