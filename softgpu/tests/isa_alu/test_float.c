// SPDX-License-Identifier: MIT
// Floating point: conversions at their edges, f16 against an exhaustive reference, fused multiply-add with a
// single rounding, minimum and maximum with NaNs, modifiers, MODE.
#include "softgpu/isa/fp.h"
#include "softgpu/tests/isa_alu/bare_wave.h"

#include <math.h>

static struct bare b;
static const struct vop3_mods none;
static uint64_t seed = 0x2545f4914f6cdd1dull;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int set_up(void **state)
{
    (void)state;
    bare_init(&b);
    return 0;
}

static void set_f32(unsigned reg, float f)
{
    set_all(&b, reg, sg_bits32(f));
}

static void set_f64(unsigned reg, double d)
{
    set_all64(&b, reg, sg_bits64(d));
}

static float f32_of(unsigned reg)
{
    return sg_f32(b.vgpr[reg][0]);
}

static void conversions_saturate(void **state)
{
    (void)state;
    static const struct {
        float in;
        uint32_t i32, u32;
    } cases[] = {
        {1.9f, 1, 1},
        {-1.9f, (uint32_t)-1, 0},
        {3e9f, 0x7fffffff, 3000000000u},
        {-3e9f, 0x80000000, 0},
        {5e9f, 0x7fffffff, 0xffffffff},
        {INFINITY, 0x7fffffff, 0xffffffff},
        {-INFINITY, 0x80000000, 0},
        {NAN, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        set_f32(0, cases[i].in);
        set_f64(2, cases[i].in);
        vop1("v_cvt_i32_f32", 4, V(0));
        vop1("v_cvt_u32_f32", 5, V(0));
        vop1("v_cvt_i32_f64", 6, V(2));
        vop1("v_cvt_u32_f64", 7, V(2));
        bare_go(&b);
        assert_int_equal(b.vgpr[4][0], cases[i].i32);
        assert_int_equal(b.vgpr[5][0], cases[i].u32);
        assert_int_equal(b.vgpr[6][0], cases[i].i32);
        assert_int_equal(b.vgpr[7][0], cases[i].u32);
    }
    set_f64(2, -2147483648.9);
    vop1("v_cvt_i32_f64", 6, V(2));
    set_all(&b, 8, 0x80c0a0ff);
    vop1("v_cvt_f32_ubyte2", 9, V(8));
    vop1("v_cvt_f32_u32", 10, INT(-1));
    vop1("v_cvt_f32_i32", 11, INT(-1));
    bare_go(&b);
    assert_int_equal(b.vgpr[6][0], 0x80000000);
    assert_float_equal(f32_of(9), 192.0f, 0);
    assert_float_equal(f32_of(10), 4294967296.0f, 0);
    assert_float_equal(f32_of(11), -1.0f, 0);
}

// Value of an f16 by definition.
static double f16_value(uint32_t h)
{
    const int e = h >> 10 & 31, m = h & 0x3ff;
    const double magnitude = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -magnitude : magnitude;
}

static void f16_widens_exactly(void **state)
{
    (void)state;
    for (uint32_t base = 0; base < 65536; base += SG_LANES) {
        for (unsigned i = 0; i < SG_LANES; i++)
            b.vgpr[0][i] = base + i;
        vop1("v_cvt_f32_f16", 1, V(0));
        vop1("v_cvt_f16_f32", 2, V(1));
        bare_go(&b);
        for (unsigned i = 0; i < SG_LANES; i++) {
            const double want = f16_value(base + i), got = sg_f32(b.vgpr[1][i]);
            assert_true(want != want ? got != got : want == got && signbit(want) == signbit(got));
            if (want == want)
                assert_int_equal(b.vgpr[2][i], base + i);
        }
    }
}

// Nearest f16 by search among the two candidates around the value; ties to even.
static void f32_narrows_to_the_nearest_f16(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        for (unsigned i = 0; i < SG_LANES; i++)
            b.vgpr[0][i] = (uint32_t)((random64() % 48 + 96) << 23 | (random64() & 0x807fffff));
        vop1("v_cvt_f16_f32", 1, V(0));
        bare_go(&b);
        for (unsigned i = 0; i < SG_LANES; i++) {
            const double x = fabs((double)sg_f32(b.vgpr[0][i]));
            const uint32_t h = b.vgpr[1][i] & 0x7fff;
            assert_int_equal(b.vgpr[1][i] >> 15, b.vgpr[0][i] >> 31);
            if (h == 0x7c00) {
                assert_true(x >= 65520.0);
                continue;
            }
            const double here = fabs(f16_value(h) - x);
            const double above = fabs((h == 0x7bff ? 65536.0 : f16_value(h + 1)) - x);
            const double below = h ? fabs(f16_value(h - 1) - x) : INFINITY;
            assert_true(here <= above && here <= below);
            if (here == above || here == below)
                assert_false(h & 1);
        }
    }
}

