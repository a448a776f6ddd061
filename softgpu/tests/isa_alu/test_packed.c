// SPDX-License-Identifier: MIT
// f16, packed, mixed-precision and dot-product operations, and AGPR moves.
#include "softgpu/isa/fp.h"
#include "softgpu/tests/isa_alu/bare_wave.h"

static struct bare b;
static const struct vop3p_mods plain = {.op_sel_hi = 7};

static int set_up(void **state)
{
    (void)state;
    bare_init(&b);
    return 0;
}

static void packed_f16(void **state)
{
    (void)state;
    set_all(&b, 0, 0x40003c00); // 2, 1
    set_all(&b, 1, 0x44004200); // 4, 3
    vop3p("v_pk_add_f16", 2, V(0), V(1), 0, plain);
    vop3p("v_pk_fma_f16", 3, V(0), V(1), V(0), plain);
    vop3p("v_pk_mul_f16", 4, V(0), V(1), 0, (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 2, .neg = 2});
    vop3p("v_pk_add_f16", 5, V(0), ONE, 0, (struct vop3p_mods){.op_sel_hi = 1}); // constant in both
    vop3p("v_pk_max_f16", 6, V(0), V(1), 0, (struct vop3p_mods){.op_sel_hi = 3, .clamp = 1});
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], 0x46004400);
    assert_int_equal(b.vgpr[3][0], 0x49004400); // 2*4+2, 1*3+1
    assert_int_equal(b.vgpr[4][0], 0x4400c600); // low: 2 * -3, high: 1 * 4
    assert_int_equal(b.vgpr[5][0], 0x42004000);
    assert_int_equal(b.vgpr[6][0], 0x3c003c00);
}

static void packed_integers(void **state)
{
    (void)state;
    set_all(&b, 0, 0x7fff0001);
    set_all(&b, 1, 0x00010002);
    vop3p("v_pk_add_u16", 2, V(0), V(1), 0, plain);
    vop3p("v_pk_add_i16", 3, V(0), V(1), 0, (struct vop3p_mods){.op_sel_hi = 3, .clamp = 1});
    vop3p("v_pk_lshlrev_b16", 4, V(1), V(1), 0, plain);
    vop3p("v_pk_mad_u16", 5, V(1), V(1), V(1), plain);
    vop3p("v_pk_min_i16", 6, V(0), INT(-1), 0, (struct vop3p_mods){.op_sel_hi = 1});
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], 0x80000003);
    assert_int_equal(b.vgpr[3][0], 0x7fff0003);
    assert_int_equal(b.vgpr[4][0], 0x00020008);
    assert_int_equal(b.vgpr[5][0], 0x00020006);
    assert_int_equal(b.vgpr[6][0], 0xffffffff);
}

static void packed_f32(void **state)
{
    (void)state;
    set_all(&b, 0, sg_bits32(1.0f));
    set_all(&b, 1, sg_bits32(2.0f));
    set_all(&b, 2, sg_bits32(3.0f));
    set_all(&b, 3, sg_bits32(4.0f));
    vop3p("v_pk_fma_f32", 4, V(0), V(2), V(0), plain);
    vop3p("v_pk_mul_f32", 6, V(0), V(2), 0, (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 2, .neg_hi = 1});
    vop3p("v_pk_mov_b32", 8, V(0), V(2), 0, (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 7});
    vop3p("v_pk_add_f32", 10, V(0), ONE, 0, (struct vop3p_mods){.op_sel_hi = 1});
    bare_go(&b);
    assert_float_equal(sg_f32(b.vgpr[4][0]), 4.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[5][0]), 10.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[6][0]), 6.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[7][0]), -4.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[8][0]), 2.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[9][0]), 3.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[10][0]), 2.0f, 0);
    assert_float_equal(sg_f32(b.vgpr[11][0]), 3.0f, 0);
}

static void mixed_precision(void **state)
{
    (void)state;
    set_all(&b, 0, 0x40003c00); // f16 2, 1
    set_all(&b, 1, sg_bits32(3.0f));
    set_all(&b, 2, 0xaaaabbbb);
    set_all(&b, 3, 0xaaaabbbb);
    // high half of v0 as f16, v1 as f32 negated, absolute constant
    vop3p("v_fma_mix_f32", 4, V(0), V(1), ONE, (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 1, .neg = 2});
    vop3p("v_fma_mixlo_f16", 2, V(0), V(1), ONE, (struct vop3p_mods){.op_sel_hi = 1});
    vop3p("v_fma_mixhi_f16", 3, V(0), V(1), ONE, (struct vop3p_mods){.op_sel_hi = 1});
    bare_go(&b);
    assert_float_equal(sg_f32(b.vgpr[4][0]), -5.0f, 0);
    assert_int_equal(b.vgpr[2][0], 0xaaaa4400);
    assert_int_equal(b.vgpr[3][0], 0x4400bbbb);
}

