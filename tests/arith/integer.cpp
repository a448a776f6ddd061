// SPDX-License-Identifier: MIT
// Integer instructions of the vector unit against the host: arithmetic of 16, 24, 32 and 64 bits, saturation,
// shifts, fields, bytes, sums of differences, carries, packed halves.
#include "arith.hpp"

typedef long long wide;

static wide clamped(wide v, wide low, wide high)
{
    return v < low ? low : v > high ? high : v;
}

static int s24(bits64 v)
{
    return (int)((unsigned)v << 8) >> 8;
}

static bits64 u24(bits64 v)
{
    return v & 0xffffff;
}

static bits64 field(unsigned v, unsigned offset, unsigned width)
{
    return v >> (offset & 31) & ((1u << (width & 31)) - 1);
}

static bits64 signed_field(unsigned v, unsigned offset, unsigned width)
{
    const unsigned n = width & 31, f = (unsigned)field(v, offset, width);
    return n ? (unsigned)((int)(f << (32 - n)) >> (32 - n)) : 0;
}

static bits64 permuted(bits64 high, bits64 low, bits64 select)
{
    const bits64 bytes = (high & 0xffffffff) << 32 | (low & 0xffffffff);
    bits64 r = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned s = select >> (8 * i) & 0xff;
        const bits64 sign = s >= 8 && s < 12 ? (bytes >> (16 * (s - 8) + 15) & 1) * 0xff : s == 12 ? 0 : 0xff;
        r |= (s < 8 ? bytes >> (8 * s) & 0xff : sign) << (8 * i);
    }
    return r;
}

static bits64 differences(bits64 a, bits64 b, bool masked)
{
    bits64 sum = 0;
    for (int i = 0; i < 32; i += 8) {
        const int x = a >> i & 0xff, y = b >> i & 0xff;
        sum += masked && !y ? 0 : (bits64)abs(x - y);
    }
    return sum;
}

