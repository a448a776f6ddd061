// SPDX-License-Identifier: MIT
// Matrix operations against a plain product, with register layouts written out per shape.
#include "softgpu/isa/fp.h"
#include "softgpu/tests/isa_alu/bare_wave.h"

enum { A = 0, B = 4, C = 16, D = 64 }; // first registers; D after the 32 of C

static struct bare b;

static int set_up(void **state)
{
    (void)state;
    bare_init(&b);
    return 0;
}

static void emit_mfma(unsigned op, unsigned src2, unsigned cbsz, unsigned abid, unsigned blgp)
{
    emit(0xd3800000u | op << 16 | abid << 11 | cbsz << 8 | D);
    emit(blgp << 29 | src2 << 18 | V(B) << 9 | V(A));
}

// Small integers, so that every sum is exact.
static int value(unsigned x, unsigned y, unsigned seed)
{
    return (int)((x * 7 + y * 13 + seed * 5 + x * y) % 11) - 5;
}

// 32x32x2 f32: A row = lane % 32, k = lane / 32; D column = lane % 32, row = 8 * (v / 4) + 4 * (lane / 32) +
// v % 4.
static void f32_32x32x2(void **state)
{
    (void)state;
    for (unsigned l = 0; l < SG_LANES; l++) {
        b.vgpr[A][l] = sg_bits32((float)value(l % 32, l / 32, 1));
        b.vgpr[B][l] = sg_bits32((float)value(l / 32, l % 32, 2));
        for (unsigned v = 0; v < 16; v++)
            b.vgpr[C + v][l] = sg_bits32((float)(l + v));
    }
    sg_set_sgpr64(&b.wave, SG_SGPR_EXEC, 1); // EXEC does not matter
    emit_mfma(0x44, V(C), 0, 0, 0);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned v = 0; v < 16; v++) {
            const unsigned row = 8 * (v / 4) + 4 * (l / 32) + v % 4, column = l % 32;
            int want = (int)(l + v);
            for (unsigned k = 0; k < 2; k++)
                want += value(row, k, 1) * value(k, column, 2);
            assert_float_equal(sg_f32(b.vgpr[D + v][l]), (float)want, 0);
        }
}

// 16x16x16 f16: A row = lane % 16, k = 4 * (lane / 16) + element; D row = 4 * (lane / 16) + v, column = lane
// % 16.
static void f16_16x16x16(void **state)
{
    (void)state;
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned e = 0; e < 4; e++) {
            const unsigned k = 4 * (l / 16) + e, shift = 16 * (e & 1);
            b.vgpr[A + e / 2][l] |= sg_f16_from_f32_rne((float)value(l % 16, k, 3)) << shift;
            b.vgpr[B + e / 2][l] |= sg_f16_from_f32_rne((float)value(k, l % 16, 4)) << shift;
        }
    emit_mfma(0x4d, ONE, 0, 0, 0);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned v = 0; v < 4; v++) {
            int want = 1;
            for (unsigned k = 0; k < 16; k++)
                want += value(4 * (l / 16) + v, k, 3) * value(k, l % 16, 4);
            assert_float_equal(sg_f32(b.vgpr[D + v][l]), (float)want, 0);
        }
}

// 4x4x4 i8, 16 blocks: block = lane / 4; A row = lane % 4, k = byte; D row = v, column = lane % 4.
static void i8_4x4x4_in_16_blocks(void **state)
{
    (void)state;
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned k = 0; k < 4; k++) {
            b.vgpr[A][l] |= ((uint32_t)value(l, k, 5) & 0xff) << (8 * k);
            b.vgpr[B][l] |= ((uint32_t)value(k, l, 6) & 0xff) << (8 * k);
        }
    emit_mfma(0x52, INT(3), 0, 0, 0);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned v = 0; v < 4; v++) {
            int want = 3;
            for (unsigned k = 0; k < 4; k++)
                want += value(l / 4 * 4 + v, k, 5) * value(k, l, 6);
            assert_int_equal((int)b.vgpr[D + v][l], want);
        }
}