static void narrowing_follows_the_rounding_mode(void **state)
{
    (void)state;
    const double above_one = 1.0 + 0x1p-20;
    assert_int_equal(sg_f16_from_f64(above_one, 0), 0x3c00);
    assert_int_equal(sg_f16_from_f64(above_one, 1), 0x3c01);
    assert_int_equal(sg_f16_from_f64(-above_one, 2), 0xbc01);
    assert_int_equal(sg_f16_from_f64(-above_one, 3), 0xbc00);
    assert_int_equal(sg_f16_from_f64(1e6, 3), 0x7bff);
    assert_int_equal(sg_f16_from_f64(0x1p-30, 1), 0x0001);
    for (unsigned i = 0; i < 200000; i++) {
        const float f = sg_f32((uint32_t)random64());
        assert_true(f != f || sg_f16_from_f64(f, 0) == sg_f16_from_f32_rne(f));
    }
}

static void fma_rounds_once(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        for (unsigned i = 0; i < SG_LANES; i++) {
            const uint32_t e = (uint32_t)(random64() % 254);
            b.vgpr[0][i] = (uint32_t)random64();
            b.vgpr[1][i] = (uint32_t)((254 - e) << 23 | (random64() & 0x807fffff));
            b.vgpr[2][i] =
                round & 1 ? (uint32_t)random64() : (b.vgpr[0][i] ^ (uint32_t)(random64() & 0x81ffffff));
        }
        vop3("v_fma_f32", 3, V(0), V(1), V(2), none);
        bare_go(&b);
        for (unsigned i = 0; i < SG_LANES; i++) {
            const float want = fmaf(sg_f32(b.vgpr[0][i]), sg_f32(b.vgpr[1][i]), sg_f32(b.vgpr[2][i]));
            const float got = sg_f32(b.vgpr[3][i]);
            if (want != want ? got == got : sg_bits32(want) != b.vgpr[3][i])
                fail_msg("fma(%a, %a, %a) = %a, not %a", sg_f32(b.vgpr[0][i]), sg_f32(b.vgpr[1][i]),
                         sg_f32(b.vgpr[2][i]), want, got);
        }
    }
}

static void minimum_ignores_nan(void **state)
{
    (void)state;
    set_f32(0, NAN);
    set_f32(1, 2.0f);
    set_f32(2, -0.0f);
    set_f32(3, 0.0f);
    set_all(&b, 4, 0x7f800001); // signalling NaN
    vop2("v_min_f32", 5, V(0), 1);
    vop2("v_max_f32", 6, V(1), 0);
    vop2("v_min_f32", 7, V(3), 2);
    vop2("v_max_f32", 8, V(2), 3);
    vop2("v_max_f32", 9, V(4), 1);
    vop3("v_med3_f32", 10, V(1), INT(0), ONE, none);
    bare_go(&b);
    assert_float_equal(f32_of(5), 2.0f, 0);
    assert_float_equal(f32_of(6), 2.0f, 0);
    assert_int_equal(b.vgpr[7][0], 0x80000000);
    assert_int_equal(b.vgpr[8][0], 0);
    assert_int_equal(b.vgpr[9][0], 0x7fc00001);
    assert_float_equal(f32_of(10), 1.0f, 0);
    b.wave.mode &= ~SG_MODE_IEEE;
    vop2("v_max_f32", 9, V(4), 1);
    bare_go(&b);
    assert_float_equal(f32_of(9), 2.0f, 0);
}

static void modifiers_apply(void **state)
{
    (void)state;
    set_f32(0, -3.0f);
    set_f32(1, NAN);
    vop3("v_add_f32", 2, V(0), ONE, 0, (struct vop3_mods){.abs = 1});
    vop3("v_add_f32", 3, V(0), ONE, 0, (struct vop3_mods){.abs = 1, .neg = 1});
    vop3("v_add_f32", 5, V(0), ONE, 0, (struct vop3_mods){.clamp = 1, .neg = 1});
    vop3("v_add_f32", 6, V(1), ONE, 0, (struct vop3_mods){.clamp = 1});
    bare_go(&b);
    assert_float_equal(f32_of(2), 4.0f, 0);
    assert_float_equal(f32_of(3), -2.0f, 0);
    assert_float_equal(f32_of(5), 1.0f, 0);
    assert_float_equal(f32_of(6), 0.0f, 0);
}

