// SPDX-License-Identifier: MIT
// Vector integer operations and everything around the lane loop: EXEC, carry masks, compares, SDWA, DPP, lane
// access, relative addressing.
#include "softgpu/tests/isa_alu/bare_wave.h"

static struct bare b;
static const struct vop3_mods none;

static int set_up(void **state)
{
    (void)state;
    bare_init(&b);
    for (unsigned i = 0; i < SG_LANES; i++)
        b.vgpr[0][i] = i;
    return 0;
}

static void only_active_lanes_change(void **state)
{
    (void)state;
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 0xf0f0f0f0f0f0f0f0);
    set_all(&b, 1, 1000);
    vop2("v_add_u32", 1, V(0), 0);
    bare_go(&b);
    for (unsigned i = 0; i < SG_LANES; i++)
        assert_int_equal(b.vgpr[1][i], i & 4 ? 2 * i : 1000);
}

static void carry_masks_have_a_bit_per_active_lane(void **state)
{
    (void)state;
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 0x00ffffffffffffff);
    b.wave.sgpr[0] = 0xffffffe0; // lanes 32.. carry
    vop2("v_add_co_u32", 1, S(0), 0);
    vop2("v_addc_co_u32", 2, INT(0), 3);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), 0);
    for (unsigned i = 0; i < 56; i++) {
        assert_int_equal(b.vgpr[1][i], i - 32);
        assert_int_equal(b.vgpr[2][i], i >= 32);
    }
    vop3("v_sub_co_u32", 1, V(0), INT(10), 0, (struct vop3_mods){.sdst = 20});
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 20), 0x3ff);
    vop3("v_add_u32", 1, V(0), S(0), 0, (struct vop3_mods){.clamp = 1});
    bare_go(&b);
    assert_int_equal(b.vgpr[1][40], 0xffffffff);
}

static void compares_write_masks(void **state)
{
    (void)state;
    vopc("v_cmp_gt_u32", INT(5), 0);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), 0x1f);
    vop3("v_cmp_ne_i32", 10, V(0), INT(3), 0, none);
    vopc("v_cmpx_le_i32", INT(32), 0);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 10), ~8ull);
    assert_int_equal(sg_exec(&b.wave), 0xffffffff00000000);
    vop3("v_cndmask_b32", 1, INT(1), INT(2), 10, none);
    bare_go(&b);
    assert_int_equal(b.vgpr[1][63], 2);
    assert_int_equal(b.vgpr[1][3], 0); // not active
    vop3("v_cmp_lt_i64", 12, INT(-1), V(2), 0, none);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 12), 0xffffffff00000000);
}

static void lanes_can_be_read_and_written(void **state)
{
    (void)state;
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 0xf0);
    vop3("v_readlane_b32", 3, V(0), INT(17), 0, none);
    vop1("v_readfirstlane_b32", 4, V(0));
    vop3("v_writelane_b32", 5, S(3), INT(63), 0, none);
    vop3("v_mbcnt_lo_u32_b32", 6, INT(-1), INT(0), 0, none);
    vop3("v_mbcnt_hi_u32_b32", 6, INT(-1), V(6), 0, none);
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[3], 17);
    assert_int_equal(b.wave.sgpr[4], 4);
    assert_int_equal(b.vgpr[5][63], 17);
    assert_int_equal(b.vgpr[6][7], 7);
    assert_int_equal(b.vgpr[6][8], 0);
}

static void integer_operations(void **state)
{
    (void)state;
    set_all64(&b, 2, 0x8000000000000001);
    vop3("v_lshlrev_b64", 4, INT(4), V(2), 0, none);
    vop3("v_ashrrev_i64", 6, INT(4), V(2), 0, none);
    vop3("v_mad_u64_u32", 8, V(3), V(3), V(2), (struct vop3_mods){.sdst = 20});
    vop3("v_mul_hi_i32", 10, V(3), INT(2), 0, none);
    vop3("v_bfe_i32", 11, V(3), INT(28), INT(4), none);
    vop3("v_alignbit_b32", 12, V(3), V(2), INT(1), none);
    vop3("v_lshl_add_u32", 13, V(0), INT(2), INT(1), none);
    vop3("v_bfi_b32", 14, INT(15), V(3), INT(-1), none);
    vop1("v_ffbh_u32", 15, INT(1));
    vop1("v_bfrev_b32", 16, INT(1));
    vop2("v_mul_i32_i24", 17, INT(-3), 0);
    vop3("v_med3_i32", 18, V(0), INT(10), INT(20), none);
    bare_go(&b);
    assert_int_equal(get64(&b, 4, 0), 0x10);
    assert_int_equal(get64(&b, 6, 0), 0xf800000000000000);
    assert_int_equal(get64(&b, 8, 0), 0xc000000000000001); // 2^62 + 2^63 + 1
    assert_int_equal(sg_sgpr64(&b.wave, 20), 0);
    assert_int_equal(b.vgpr[10][0], 0xffffffff);
    assert_int_equal(b.vgpr[11][0], 0xfffffff8);
    assert_int_equal(b.vgpr[12][0], 0);
    assert_int_equal(b.vgpr[13][5], 21);
    assert_int_equal(b.vgpr[14][0], 0xfffffff0);
    assert_int_equal(b.vgpr[15][0], 31);
    assert_int_equal(b.vgpr[16][0], 0x80000000);
    assert_int_equal((int)b.vgpr[17][7], -21);
    assert_int_equal(b.vgpr[18][3], 10);
    assert_int_equal(b.vgpr[18][15], 15);
    assert_int_equal(b.vgpr[18][40], 20);
}