// 16x16x4 f64: A row = lane % 16, k = lane / 16; D row = lane / 16 + 4 * v, column = lane % 16.
static void f64_16x16x4(void **state)
{
    (void)state;
    for (unsigned l = 0; l < SG_LANES; l++) {
        const uint64_t a = sg_bits64(value(l % 16, l / 16, 7)), c = sg_bits64(value(l / 16, l % 16, 8));
        b.vgpr[A][l] = (uint32_t)a;
        b.vgpr[A + 1][l] = (uint32_t)(a >> 32);
        b.vgpr[B][l] = (uint32_t)c;
        b.vgpr[B + 1][l] = (uint32_t)(c >> 32);
    }
    emit_mfma(0x6e, INT(0), 0, 0, 0);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned v = 0; v < 4; v++) {
            int want = 0;
            for (unsigned k = 0; k < 4; k++)
                want += value(l / 16 + 4 * v, k, 7) * value(k, l % 16, 8);
            assert_true(sg_f64(get64(&b, D + 2 * v, l)) == want);
        }
}

// 32x32x1 f32 in two blocks; cbsz = 1 gives both the A of block `abid`, blgp = 2 gives both the upper lanes
// of B.
static void modifiers_broadcast_blocks(void **state)
{
    (void)state;
    for (unsigned l = 0; l < SG_LANES; l++) {
        b.vgpr[A][l] = sg_bits32((float)value(l, 0, 9));
        b.vgpr[B][l] = sg_bits32((float)value(0, l, 10));
    }
    emit_mfma(0x40, INT(0), 1, 1, 2);
    assert_int_equal(bare_go(&b), SG_STEP_OK);
    for (unsigned l = 0; l < SG_LANES; l++)
        for (unsigned v = 0; v < 32; v++) {
            const unsigned row = 8 * (v % 16 / 4) + 4 * (l / 32) + v % 4;
            const int want = value(32 + row, 0, 9) * value(0, 32 + l % 32, 10);
            assert_float_equal(sg_f32(b.vgpr[D + v][l]), (float)want, 0);
        }
}

// A and B are 1 and a denormal everywhere: nothing remains of it, nor of a denormal C.
static void halves_have_no_denormals(void **state)
{
    (void)state;
    static const struct {
        unsigned op, registers;
        uint32_t one, denormal;
        bool flushes;
    } cases[] = {
        {0x4d, 2, 0x3c003c00, 0x03ff0001, true},  // 16x16x16 f16
        {0x67, 2, 0x3f803f80, 0x007f0001, true},  // 16x16x16 bf16_1k
        {0x6d, 1, 0x3f803f80, 0x007f0001, true},  // 16x16x8 bf16
        {0x45, 1, 0x3f800000, 0x00000001, false}, // 16x16x4 f32
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (unsigned r = 0; r < cases[i].registers; r++) {
            set_all(&b, A + r, cases[i].one);
            set_all(&b, B + r, cases[i].denormal);
        }
        for (unsigned v = 0; v < 4; v++)
            set_all(&b, C + v, 0x00000001);
        emit_mfma(cases[i].op, V(C), 0, 0, 0);
        assert_int_equal(bare_go(&b), SG_STEP_OK);
        assert_int_equal(b.vgpr[D][0], cases[i].flushes ? 0 : 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(f32_32x32x2, set_up),
        cmocka_unit_test_setup(f16_16x16x16, set_up),
        cmocka_unit_test_setup(i8_4x4x4_in_16_blocks, set_up),
        cmocka_unit_test_setup(f64_16x16x4, set_up),
        cmocka_unit_test_setup(modifiers_broadcast_blocks, set_up),
        cmocka_unit_test_setup(halves_have_no_denormals, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
