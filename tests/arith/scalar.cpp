// SPDX-License-Identifier: MIT
// Instructions of the scalar unit against the host: arithmetic with carries, 64-bit logic, shifts, fields,
// counting and finding bits, packing, comparisons through the condition code.
#include "arith.hpp"

typedef long long wide;

static bits64 low_mask(unsigned n)
{
    return n >= 64 ? ~0ull : (1ull << n) - 1;
}

static bits64 signed_field(wide v, unsigned offset, unsigned width, unsigned size)
{
    if (width == 0)
        return 0;
    const unsigned n = width > size - offset ? size - offset : width; // of bits that exist
    return (bits64)((wide)((bits64)(v >> offset) << (64 - n)) >> (64 - n));
}

static bits64 reversed(bits64 v, int n)
{
    bits64 r = 0;
    for (int i = 0; i < n; i++)
        r |= (v >> i & 1) << (n - 1 - i);
    return r;
}

#define U         bits32
#define D         bits64
#define UA        ((U)a)
#define UB        ((U)b)
#define SA        ((int)a)
#define SB        ((int)b)
#define SCC(text) text "\n s_cselect_b32 %0, 1, 0"
// An operation on words and, by the same name, the same on pairs.
#define LIST(X)                                                                                              \
    X(add, U, U, U, "s_add_u32 %0, %1, %2", INT32, INT32, UA + UB)                                           \
    X(sub, U, U, U, "s_sub_u32 %0, %1, %2", INT32, INT32, UA - UB)                                           \
    X(addc, U, U, U, "s_add_u32 %0, %1, %2\n s_addc_u32 %0, %1, %2", INT32, INT32,                           \
      UA + UB + ((D)UA + UB > 0xffffffff))                                                                   \
    X(subb, U, U, U, "s_sub_u32 %0, %1, %2\n s_subb_u32 %0, %1, %2", INT32, INT32, UA - UB - (UB > UA))      \
    X(overflow, U, U, U, SCC("s_add_i32 %0, %1, %2"), INT32, INT32, (wide)SA + SB != (int)(UA + UB))         \
    X(overflow_sub, U, U, U, SCC("s_sub_i32 %0, %1, %2"), INT32, INT32, (wide)SA - SB != (int)(UA - UB))     \
    X(mul, U, U, U, "s_mul_i32 %0, %1, %2", INT32, INT32, UA *UB)                                            \
    X(mul_hi, U, U, U, "s_mul_hi_u32 %0, %1, %2", INT32, INT32, (D)UA *UB >> 32)                             \
    X(mul_hi_i, U, U, U, "s_mul_hi_i32 %0, %1, %2", INT32, INT32, (U)((wide)SA * SB >> 32))                  \
    X(absdiff, U, U, U, "s_absdiff_i32 %0, %1, %2", INT32, INT32, (U)abs((int)(UA - UB)))                    \
    X(abs, U, U, U, "s_abs_i32 %0, %1", INT32, NONE, (U)(SA < 0 ? -UA : UA))                                 \
    X(min_i, U, U, U, "s_min_i32 %0, %1, %2", INT32, INT32, (U)(SA < SB ? SA : SB))                          \
    X(max_u, U, U, U, "s_max_u32 %0, %1, %2", INT32, INT32, UA > UB ? UA : UB)                               \
    X(lshl1, U, U, U, "s_lshl1_add_u32 %0, %1, %2", INT32, INT32, (UA << 1) + UB)                            \
    X(lshl4, U, U, U, "s_lshl4_add_u32 %0, %1, %2", INT32, INT32, (UA << 4) + UB)                            \
    X(lshl3_carry, U, U, U, SCC("s_lshl3_add_u32 %0, %1, %2"), INT32, INT32, ((D)UA << 3) + UB > 0xffffffff) \
    X(shl, U, U, U, "s_lshl_b32 %0, %1, %2", INT32, SHIFT, UA << (b & 31))                                   \
    X(shr, U, U, U, "s_lshr_b32 %0, %1, %2", INT32, SHIFT, UA >> (b & 31))                                   \
    X(ashr, U, U, U, "s_ashr_i32 %0, %1, %2", INT32, SHIFT, (U)(SA >> (b & 31)))                             \
    X(shl64, D, D, U, "s_lshl_b64 %0, %1, %2", INT64, SHIFT, a << (b & 63))                                  \
    X(shr64, D, D, U, "s_lshr_b64 %0, %1, %2", INT64, SHIFT, a >> (b & 63))                                  \
    X(ashr64, D, D, U, "s_ashr_i64 %0, %1, %2", INT64, SHIFT, (D)((wide)a >> (b & 63)))                      \
    X(bfe, U, U, U, "s_bfe_u32 %0, %1, %2", INT32, INT32, UA >> (b & 31) & (U)low_mask(b >> 16 & 0x7f))      \
    X(bfe_i, U, U, U, "s_bfe_i32 %0, %1, %2", INT32, INT32, (U)signed_field(SA, b & 31, b >> 16 & 0x7f, 32)) \
    X(bfe64, D, D, U, "s_bfe_u64 %0, %1, %2", INT64, INT32, a >> (b & 63) & low_mask(b >> 16 & 0x7f))        \
    X(bfe64_i, D, D, U, "s_bfe_i64 %0, %1, %2", INT64, INT32,                                                \
      signed_field((wide)a, b & 63, b >> 16 & 0x7f, 64))                                                     \
    X(bfm, U, U, U, "s_bfm_b32 %0, %1, %2", SHIFT, SHIFT, ((1u << (a & 31)) - 1) << (b & 31))                \
    X(bfm64, D, U, U, "s_bfm_b64 %0, %1, %2", SHIFT, SHIFT, ((1ull << (a & 63)) - 1) << (b & 63))            \
    X(and64, D, D, D, "s_and_b64 %0, %1, %2", INT64, INT64, a &b)                                            \
    X(andn2, D, D, D, "s_andn2_b64 %0, %1, %2", INT64, INT64, a & ~b)                                        \
    X(orn2, D, D, D, "s_orn2_b64 %0, %1, %2", INT64, INT64, a | ~b)                                          \
    X(nand, D, D, D, "s_nand_b64 %0, %1, %2", INT64, INT64, ~(a & b))                                        \
    X(nor, D, D, D, "s_nor_b64 %0, %1, %2", INT64, INT64, ~(a | b))                                          \
    X(xnor, D, D, D, "s_xnor_b64 %0, %1, %2", INT64, INT64, ~(a ^ b))                                        \
    X(not64, D, D, D, "s_not_b64 %0, %1", INT64, NONE, ~a)                                                   \
    X(nonzero, U, D, D, SCC("s_and_b64 vcc, %1, %2"), INT64, INT64, (a & b) != 0)                            \
    X(brev, U, U, U, "s_brev_b32 %0, %1", INT32, NONE, reversed(UA, 32))                                     \
    X(brev64, D, D, D, "s_brev_b64 %0, %1", INT64, NONE, reversed(a, 64))                                    \
    X(count1, U, D, D, "s_bcnt1_i32_b64 %0, %1", INT64, NONE, __builtin_popcountll(a))                       \
    X(count0, U, U, U, "s_bcnt0_i32_b32 %0, %1", INT32, NONE, 32 - __builtin_popcount(UA))                   \
    X(first1, U, D, D, "s_ff1_i32_b64 %0, %1", INT64, NONE, a ? (U)__builtin_ctzll(a) : ~0u)                 \
    X(first0, U, U, U, "s_ff0_i32_b32 %0, %1", INT32, NONE, ~UA ? (U)__builtin_ctz(~UA) : ~0u)               \
    X(flbit, U, D, D, "s_flbit_i32_b64 %0, %1", INT64, NONE, a ? (U)__builtin_clzll(a) : ~0u)                \
    X(flbit_i, U, U, U, "s_flbit_i32 %0, %1", INT32, NONE,                                                   \
      SA == 0 || SA == -1 ? ~0u : (U)__builtin_clz(SA < 0 ? ~UA : UA))                                       \
    X(sext8, U, U, U, "s_sext_i32_i8 %0, %1", INT32, NONE, (U)(signed char)a)                                \
    X(sext16, U, U, U, "s_sext_i32_i16 %0, %1", INT32, NONE, (U)(short)a)                                    \
    X(pack_ll, U, U, U, "s_pack_ll_b32_b16 %0, %1, %2", INT32, INT32, (UA & 0xffff) | UB << 16)              \
    X(pack_lh, U, U, U, "s_pack_lh_b32_b16 %0, %1, %2", INT32, INT32, (UA & 0xffff) | (UB & 0xffff0000))     \
    X(pack_hh, U, U, U, "s_pack_hh_b32_b16 %0, %1, %2", INT32, INT32, UA >> 16 | (UB & 0xffff0000))          \
    X(le_i, U, U, U, SCC("s_cmp_le_i32 %1, %2"), INT32, INT32, SA <= SB)                                     \
    X(ge_i, U, U, U, SCC("s_cmp_ge_i32 %1, %2"), INT32, INT32, SA >= SB)                                     \
    X(lt_i, U, U, U, SCC("s_cmp_lt_i32 %1, %2"), INT32, INT32, SA < SB)                                      \
    X(le_u, U, U, U, SCC("s_cmp_le_u32 %1, %2"), INT32, INT32, UA <= UB)                                     \
    X(gt_u, U, U, U, SCC("s_cmp_gt_u32 %1, %2"), INT32, INT32, UA > UB)                                      \
    X(lg64, U, D, D, SCC("s_cmp_lg_u64 %1, %2"), INT64, INT64, a != b)                                       \
    X(bit0, U, U, U, SCC("s_bitcmp0_b32 %1, %2"), INT32, SHIFT, !(UA >> (b & 31) & 1))                       \
    X(bit1, U, D, U, SCC("s_bitcmp1_b64 %1, %2"), INT64, SHIFT, a >> (b & 63) & 1)                           \
    X(cmpk, U, U, U, SCC("s_cmpk_lt_i32 %1, 0x1234"), INT32, NONE, SA < 0x1234)                              \
    X(cmpk_u, U, U, U, SCC("s_cmpk_ge_u32 %1, 0xfedc"), INT32, NONE, UA >= 0xfedc)                           \
    X(mulk, U, U, U, "s_mov_b32 %0, %1\n s_mulk_i32 %0, 0xff85", INT32, NONE, UA *(U)-123)                   \
    X(addk, U, U, U, "s_mov_b32 %0, %1\n s_addk_i32 %0, 0x8001", INT32, NONE, UA - 32767)

#define KERNEL(id, R, A, B, text, ka, kb, host) SOP(id, R, A, B, text)
LIST(KERNEL)
#define ROW(id, R, A, B, text, ka, kb, host) {#id, gpu_##id, HOST(host), ka, kb, NONE, EXACT},
static const operation operations[] = {LIST(ROW)};

int main()
{
    return run_operations("arith_scalar", operations, 4096, 1);
}