static void half_operations_write_as_gfx9_does(void **state)
{
    (void)state;
    set_all(&b, 0, 0xffff3c00);
    set_all(&b, 1, 0x12345678);
    set_all(&b, 2, 0x12345678);
    vop2("v_add_f16", 1, V(0), 0);                                           // zeroes the upper half
    vop3("v_fma_f16", 2, V(0), V(0), V(0), (struct vop3_mods){.op_sel = 8}); // writes the upper half alone
    vop3("v_mad_u16", 3, V(0), INT(2), INT(1), (struct vop3_mods){.op_sel = 1}); // upper half as source
    bare_go(&b);
    assert_int_equal(b.vgpr[1][0], 0x4000);
    assert_int_equal(b.vgpr[2][0], 0x40005678);
    assert_int_equal(b.vgpr[3][0], 0xffff);
}

static void dot_products(void **state)
{
    (void)state;
    set_all(&b, 0, 0xff020304);
    set_all(&b, 1, 0x01010101);
    vop3p("v_dot4_i32_i8", 2, V(0), V(1), INT(10), plain);
    vop3p("v_dot4_u32_u8", 3, V(0), V(1), INT(10), plain);
    vop3p("v_dot8_u32_u4", 4, V(0), V(1), INT(0), plain);
    vop3p("v_dot2_i32_i16", 5, V(0), INT(1), INT(0), plain);
    set_all(&b, 6, 0x40003c00);
    set_all(&b, 7, sg_bits32(0.5f));
    vop3p("v_dot2_f32_f16", 7, V(6), V(6), V(7), plain);
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], -1 + 2 + 3 + 4 + 10);
    assert_int_equal(b.vgpr[3][0], 255 + 2 + 3 + 4 + 10);
    assert_int_equal(b.vgpr[4][0], 15 + 2 + 3 + 4);
    assert_int_equal(b.vgpr[5][0], 0x0304);
    assert_float_equal(sg_f32(b.vgpr[7][0]), 5.5f, 0);
}

// op_sel, op_sel_hi and neg as clang puts them on dot products of swapped, repeated and negated vectors.
static void dot_products_pick_and_negate(void **state)
{
    (void)state;
    set_all(&b, 0, 0x40003c00); // 2, 1
    set_all(&b, 1, 0x44004200); // 4, 3
    set_all(&b, 2, sg_bits32(0.5f));
    vop3p("v_dot2_f32_f16", 3, V(0), V(1), V(2), (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 6});
    vop3p("v_dot2_f32_f16", 4, V(0), V(1), V(2), (struct vop3p_mods){.op_sel_hi = 6});
    vop3p("v_dot2_f32_f16", 5, V(0), V(1), V(2), (struct vop3p_mods){.op_sel_hi = 7, .neg = 5, .neg_hi = 4});
    vop3p("v_dot2_f32_f16", 6, V(0), ONE, V(2), (struct vop3p_mods){.op_sel_hi = 5});
    set_all(&b, 7, 0x0003fffe); // 3, -2
    set_all(&b, 8, 0x0007000b); // 7, 11
    vop3p("v_dot2_i32_i16", 9, V(7), V(8), INT(1), (struct vop3p_mods){.op_sel = 1, .op_sel_hi = 6});
    vop3p("v_dot2_u32_u16", 10, V(8), V(8), INT(1), (struct vop3p_mods){.op_sel_hi = 6});
    bare_go(&b);
    assert_float_equal(sg_f32(b.vgpr[3][0]), 2 * 3 + 1 * 4 + 0.5f, 0);
    assert_float_equal(sg_f32(b.vgpr[4][0]), 1 * 3 + 1 * 4 + 0.5f, 0);
    assert_float_equal(sg_f32(b.vgpr[5][0]), -1 * 3 + 2 * 4 - 0.5f, 0);
    assert_float_equal(sg_f32(b.vgpr[6][0]), 1 + 2 + 0.5f, 0);
    assert_int_equal(b.vgpr[9][0], 3 * 11 + -2 * 7 + 1);
    assert_int_equal(b.vgpr[10][0], 11 * 11 + 11 * 7 + 1);
}

