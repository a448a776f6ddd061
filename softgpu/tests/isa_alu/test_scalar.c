// SPDX-License-Identifier: MIT
// Scalar ALU: carries, compares, EXEC operations, bit fields, program flow, hardware registers.
#include "softgpu/tests/isa_alu/bare_wave.h"

static struct bare b;

static int set_up(void **state)
{
    (void)state;
    bare_init(&b);
    return 0;
}

static void carry_goes_through_scc(void **state)
{
    (void)state;
    b.wave.sgpr[0] = 0xffffffff;
    b.wave.sgpr[1] = 5;
    b.wave.sgpr[2] = 1;
    b.wave.sgpr[3] = 0xfffffffa;
    sop2("s_add_u32", 4, S(0), S(2));
    sop2("s_addc_u32", 5, S(1), S(3));
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    assert_int_equal(b.wave.sgpr[4], 0);
    assert_int_equal(b.wave.sgpr[5], 0);
    assert_int_equal(b.wave.scc, 1);
    sop2("s_sub_u32", 4, INT(0), INT(1));
    sop2("s_subb_u32", 5, INT(7), INT(3));
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[4], 0xffffffff);
    assert_int_equal(b.wave.sgpr[5], 3);
    assert_int_equal(b.wave.scc, 0);
}

static void signed_overflow_sets_scc(void **state)
{
    (void)state;
    b.wave.sgpr[0] = 0x7fffffff;
    sop2("s_add_i32", 1, S(0), INT(1));
    bare_go(&b);
    assert_int_equal(b.wave.scc, 1);
    sop2("s_sub_i32", 1, S(0), INT(1));
    bare_go(&b);
    assert_int_equal(b.wave.scc, 0);
    sopk("s_addk_i32", 0, -1);
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[0], 0x7ffffffe);
    assert_int_equal(b.wave.scc, 0);
}

static void compares_respect_sign(void **state)
{
    (void)state;
    b.wave.sgpr[0] = 0xffffffff;
    sopc("s_cmp_lt_i32", S(0), INT(0));
    bare_go(&b);
    assert_int_equal(b.wave.scc, 1);
    sopc("s_cmp_lt_u32", S(0), INT(0));
    bare_go(&b);
    assert_int_equal(b.wave.scc, 0);
    sopk("s_cmpk_eq_i32", 0, -1);
    bare_go(&b);
    assert_int_equal(b.wave.scc, 1);
    sopk("s_cmpk_eq_u32", 0, -1); // the constant is 0x0000ffff
    bare_go(&b);
    assert_int_equal(b.wave.scc, 0);
}

static void saveexec_saves_then_combines(void **state)
{
    (void)state;
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 0xff00ff00ff00ff00);
    sg_set_sgpr64(&b.wave, SG_SGPR_VCC, 0x00000000ffffffff);
    sop1("s_and_saveexec_b64", 8, VCC);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 8), 0xff00ff00ff00ff00);
    assert_int_equal(sg_exec(&b.wave), 0x00000000ff00ff00);
    assert_int_equal(b.wave.scc, 1);
    sop2("s_xor_b64", EXEC, EXEC, S(8));
    sop1("s_andn2_saveexec_b64", 8, S(8));
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 8), 0xff00ff0000000000);
    assert_int_equal(sg_exec(&b.wave), 0x00000000ff00ff00);
}

static void bit_operations(void **state)
{
    (void)state;
    b.wave.sgpr[0] = 0x00012300;
    b.wave.sgpr[1] = 0x000c0008; // offset 8, width 12
    sop2("s_bfe_u32", 2, S(0), S(1));
    sop1("s_ff1_i32_b32", 3, S(0));
    sop1("s_flbit_i32_b32", 4, S(0));
    sop1("s_brev_b32", 5, S(0));
    sop1("s_bcnt1_i32_b32", 6, S(0));
    sop1("s_flbit_i32", 7, INT(-1));
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[2], 0x123);
    assert_int_equal(b.wave.sgpr[3], 8);
    assert_int_equal(b.wave.sgpr[4], 15);
    assert_int_equal(b.wave.sgpr[5], 0x00c48000);
    assert_int_equal(b.wave.sgpr[6], 4);
    assert_int_equal(b.wave.sgpr[7], 0xffffffff);
    b.wave.sgpr[0] = 0x800;
    b.wave.sgpr[1] = 0x000c0000;
    sop2("s_bfe_i32", 2, S(0), S(1));
    sop2("s_bfm_b32", 3, INT(8), INT(4));
    sop2("s_lshl3_add_u32", 4, INT(5), INT(2));
    sop2("s_mul_hi_i32", 5, INT(-1), INT(5));
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[2], 0xfffff800);
    assert_int_equal(b.wave.sgpr[3], 0xff0);
    assert_int_equal(b.wave.sgpr[4], 42);
    assert_int_equal(b.wave.sgpr[5], 0xffffffff);
}