// Only without IEEE mode and without output denormals; -0 becomes +0 then.
static void output_scaling_depends_on_mode(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode;
        bool scaled32, scaled16;
    } cases[] = {
        {MODE_HIP, false, false},
        {MODE_HIP & ~SG_MODE_IEEE, false, false},
        {MODE_HIP & ~SG_MODE_DENORM32_OUT, false, false},
        {MODE_HIP & ~(SG_MODE_IEEE | SG_MODE_DENORM32_OUT), true, false},
        {MODE_HIP & ~(SG_MODE_IEEE | SG_MODE_DENORM64_OUT), false, true},
    };
    set_f32(0, -3.0f);
    set_f32(1, -0.0f);
    set_f64(2, -3.0);
    set_all(&b, 4, 0xc200); // -3
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        b.wave.mode = cases[i].mode;
        vop3("v_mul_f32", 5, V(0), ONE, 0, (struct vop3_mods){.omod = 2});
        vop3("v_mul_f32", 6, V(1), ONE, 0, (struct vop3_mods){.omod = 3});
        vop3("v_mul_f64", 8, V(2), ONE, 0, (struct vop3_mods){.omod = 1});
        vop3("v_mul_f16", 10, V(4), ONE, 0, (struct vop3_mods){.omod = 3});
        bare_go(&b);
        assert_float_equal(f32_of(5), cases[i].scaled32 ? -12.0f : -3.0f, 0);
        assert_int_equal(b.vgpr[6][0], cases[i].scaled32 ? 0 : 0x80000000);
        assert_true(sg_f64(get64(&b, 8, 0)) == (cases[i].scaled16 ? -6.0 : -3.0));
        assert_int_equal(b.vgpr[10][0], cases[i].scaled16 ? 0xbe00 : 0xc200);
    }
}

// Choosing and classifying are no arithmetic: a denormal stays one where MODE flushes operands.
static void denormals_are_seen_and_moved(void **state)
{
    (void)state;
    b.wave.mode = MODE_HIP & ~0xf0u;
    set_all(&b, 0, 0x00000001);
    set_all64(&b, 2, 1);
    set_all(&b, 4, 0x80); // positive denormal
    vopc("v_cmp_class_f32", V(0), 4);
    sop1("s_mov_b64", 10, VCC);
    vopc("v_cmp_class_f64", V(2), 4);
    sop1("s_mov_b64", 12, VCC);
    vopc("v_cmp_class_f16", V(0), 4);
    vop3("v_cndmask_b32", 5, V(0), V(0), VCC, (struct vop3_mods){.neg = 2});
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 10), UINT64_MAX);
    assert_int_equal(sg_sgpr64(&b.wave, 12), UINT64_MAX);
    assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), UINT64_MAX);
    assert_int_equal(b.vgpr[5][0], 0x80000001);
}

static void mode_flushes_denormals_and_rounds(void **state)
{
    (void)state;
    set_all(&b, 0, 0x00400000);
    vop2("v_add_f32", 1, V(0), 0);
    bare_go(&b);
    assert_int_equal(b.vgpr[1][0], 0x00800000);
    b.wave.mode &= ~(SG_MODE_DENORM32_IN | SG_MODE_DENORM32_OUT);
    vop2("v_add_f32", 1, V(0), 0);
    bare_go(&b);
    assert_int_equal(b.vgpr[1][0], 0);
    set_f32(0, 1.0f);
    set_f32(1, 0x1p-40f);
    b.wave.mode |= 1; // up
    vop2("v_add_f32", 2, V(0), 1);
    vop3("v_fma_f32", 3, V(0), V(0), V(1), none);
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], 0x3f800001);
    assert_int_equal(b.vgpr[3][0], 0x3f800001);
    b.wave.mode = MODE_HIP;
    vop2("v_add_f32", 2, V(0), 1);
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], 0x3f800000);
}