static void bytes_can_be_permuted_and_summed(void **state)
{
    (void)state;
    set_all(&b, 1, 0x11223344);
    set_all(&b, 2, 0xaabbccdd);
    set_all(&b, 3, 0x0c070100); // 0, byte 3 of v1, byte 1 and 0 of v2
    set_all(&b, 4, 0x10203040);
    vop3("v_perm_b32", 5, V(1), V(2), V(3), none);
    vop3("v_sad_u8", 6, V(1), V(4), INT(1), none);
    bare_go(&b);
    assert_int_equal(b.vgpr[5][0], 0x0011ccdd);
    assert_int_equal(b.vgpr[6][0], 1 + 2 + 3 + 4 + 1);
}

// SDWA dword: destination select and unused mode, then the sources.
#define SDWA(src0, dst_sel, unused, sel0, sext0, sel1)                                                       \
    ((src0) | (dst_sel) << 8 | (unused) << 11 | (sel0) << 16 | (sext0) << 19 | (unsigned)(sel1) << 24)
#define BYTE(n) (n)
#define WORD(n) (4 + (n))
#define DWORD   6

static void sdwa_selects_parts(void **state)
{
    (void)state;
    set_all(&b, 1, 0x8899aabb);
    set_all(&b, 2, 0x00010002);
    set_all(&b, 3, 0x44444444);
    vop2("v_add_u32", 3, 249, 2); // v3.word1 = v1.byte1 + v2.word1, rest kept
    emit(SDWA(1, WORD(1), 2, BYTE(1), 0, WORD(1)));
    vop1("v_mov_b32", 4, 249); // sign-extended byte 3
    emit(SDWA(1, DWORD, 0, BYTE(3), 1, 0));
    vop1("v_mov_b32", 5, 249); // byte 0 into byte 2, sign above
    emit(SDWA(1, BYTE(2), 1, BYTE(0), 0, 0));
    vopc("v_cmp_eq_u32", 249, 2); // word 1 against 0x00010002's word 0
    emit(2 | WORD(0) << 16 | (unsigned)WORD(0) << 24);
    bare_go(&b);
    assert_int_equal(b.vgpr[3][9], 0x00ab4444);
    assert_int_equal(b.vgpr[4][9], 0xffffff88);
    assert_int_equal(b.vgpr[5][9], 0xffbb0000);
    assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), UINT64_MAX);
}

#define DPP(src0, ctrl, rows, banks, bound)                                                                  \
    ((src0) | (ctrl) << 8 | (bound) << 19 | (banks) << 24 | (unsigned)(rows) << 28)

static void dpp_moves_between_lanes(void **state)
{
    (void)state;
    set_all(&b, 1, 777);
    set_all(&b, 2, 777);
    set_all(&b, 3, 777);
    vop1("v_mov_b32", 1, 250);
    emit(DPP(0, 0x111, 0xf, 0xf, 0)); // row_shr:1
    vop1("v_mov_b32", 2, 250);
    emit(DPP(0, 0x142, 0xa, 0xf, 0)); // row_bcast:15 to rows 1 and 3
    vop1("v_mov_b32", 3, 250);
    emit(DPP(0, 0x118, 0xf, 0xf, 1)); // row_shr:8, zero where there is no source
    vop1("v_mov_b32", 4, 250);
    emit(DPP(0, 0x1b, 0xf, 0xf, 0)); // quad_perm:[3,2,1,0]
    vop1("v_mov_b32", 5, 250);
    emit(DPP(0, 0x140, 0xf, 0xf, 0)); // row_mirror
    vop1("v_mov_b32", 6, 250);
    emit(DPP(0, 0x13c, 0xf, 0xf, 0)); // wave_ror:1
    bare_go(&b);
    for (unsigned i = 0; i < SG_LANES; i++) {
        assert_int_equal(b.vgpr[1][i], i % 16 ? i - 1 : 777);
        assert_int_equal(b.vgpr[2][i], i / 16 % 2 ? i / 16 * 16 - 1 : 777);
        assert_int_equal(b.vgpr[3][i], i % 16 >= 8 ? i - 8 : 0);
        assert_int_equal(b.vgpr[4][i], i ^ 3);
        assert_int_equal(b.vgpr[5][i], i ^ 15);
        assert_int_equal(b.vgpr[6][i], (i + 63) % 64);
    }
}