static void constants_have_the_width_of_the_operand(void **state)
{
    (void)state;
    sop1("s_mov_b64", 0, ONE);
    sop1("s_mov_b64", 2, INT(-4));
    sop1("s_mov_b64", 4, LITERAL);
    emit(0x80000001);
    sop1("s_mov_b32", 6, ONE);
    sop2("s_ashr_i64", 8, LITERAL, INT(4));
    emit(0x80000000);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 0), 0x3ff0000000000000);
    assert_int_equal(sg_sgpr64(&b.wave, 2), 0xfffffffffffffffc);
    assert_int_equal(sg_sgpr64(&b.wave, 4), 0x80000001);
    assert_int_equal(b.wave.sgpr[6], 0x3f800000);
    assert_int_equal(sg_sgpr64(&b.wave, 8), 0xfffffffff8000000);
}

static void branches_and_calls_move_the_pc(void **state)
{
    (void)state;
    sopc("s_cmp_eq_i32", INT(1), INT(1));
    sopp("s_cbranch_scc1", 1);
    sopk("s_movk_i32", 0, 1); // jumped over
    sopk("s_movk_i32", 1, 2);
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 0);
    sopp("s_cbranch_execnz", 1);
    sopk("s_movk_i32", 2, 3);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    assert_int_equal(b.wave.sgpr[0], 0);
    assert_int_equal(b.wave.sgpr[1], 2);
    assert_int_equal(b.wave.sgpr[2], 3);
    sop1("s_getpc_b64", 4, 0);
    sop2("s_add_u32", 4, S(4), INT(12));
    sop1("s_swappc_b64", 6, S(4));
    sopk("s_movk_i32", 3, 9); // jumped over
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[3], 0);
    assert_int_equal(sg_sgpr64(&b.wave, 6) + 4, sg_sgpr64(&b.wave, 4));
}

static void steps_reach_the_caller(void **state)
{
    (void)state;
    sopp("s_barrier", 0);
    assert_int_equal(bare_go(&b), SG_STEP_BARRIER);
    sopp("s_sleep", 1);
    assert_int_equal(bare_go(&b), SG_STEP_YIELD);
    sopp("s_endpgm", 0);
    assert_int_equal(bare_go(&b), SG_STEP_END);
    assert_true(b.wave.ended);
    sopp("s_trap", 2);
    assert_int_equal(bare_go(&b), SG_STEP_FAULT);
    assert_int_equal(b.fault.kind, SG_FAULT_TRAP);
    assert_non_null(strstr(b.fault.text, "trap 2"));
}

static void aperture_bases_come_from_the_launch(void **state)
{
    (void)state;
    b.launch.shared_aperture_hi = 0x10000;
    b.launch.private_aperture_hi = 0x20000;
    sopk("s_getreg_b32", 0, 15 | 16 << 6 | 15 << 11); // shared half
    sopk("s_getreg_b32", 1, 15 | 15 << 11);           // private half
    sop1("s_mov_b64", 2, 235);                        // src_shared_base
    bare_go(&b);
    assert_int_equal(b.wave.sgpr[0] << 16, 0x10000);
    assert_int_equal(b.wave.sgpr[1] << 16, 0x20000);
    assert_int_equal(sg_sgpr64(&b.wave, 2), 0x1000000000000);
}

static void setreg_changes_only_its_field(void **state)
{
    (void)state;
    b.wave.mode = MODE_HIP;
    sopk("s_setreg_imm32_b32", 0, 1 | 4 << 6 | 1 << 11); // MODE, f32 denormals
    emit(0);
    bare_go(&b);
    assert_int_equal(b.wave.mode, MODE_HIP & ~0x30u);
}

static uint32_t interrupted_with;

static void on_interrupt(void *ctx, uint32_t id)
{
    (void)ctx;
    interrupted_with = id;
}

static void message_interrupt_carries_m0(void **state)
{
    (void)state;
    b.launch.interrupt = on_interrupt;
    sopk("s_movk_i32", SG_SGPR_M0, 77);
    sopp("s_sendmsg", 1);
    bare_go(&b);
    assert_int_equal(interrupted_with, 77);
}

static void other_messages_are_faults(void **state)
{
    (void)state;
    sopp("s_sendmsg", 10); // MSG_GET_DOORBELL
    assert_int_equal(bare_go(&b), SG_STEP_FAULT);
    assert_int_equal(b.fault.kind, SG_FAULT_ILLEGAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(carry_goes_through_scc, set_up),
        cmocka_unit_test_setup(signed_overflow_sets_scc, set_up),
        cmocka_unit_test_setup(compares_respect_sign, set_up),
        cmocka_unit_test_setup(saveexec_saves_then_combines, set_up),
        cmocka_unit_test_setup(bit_operations, set_up),
        cmocka_unit_test_setup(constants_have_the_width_of_the_operand, set_up),
        cmocka_unit_test_setup(branches_and_calls_move_the_pc, set_up),
        cmocka_unit_test_setup(steps_reach_the_caller, set_up),
        cmocka_unit_test_setup(aperture_bases_come_from_the_launch, set_up),
        cmocka_unit_test_setup(setreg_changes_only_its_field, set_up),
        cmocka_unit_test_setup(message_interrupt_carries_m0, set_up),
        cmocka_unit_test_setup(other_messages_are_faults, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