static bits64 averages(bits64 a, bits64 b, bits64 c)
{
    bits64 r = 0;
    for (int i = 0; i < 32; i += 8)
        r |= ((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1 << i;
    return r;
}

template <typename T> static T middle(T a, T b, T c)
{
    return a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b);
}

static bits64 reversed(unsigned v)
{
    bits64 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (bits64)(v >> i & 1) << (31 - i);
    return r;
}

static bits64 pair(wide low, wide high)
{
    return ((bits64)low & 0xffff) | ((bits64)high & 0xffff) << 16;
}

#define U     bits32
#define D     bits64
#define UA    ((U)a)
#define UB    ((U)b)
#define UC    ((U)c)
#define SA    ((int)a)
#define SB    ((int)b)
#define SC    ((int)c)
#define LA    ((short)a)
#define LB    ((short)b)
#define LC    ((short)c)
#define HA    ((short)(a >> 16))
#define HB    ((short)(b >> 16))
#define HC    ((short)(c >> 16))
#define MIN32 (-0x80000000ll)
#define MAX32 0x7fffffffll

// Three 32-bit operands and result.
#define WORDS(X)                                                                                             \
    X(add, "v_add_u32 %0, %1, %2", INT32, INT32, NONE, EXACT, UA + UB)                                       \
    X(sub, "v_sub_u32 %0, %1, %2", INT32, INT32, NONE, EXACT, UA - UB)                                       \
    X(subrev, "v_subrev_u32 %0, %1, %2", INT32, INT32, NONE, EXACT, UB - UA)                                 \
    X(add_clamp, "v_add_u32_e64 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                                \
      (bits64)clamped((wide)UA + UB, 0, 0xffffffff))                                                         \
    X(sub_clamp, "v_sub_u32_e64 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                                \
      (bits64)clamped((wide)UA - UB, 0, 0xffffffff))                                                         \
    X(add_i32, "v_add_i32 %0, %1, %2", INT32, INT32, NONE, EXACT, UA + UB)                                   \
    X(add_i32_clamp, "v_add_i32 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                                \
      (U)clamped((wide)SA + SB, MIN32, MAX32))                                                               \
    X(sub_i32_clamp, "v_sub_i32 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                                \
      (U)clamped((wide)SA - SB, MIN32, MAX32))                                                               \
    X(mul_lo, "v_mul_lo_u32 %0, %1, %2", INT32, INT32, NONE, EXACT, UA *UB)                                  \
    X(mul_hi, "v_mul_hi_u32 %0, %1, %2", INT32, INT32, NONE, EXACT, (bits64)UA *UB >> 32)                    \
    X(mul_hi_signed, "v_mul_hi_i32 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)((wide)SA * SB >> 32))         \
    X(mul_u24, "v_mul_u32_u24 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)(u24(a) * u24(b)))                  \
    X(mul_hi_u24, "v_mul_hi_u32_u24 %0, %1, %2", INT32, INT32, NONE, EXACT, u24(a) * u24(b) >> 32)           \
    X(mul_i24, "v_mul_i32_i24 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)((wide)s24(a) * s24(b)))            \
    X(mul_hi_i24, "v_mul_hi_i32_i24 %0, %1, %2", INT32, INT32, NONE, EXACT,                                  \
      (U)((wide)s24(a) * s24(b) >> 32))                                                                      \
    X(mad_u24, "v_mad_u32_u24 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)(u24(a) * u24(b) + UC))        \
    X(mad_u24_clamp, "v_mad_u32_u24 %0, %1, %2, %3 clamp", INT32, INT32, INT32, EXACT,                       \
      (bits64)clamped((wide)(u24(a) * u24(b) + UC), 0, 0xffffffff))                                          \
    X(mad_i24, "v_mad_i32_i24 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)((wide)s24(a) * s24(b) + SC))  \
    X(mad_i24_clamp, "v_mad_i32_i24 %0, %1, %2, %3 clamp", INT32, INT32, INT32, EXACT,                       \
      (U)clamped((wide)s24(a) * s24(b) + SC, MIN32, MAX32))                                                  \
    X(mad_u32_u16, "v_mad_u32_u16 %0, %1, %2, %3", INT32, INT32, INT32, EXACT,                               \
      (U)((bits64)(a & 0xffff) * (b & 0xffff) + UC))                                                         \
    X(mad_u32_u16_clamp, "v_mad_u32_u16 %0, %1, %2, %3 clamp", INT32, INT32, INT32, EXACT,                   \
      (bits64)clamped((wide)((bits64)(a & 0xffff) * (b & 0xffff) + UC), 0, 0xffffffff))                      \
    X(mad_i32_i16, "v_mad_i32_i16 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)((wide)LA * LB + SC))      \
    X(mad_i32_i16_clamp, "v_mad_i32_i16 %0, %1, %2, %3 clamp", INT32, INT32, INT32, EXACT,                   \
      (U)clamped((wide)LA *LB + SC, MIN32, MAX32))                                                           \
    X(mad_u16, "v_mad_u16 %0, %1, %2, %3", INT32, INT32, INT32, LOW16, UA *UB + UC)                          \
    X(mad_u16_clamp, "v_mad_u16 %0, %1, %2, %3 clamp", INT32, INT32, INT32, LOW16,                           \
      (bits64)clamped((wide)((a & 0xffff) * (b & 0xffff) + (c & 0xffff)), 0, 0xffff))                        \
    X(mad_i16_clamp, "v_mad_i16 %0, %1, %2, %3 clamp", INT32, INT32, INT32, LOW16,                           \
      (bits64)clamped((wide)LA *LB + LC, -32768, 32767))                                                     \
    X(mad_legacy_u16, "v_mad_legacy_u16 %0, %1, %2, %3", INT32, INT32, INT32, EXACT,                         \
      (UA * UB + UC) & 0xffff)                                                                               \
    X(add_u16_clamp, "v_add_u16_e64 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                            \
      (bits64)clamped((wide)((a & 0xffff) + (b & 0xffff)), 0, 0xffff))                                       \
    X(sub_u16, "v_sub_u16 %0, %1, %2", INT32, INT32, NONE, EXACT, (UA - UB) & 0xffff)                        \
    X(mul_lo_u16, "v_mul_lo_u16 %0, %1, %2", INT32, INT32, NONE, EXACT, UA *UB & 0xffff)                     \
    X(lshlrev, "v_lshlrev_b32 %0, %1, %2", SHIFT, INT32, NONE, EXACT, UB << (a & 31))                        \
    X(lshrrev, "v_lshrrev_b32 %0, %1, %2", SHIFT, INT32, NONE, EXACT, UB >> (a & 31))                        \
    X(ashrrev, "v_ashrrev_i32 %0, %1, %2", SHIFT, INT32, NONE, EXACT, (U)(SB >> (a & 31)))                   \
    X(lshlrev16, "v_lshlrev_b16 %0, %1, %2", SHIFT, INT32, NONE, EXACT, (UB & 0xffff) << (a & 15) & 0xffff)  \
    X(lshrrev16, "v_lshrrev_b16 %0, %1, %2", SHIFT, INT32, NONE, EXACT, (UB & 0xffff) >> (a & 15))           \
    X(ashrrev16, "v_ashrrev_i16 %0, %1, %2", SHIFT, INT32, NONE, EXACT, (U)(LB >> (a & 15)) & 0xffff)        \
    X(bfe_u32, "v_bfe_u32 %0, %1, %2, %3", INT32, SHIFT, SHIFT, EXACT, field(UA, UB, UC))                    \
    X(bfe_i32, "v_bfe_i32 %0, %1, %2, %3", INT32, SHIFT, SHIFT, EXACT, signed_field(UA, UB, UC))             \
    X(bfi, "v_bfi_b32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (UA & UB) | (~UA & UC))                   \
    X(bfm, "v_bfm_b32 %0, %1, %2", SHIFT, SHIFT, NONE, EXACT, ((1u << (a & 31)) - 1) << (b & 31))            \
    X(alignbit, "v_alignbit_b32 %0, %1, %2, %3", INT32, INT32, SHIFT, EXACT,                                 \
      (U)(((bits64)UA << 32 | UB) >> (c & 31)))                                                              \
    X(alignbyte, "v_alignbyte_b32 %0, %1, %2, %3", INT32, INT32, SHIFT, EXACT,                               \
      (U)(((bits64)UA << 32 | UB) >> 8 * (c & 3)))                                                           \
    X(perm, "v_perm_b32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, permuted(a, b, c))                      \
    X(lshl_add, "v_lshl_add_u32 %0, %1, %2, %3", INT32, SHIFT, INT32, EXACT, (UA << (b & 31)) + UC)          \
    X(add_lshl, "v_add_lshl_u32 %0, %1, %2, %3", INT32, INT32, SHIFT, EXACT, (UA + UB) << (c & 31))          \
    X(lshl_or, "v_lshl_or_b32 %0, %1, %2, %3", INT32, SHIFT, INT32, EXACT, UA << (b & 31) | UC)              \
    X(and_or, "v_and_or_b32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (UA & UB) | UC)                     \
    X(or3, "v_or3_b32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, UA | UB | UC)                             \
    X(add3, "v_add3_u32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, UA + UB + UC)                           \
    X(xad, "v_xad_u32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (UA ^ UB) + UC)                           \
    X(xnor, "v_xnor_b32 %0, %1, %2", INT32, INT32, NONE, EXACT, (U) ~(UA ^ UB))                              \
    X(min_i32, "v_min_i32 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)(SA < SB ? SA : SB))                    \
    X(max_i32, "v_max_i32 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)(SA > SB ? SA : SB))                    \
    X(min_u16, "v_min_u16 %0, %1, %2", INT32, INT32, NONE, LOW16, (a & 0xffff) < (b & 0xffff) ? a : b)       \
    X(max_i16, "v_max_i16 %0, %1, %2", INT32, INT32, NONE, LOW16, (bits64)(LA > LB ? LA : LB))               \
    X(med3_i32, "v_med3_i32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)middle(SA, SB, SC))              \
    X(med3_u32, "v_med3_u32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, middle(UA, UB, UC))                 \
    X(med3_i16, "v_med3_i16 %0, %1, %2, %3", INT32, INT32, INT32, LOW16, (bits64)middle(LA, LB, LC))         \
    X(sad_u8, "v_sad_u8 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)(differences(a, b, false) + c))      \
    X(msad_u8, "v_msad_u8 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)(differences(a, b, true) + c))     \
    X(sad_hi_u8, "v_sad_hi_u8 %0, %1, %2, %3", INT32, INT32, INT32, EXACT,                                   \
      (U)((differences(a, b, false) << 16) + c))                                                             \
    X(sad_u16, "v_sad_u16 %0, %1, %2, %3", INT32, INT32, INT32, EXACT,                                       \
      (U)(llabs((wide)(a & 0xffff) - (wide)(b & 0xffff)) + llabs((wide)(UA >> 16) - (wide)(UB >> 16)) + UC)) \
    X(sad_u32, "v_sad_u32 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, (U)(llabs((wide)UA - UB) + UC))       \
    X(lerp, "v_lerp_u8 %0, %1, %2, %3", INT32, INT32, INT32, EXACT, averages(a, b, c))                       \
    X(bcnt, "v_bcnt_u32_b32 %0, %1, %2", INT32, INT32, NONE, EXACT, (U)(__builtin_popcount(UA) + UB))        \
    X(ffbh, "v_ffbh_u32 %0, %1", INT32, NONE, NONE, EXACT, UA ? (U)__builtin_clz(UA) : ~0u)                  \
    X(ffbl, "v_ffbl_b32 %0, %1", INT32, NONE, NONE, EXACT, UA ? (U)__builtin_ctz(UA) : ~0u)                  \
    X(ffbh_i, "v_ffbh_i32 %0, %1", INT32, NONE, NONE, EXACT,                                                 \
      SA == 0 || SA == -1 ? ~0u : (U)__builtin_clz(SA < 0 ? ~UA : UA))                                       \
    X(bfrev, "v_bfrev_b32 %0, %1", INT32, NONE, NONE, EXACT, reversed(UA))                                   \
    X(sat_pk, "v_sat_pk_u8_i16 %0, %1", INT32, NONE, NONE, LOW16,                                            \
      (bits64)(clamped(LA, 0, 255) | clamped(HA, 0, 255) << 8))                                              \
    X(pk_u16, "v_cvt_pk_u16_u32 %0, %1, %2", INT32, INT32, NONE, EXACT,                                      \
      pair(clamped(UA, 0, 65535), clamped(UB, 0, 65535)))                                                    \
    X(pk_i16, "v_cvt_pk_i16_i32 %0, %1, %2", INT32, INT32, NONE, EXACT,                                      \
      pair(clamped(SA, -32768, 32767), clamped(SB, -32768, 32767)))                                          \
    X(addc, "v_add_co_u32 %0, vcc, %1, %2\n v_addc_co_u32 %0, vcc, %0, %3, vcc", INT32, INT32, INT32, EXACT, \
      UA + UB + UC + ((bits64)UA + UB > 0xffffffff))                                                         \
    X(subb, "v_sub_co_u32 %0, vcc, %1, %2\n v_subb_co_u32 %0, vcc, %0, %3, vcc", INT32, INT32, INT32, EXACT, \
      UA - UB - UC - (UB > UA))                                                                              \
    X(cndmask, "v_cmp_ge_i32 vcc, %1, %2\n v_cndmask_b32 %0, %1, %3, vcc", INT32, INT32, INT32, EXACT,       \
      SA >= SB ? UC : UA)                                                                                    \
    X(sdwa_byte, "v_add_u32_sdwa %0, %1, %2 dst_sel:DWORD src0_sel:BYTE_2 src1_sel:WORD_1", INT32, INT32,    \
      NONE, EXACT, (a >> 16 & 0xff) + (UB >> 16))                                                            \
    X(sdwa_signed,                                                                                           \
      "v_mul_i32_i24_sdwa %0, sext(%1), sext(%2) dst_sel:DWORD src0_sel:BYTE_3 src1_sel:WORD_0", INT32,      \
      INT32, NONE, EXACT, (U)((signed char)(a >> 24) * LB))                                                  \
    X(sdwa_keep,                                                                                             \
      "v_mov_b32 %0, %3\n v_or_b32_sdwa %0, %1, %2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE "               \
      "src0_sel:BYTE_0 src1_sel:BYTE_1",                                                                     \
      INT32, INT32, INT32, EXACT, (UC & 0xffff00ff) | ((a | b >> 8) & 0xff) << 8)                            \
    X(pk_add_u16, "v_pk_add_u16 %0, %1, %2", INT32, INT32, NONE, EXACT, pair(LA + LB, HA + HB))              \
    X(pk_add_u16_clamp, "v_pk_add_u16 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                          \
      pair(clamped((a & 0xffff) + (b & 0xffff), 0, 65535), clamped((UA >> 16) + (UB >> 16), 0, 65535)))      \
    X(pk_sub_i16_clamp, "v_pk_sub_i16 %0, %1, %2 clamp", INT32, INT32, NONE, EXACT,                          \
      pair(clamped(LA - LB, -32768, 32767), clamped(HA - HB, -32768, 32767)))                                \
    X(pk_mad_i16, "v_pk_mad_i16 %0, %1, %2, %3", INT32, INT32, INT32, EXACT,                                 \
      pair(LA *LB + LC, HA * HB + HC))                                                                       \
    X(pk_mad_u16_clamp, "v_pk_mad_u16 %0, %1, %2, %3 clamp", INT32, INT32, INT32, EXACT,                     \
      pair(clamped((wide)((a & 0xffff) * (b & 0xffff) + (c & 0xffff)), 0, 65535),                            \
           clamped((wide)((a >> 16) * (b >> 16) + (c >> 16)), 0, 65535)))                                    \
    X(pk_mul_lo, "v_pk_mul_lo_u16 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1]", INT32, INT32, NONE, EXACT,       \
      pair(HA *LB, LA *HB))                                                                                  \
    X(pk_lshl, "v_pk_lshlrev_b16 %0, %1, %2", INT32, INT32, NONE, EXACT,                                     \
      pair((b & 0xffff) << (a & 15), (b >> 16) << (a >> 16 & 15)))                                           \
    X(pk_ashr, "v_pk_ashrrev_i16 %0, %1, %2", INT32, INT32, NONE, EXACT,                                     \
      pair(LB >> (a & 15), HB >> (a >> 16 & 15)))                                                            \
    X(pk_min_i16, "v_pk_min_i16 %0, %1, %2", INT32, INT32, NONE, EXACT,                                      \
      pair(LA < LB ? LA : LB, HA < HB ? HA : HB))                                                            \
    X(agpr, "v_accvgpr_write_b32 a0, %1\n s_nop 1\n v_accvgpr_read_b32 %0, a0", INT32, NONE, NONE, EXACT, UA)