static void classes_and_parts(void **state)
{
    (void)state;
    static const uint32_t values[] = {0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001,
                                      0x80000000, 0x00000000, 0x00000001, 0x3f800000, 0x7f800000};
    for (unsigned i = 0; i < 10; i++) {
        set_all(&b, 0, values[i]);
        set_all(&b, 1, 1u << i);
        vopc("v_cmp_class_f32", V(0), 1);
        bare_go(&b);
        assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), UINT64_MAX);
        set_all(&b, 1, 0x3ff & ~(1u << i));
        vopc("v_cmp_class_f32", V(0), 1);
        bare_go(&b);
        assert_int_equal(sg_sgpr64(&b.wave, SG_SGPR_VCC), 0);
    }
    set_f64(0, 40.0);
    vop1("v_frexp_exp_i32_f64", 2, V(0));
    vop1("v_frexp_mant_f64", 4, V(0));
    vop3("v_ldexp_f64", 6, V(4), INT(3), 0, none);
    vop1("v_rndne_f64", 8, V(6));
    bare_go(&b);
    assert_int_equal(b.vgpr[2][0], 6);
    assert_true(sg_f64(get64(&b, 4, 0)) == 0.625);
    assert_true(sg_f64(get64(&b, 6, 0)) == 5.0);
    assert_true(sg_f64(get64(&b, 8, 0)) == 5.0);
}

static void unordered_compares(void **state)
{
    (void)state;
    set_f32(0, NAN);
    set_f32(1, 1.0f);
    vop3("v_cmp_lt_f32", 10, V(0), V(1), 0, none);
    vop3("v_cmp_nge_f32", 12, V(0), V(1), 0, none);
    vop3("v_cmp_u_f32", 14, V(0), V(1), 0, none);
    vop3("v_cmp_neq_f32", 16, V(1), V(1), 0, none);
    bare_go(&b);
    assert_int_equal(sg_sgpr64(&b.wave, 10), 0);
    assert_int_equal(sg_sgpr64(&b.wave, 12), UINT64_MAX);
    assert_int_equal(sg_sgpr64(&b.wave, 14), UINT64_MAX);
    assert_int_equal(sg_sgpr64(&b.wave, 16), 0);
}

static void transcendentals_are_close(void **state)
{
    (void)state;
    set_f32(0, 0.125f);
    vop1("v_sin_f32", 1, V(0));
    vop1("v_cos_f32", 2, V(0));
    vop1("v_exp_f32", 3, INT(0));
    vop1("v_log_f32", 4, V(0));
    vop1("v_rsq_f32", 5, V(0));
    vop1("v_fract_f32", 6, 241); // -0.5
    bare_go(&b);
    assert_float_equal(f32_of(1), 0.70710678f, 1e-6);
    assert_float_equal(f32_of(2), 0.70710678f, 1e-6);
    assert_float_equal(f32_of(3), 1.0f, 0);
    assert_float_equal(f32_of(4), -3.0f, 0);
    assert_float_equal(f32_of(5), 2.8284271f, 1e-6);
    assert_float_equal(f32_of(6), 0.5f, 0);
}

// The first segment of 2/pi times pi/2 is close to one; the next continues where it ends.
static void trig_preop_gives_two_over_pi(void **state)
{
    (void)state;
    set_f64(0, 1.0);
    vop3("v_trig_preop_f64", 2, V(0), INT(0), 0, none);
    vop3("v_trig_preop_f64", 4, V(0), INT(1), 0, none);
    bare_go(&b);
    const double first = sg_f64(get64(&b, 2, 0)), second = sg_f64(get64(&b, 4, 0));
    assert_true(fabs(first - M_2_PI) <= 0x1p-53);
    assert_true(second >= 0 && second < 0x1p-53);
    const long double sum = (long double)first + second;
    assert_true(fabsl(sum - 0.636619772367581343075535L) < 1e-18L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(conversions_saturate, set_up),
        cmocka_unit_test_setup(f16_widens_exactly, set_up),
        cmocka_unit_test_setup(f32_narrows_to_the_nearest_f16, set_up),
        cmocka_unit_test_setup(narrowing_follows_the_rounding_mode, set_up),
        cmocka_unit_test_setup(fma_rounds_once, set_up),
        cmocka_unit_test_setup(minimum_ignores_nan, set_up),
        cmocka_unit_test_setup(modifiers_apply, set_up),
        cmocka_unit_test_setup(output_scaling_depends_on_mode, set_up),
        cmocka_unit_test_setup(denormals_are_seen_and_moved, set_up),
        cmocka_unit_test_setup(mode_flushes_denormals_and_rounds, set_up),
        cmocka_unit_test_setup(classes_and_parts, set_up),
        cmocka_unit_test_setup(unordered_compares, set_up),
        cmocka_unit_test_setup(transcendentals_are_close, set_up),
        cmocka_unit_test_setup(trig_preop_gives_two_over_pi, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