static void float_dot_products_have_no_denormals(void **state)
{
    (void)state;
    set_all(&b, 0, 0x000103ff); // two denormals
    set_all(&b, 1, 0x3c003c00);
    set_all(&b, 2, 0x00000001); // denormal f32
    set_all(&b, 3, 0x0c000c00); // 2^-12
    set_all(&b, 4, 0x80800000); // -2^-126
    vop3p("v_dot2_f32_f16", 5, V(0), V(1), INT(0), plain);
    vop3p("v_dot2_f32_f16", 6, V(1), V(0), V(2), plain);
    vop3p("v_dot2_f32_f16", 7, V(3), V(3), V(4), plain);
    b.wave.mode |= 1; // and no rounding but to nearest
    vop3p("v_dot2_f32_f16", 8, V(1), V(3), ONE, plain);
    bare_go(&b);
    assert_int_equal(b.vgpr[5][0], 0);
    assert_int_equal(b.vgpr[6][0], 0);
    assert_float_equal(sg_f32(b.vgpr[7][0]), 0x1p-23f, 0);
    assert_float_equal(sg_f32(b.vgpr[8][0]), 1 + 0x1p-11f, 0);
}

static void mixed_precision_follows_mode(void **state)
{
    (void)state;
    set_all(&b, 0, sg_bits32(1.0f));
    set_all(&b, 1, sg_bits32(0x1p-40f));
    set_all(&b, 2, 0x00000001); // the smallest denormal, of f32 and of f16
    b.wave.mode |= 1;           // up
    vop3p("v_fma_mix_f32", 3, V(0), V(0), V(1), (struct vop3p_mods){0});
    bare_go(&b);
    assert_int_equal(b.vgpr[3][0], 0x3f800001);
    b.wave.mode = MODE_HIP & ~SG_MODE_DENORM32_IN;
    vop3p("v_fma_mix_f32", 4, V(2), V(0), INT(0), (struct vop3p_mods){0});
    vop3p("v_fma_mix_f32", 5, V(2), V(0), INT(0), (struct vop3p_mods){.op_sel_hi = 1});
    vop3p("v_pk_add_f16", 6, V(2), INT(0), 0, plain);
    bare_go(&b);
    assert_int_equal(b.vgpr[4][0], 0);
    assert_float_equal(sg_f32(b.vgpr[5][0]), 0x1p-24f, 0);
    assert_int_equal(b.vgpr[6][0], 1);
    b.wave.mode = MODE_HIP & ~SG_MODE_DENORM64_IN;
    vop3p("v_fma_mix_f32", 5, V(2), V(0), INT(0), (struct vop3p_mods){.op_sel_hi = 1});
    vop3p("v_pk_add_f16", 6, V(2), INT(0), 0, plain);
    bare_go(&b);
    set_all(&b, 7, 0x3c003c00);
    set_all(&b, 8, 0x00010001);
    vop2("v_pk_fmac_f16", 8, V(7), 2);
    bare_go(&b);
    assert_int_equal(b.vgpr[5][0], 0);
    assert_int_equal(b.vgpr[6][0], 0);
    assert_int_equal(b.vgpr[8][0], 0);
    b.wave.mode = MODE_HIP & ~SG_MODE_DENORM64_OUT;
    set_all(&b, 8, 0x04000001);
    vop2("v_pk_fmac_f16", 8, V(7), 2);
    bare_go(&b);
    assert_int_equal(b.vgpr[8][0], 0x04000000);
}

static void accumulation_registers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SG_LANES; i++)
        b.vgpr[1][i] = i + 5;
    emit(0xd3d94002); // v_accvgpr_write_b32 a2, v1
    emit(0x18000101);
    emit(0x7e06a502); // v_accvgpr_mov_b32 a3, v2 as encoded: a3, a2
    emit(0xd3d84004); // v_accvgpr_read_b32 v4, a3
    emit(0x18000103);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    assert_int_equal(b.vgpr[258][7], 12);
    assert_int_equal(b.vgpr[4][63], 68);
    assert_int_equal(b.vgpr[2][0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(packed_f16, set_up),
        cmocka_unit_test_setup(packed_integers, set_up),
        cmocka_unit_test_setup(packed_f32, set_up),
        cmocka_unit_test_setup(mixed_precision, set_up),
        cmocka_unit_test_setup(half_operations_write_as_gfx9_does, set_up),
        cmocka_unit_test_setup(dot_products, set_up),
        cmocka_unit_test_setup(dot_products_pick_and_negate, set_up),
        cmocka_unit_test_setup(float_dot_products_have_no_denormals, set_up),
        cmocka_unit_test_setup(mixed_precision_follows_mode, set_up),
        cmocka_unit_test_setup(accumulation_registers, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