// With a result or operands of 64 bits.
#define PAIRS(X)                                                                                             \
    X(mad_u64, D, U, U, D, "v_mad_u64_u32 %0, vcc, %1, %2, %3", INT32, INT32, INT64, EXACT,                  \
      (bits64)UA *UB + c)                                                                                    \
    X(mad_u64_carry, U, U, U, D, "v_mad_u64_u32 v[40:41], vcc, %1, %2, %3\n v_cndmask_b32 %0, 0, 1, vcc",    \
      INT32, INT32, INT64, EXACT, (bits64)UA *UB + c < c)                                                    \
    X(mad_i64, D, U, U, D, "v_mad_i64_i32 %0, vcc, %1, %2, %3", INT32, INT32, INT64, EXACT,                  \
      (bits64)((wide)SA * SB) + c)                                                                           \
    X(lshlrev64, D, U, D, D, "v_lshlrev_b64 %0, %1, %2", SHIFT, INT64, NONE, EXACT, b << (a & 63))           \
    X(lshrrev64, D, U, D, D, "v_lshrrev_b64 %0, %1, %2", SHIFT, INT64, NONE, EXACT, b >> (a & 63))           \
    X(ashrrev64, D, U, D, D, "v_ashrrev_i64 %0, %1, %2", SHIFT, INT64, NONE, EXACT,                          \
      (bits64)((wide)b >> (a & 63)))                                                                         \
    X(lt_i64, U, D, D, D, "v_cmp_lt_i64 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", INT64, INT64, NONE,      \
      EXACT, (wide)a < (wide)b)                                                                              \
    X(ge_u64, U, D, D, D, "v_cmp_ge_u64 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", INT64, INT64, NONE,      \
      EXACT, a >= b)                                                                                         \
    X(pk_mov, D, D, D, D, "v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]", INT64, INT64, NONE, EXACT,                 \
      a >> 32 | (b & 0xffffffff) << 32)

#define KERNEL(id, text, ka, kb, kc, how, host)              VOP(id, U, U, U, U, text)
#define KERNEL2(id, R, A, B, C, text, ka, kb, kc, how, host) VOP(id, R, A, B, C, text)
#define ROW(id, text, ka, kb, kc, how, host)                 {#id, gpu_##id, HOST(host), ka, kb, kc, how},
#define ROW2(id, R, A, B, C, text, ka, kb, kc, how, host)    {#id, gpu_##id, HOST(host), ka, kb, kc, how},
WORDS(KERNEL)
PAIRS(KERNEL2)
static const operation operations[] = {WORDS(ROW) PAIRS(ROW2)};

int main()
{
    return run_operations("arith_integer", operations, 32768);
}