// The reduction that compilers emit for a wave-wide sum.
static void dpp_reduction_sums_the_wave(void **state)
{
    (void)state;
    static const unsigned shifts[] = {0x111, 0x112, 0x114, 0x118};
    for (unsigned i = 0; i < 4; i++) {
        vop2("v_add_u32", 0, 250, 0);
        emit(DPP(0, shifts[i], 0xf, 0xf, 1));
    }
    vop2("v_add_u32", 0, 250, 0);
    emit(DPP(0, 0x142, 0xa, 0xf, 0));
    vop2("v_add_u32", 0, 250, 0);
    emit(DPP(0, 0x143, 0xc, 0xf, 0));
    bare_go(&b);
    assert_int_equal(b.vgpr[0][63], 63 * 64 / 2);
}

static void relative_addressing_moves_registers(void **state)
{
    (void)state;
    set_all(&b, 10, 42);
    sopk("s_movk_i32", 0, 3);
    sopc("s_set_gpr_idx_on", S(0), 1); // source 0
    vop1("v_mov_b32", 1, V(7));
    sopp("s_set_gpr_idx_off", 0);
    vop1("v_mov_b32", 2, V(7));
    sopc("s_set_gpr_idx_on", S(0), 8); // destination
    vop1("v_mov_b32", 20, INT(9));
    sopp("s_set_gpr_idx_off", 0);
    bare_go(&b);
    assert_int_equal(b.vgpr[1][0], 42);
    assert_int_equal(b.vgpr[2][0], 0);
    assert_int_equal(b.vgpr[23][0], 9);
    assert_int_equal(b.vgpr[20][0], 0);
}

// What moves is in M0[15:12] and whether anything does in MODE: a later write of either counts.
static void relative_addressing_is_in_m0_and_mode(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 8; i++)
        set_all(&b, i, 100 + i);
    sopp("s_set_gpr_idx_mode", 1); // does not turn it on
    vop1("v_mov_b32", 10, V(1));
    sopc("s_set_gpr_idx_on", INT(2), 1);
    sop1("s_set_gpr_idx_idx", 0, INT(3));
    vop1("v_mov_b32", 11, V(1));
    sopk("s_movk_i32", SG_SGPR_M0, 5); // no operand is relative any more
    vop1("v_mov_b32", 12, V(1));
    sopk("s_movk_i32", SG_SGPR_M0, 0x1004);
    vop1("v_mov_b32", 13, V(1));
    sopk("s_getreg_b32", 20, 1 | 27 << 6); // MODE.GPR_IDX_EN
    sopp("s_set_gpr_idx_off", 0);
    sopk("s_getreg_b32", 21, 1 | 27 << 6);
    vop1("v_mov_b32", 14, V(1));
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    assert_int_equal(b.vgpr[10][0], 101);
    assert_int_equal(b.vgpr[11][0], 104);
    assert_int_equal(b.vgpr[12][0], 101);
    assert_int_equal(b.vgpr[13][0], 105);
    assert_int_equal(b.vgpr[14][0], 101);
    assert_int_equal(b.wave.sgpr[20], 1);
    assert_int_equal(b.wave.sgpr[21], 0);
}

static void swap_exchanges_active_lanes(void **state)
{
    (void)state;
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 1ull << 5);
    set_all(&b, 1, 100);
    vop1("v_swap_b32", 1, V(0));
    bare_go(&b);
    assert_int_equal(b.vgpr[1][5], 5);
    assert_int_equal(b.vgpr[0][5], 100);
    assert_int_equal(b.vgpr[1][6], 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_active_lanes_change, set_up),
        cmocka_unit_test_setup(carry_masks_have_a_bit_per_active_lane, set_up),
        cmocka_unit_test_setup(compares_write_masks, set_up),
        cmocka_unit_test_setup(lanes_can_be_read_and_written, set_up),
        cmocka_unit_test_setup(integer_operations, set_up),
        cmocka_unit_test_setup(bytes_can_be_permuted_and_summed, set_up),
        cmocka_unit_test_setup(sdwa_selects_parts, set_up),
        cmocka_unit_test_setup(dpp_moves_between_lanes, set_up),
        cmocka_unit_test_setup(dpp_reduction_sums_the_wave, set_up),
        cmocka_unit_test_setup(relative_addressing_moves_registers, set_up),
        cmocka_unit_test_setup(relative_addressing_is_in_m0_and_mode, set_up),
        cmocka_unit_test_setup(swap_exchanges_active_lanes, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
