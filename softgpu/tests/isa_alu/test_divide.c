// SPDX-License-Identifier: MIT
// Compiled division: the sequences that clang 15 emits for gfx90a at -O2 give the correctly rounded quotient
// for random operands of all magnitudes and for all special values.
#include "softgpu/tests/isa_alu/bare_wave.h"

#include <math.h>

// float f(float a, float b) { return a / b; }: a in v0, b in v1, result in v0.
static const uint32_t divide_f32[] = {
    0xd1e00402, 0x04020301, // v_div_scale_f32 v2, s[4:5], v1, v1, v0
    0x7e064502,             // v_rcp_f32_e32 v3, v2
    0xd1cb0004, 0x23ca0702, // v_fma_f32 v4, -v2, v3, 1.0
    0x76060704,             // v_fmac_f32_e32 v3, v4, v3
    0xd1e06a04, 0x04020300, // v_div_scale_f32 v4, vcc, v0, v1, v0
    0x0a0a0704,             // v_mul_f32_e32 v5, v4, v3
    0xd1cb0006, 0x24120b02, // v_fma_f32 v6, -v2, v5, v4
    0x760a0706,             // v_fmac_f32_e32 v5, v6, v3
    0xd1cb0002, 0x24120b02, // v_fma_f32 v2, -v2, v5, v4
    0xd1e20002, 0x04160702, // v_div_fmas_f32 v2, v2, v3, v5
    0xd1de0000, 0x04020302, // v_div_fixup_f32 v0, v2, v1, v0
};

// double f(double a, double b) { return a / b; }: a in v[0:1], b in v[2:3], result in v[0:1].
static const uint32_t divide_f64[] = {
    0xd1e10404, 0x04020502, // v_div_scale_f64 v[4:5], s[4:5], v[2:3], v[2:3], v[0:1]
    0x7e0c4b04,             // v_rcp_f64_e32 v[6:7], v[4:5]
    0xd1cc0008, 0x23ca0d04, // v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    0x080c1106,             // v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]
    0xd1cc0008, 0x23ca0d04, // v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    0x080c1106,             // v_fmac_f64_e32 v[6:7], v[6:7], v[8:9]
    0xd1e16a08, 0x04020500, // v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]
    0xd281000a, 0x00020d08, // v_mul_f64 v[10:11], v[8:9], v[6:7]
    0xd1cc0004, 0x24221504, // v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]
    0xbf800001,             // s_nop 1
    0xd1e30004, 0x042a0d04, // v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]
    0xd1df0000, 0x04020504, // v_div_fixup_f64 v[0:1], v[4:5], v[2:3], v[0:1]
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct bare b;
static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static double as_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static void check_f32(void)
{
    uint32_t n[SG_LANES], d[SG_LANES];
    memcpy(n, b.vgpr[0], sizeof(n));
    memcpy(d, b.vgpr[1], sizeof(d));
    assert_int_equal(bare_run(&b, divide_f32, COUNT(divide_f32)), SG_STEP_OK);
    for (unsigned i = 0; i < SG_LANES; i++) {
        const float want = as_float(n[i]) / as_float(d[i]), got = as_float(b.vgpr[0][i]);
        if (want != want ? got == got : memcmp(&want, &got, 4))
            fail_msg("%a / %a = %a, not %a", as_float(n[i]), as_float(d[i]), want, got);
    }
}

static void check_f64(void)
{
    uint64_t n[SG_LANES], d[SG_LANES];
    for (unsigned i = 0; i < SG_LANES; i++) {
        n[i] = get64(&b, 0, i);
        d[i] = get64(&b, 2, i);
    }
    assert_int_equal(bare_run(&b, divide_f64, COUNT(divide_f64)), SG_STEP_OK);
    for (unsigned i = 0; i < SG_LANES; i++) {
        const double want = as_double(n[i]) / as_double(d[i]), got = as_double(get64(&b, 0, i));
        if (want != want ? got == got : memcmp(&want, &got, 8))
            fail_msg("%a / %a = %a, not %a", as_double(n[i]), as_double(d[i]), want, got);
    }
}

static void f32_random(void **state)
{
    (void)state;
    bare_init(&b);
    for (unsigned round = 0; round < 20000; round++) {
        for (unsigned i = 0; i < SG_LANES; i++) {
            b.vgpr[0][i] = (uint32_t)random64();
            b.vgpr[1][i] = (uint32_t)random64();
        }
        check_f32();
    }
}

// Operands near each other and near the ends of the range, where scaling matters.
static void f32_edges(void **state)
{
    (void)state;
    static const uint32_t exponents[] = {0,   1,   2,   23,  24,  30,  64,  96,  126,
                                         127, 128, 150, 190, 223, 230, 252, 253, 254};
    bare_init(&b);
    for (unsigned n = 0; n < COUNT(exponents); n++)
        for (unsigned d = 0; d < COUNT(exponents); d++)
            for (unsigned round = 0; round < 20; round++) {
                for (unsigned i = 0; i < SG_LANES; i++) {
                    b.vgpr[0][i] = exponents[n] << 23 | (random64() & 0x7fffff);
                    b.vgpr[1][i] = exponents[d] << 23 | (random64() & 0x7fffff);
                }
                check_f32();
            }
}

static void f32_special(void **state)
{
    (void)state;
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
                                       0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff};
    bare_init(&b);
    for (unsigned n = 0; n < COUNT(special); n++) {
        set_all(&b, 0, special[n]);
        for (unsigned i = 0; i < SG_LANES; i++)
            b.vgpr[1][i] = special[i % COUNT(special)];
        check_f32();
    }
}

static void f64_random(void **state)
{
    (void)state;
    bare_init(&b);
    for (unsigned round = 0; round < 10000; round++) {
        for (unsigned i = 0; i < SG_LANES; i++) {
            const uint64_t n = random64(), d = random64();
            memcpy(&b.vgpr[0][i], &n, 4);
            b.vgpr[1][i] = (uint32_t)(n >> 32);
            memcpy(&b.vgpr[2][i], &d, 4);
            b.vgpr[3][i] = (uint32_t)(d >> 32);
        }
        check_f64();
    }
}

static void f64_edges(void **state)
{
    (void)state;
    static const uint64_t exponents[] = {0,    1,    2,    53,   54,   128,  255,  256,  768,  1022,
                                         1023, 1024, 1077, 1500, 1791, 1919, 1920, 2044, 2045, 2046};
    bare_init(&b);
    for (unsigned n = 0; n < COUNT(exponents); n++)
        for (unsigned d = 0; d < COUNT(exponents); d++)
            for (unsigned round = 0; round < 10; round++) {
                for (unsigned i = 0; i < SG_LANES; i++) {
                    b.vgpr[0][i] = (uint32_t)random64();
                    b.vgpr[1][i] = (uint32_t)(exponents[n] << 20 | (random64() & 0xfffff));
                    b.vgpr[2][i] = (uint32_t)random64();
                    b.vgpr[3][i] = (uint32_t)(exponents[d] << 20 | (random64() & 0xfffff));
                }
                check_f64();
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_random), cmocka_unit_test(f32_edges), cmocka_unit_test(f32_special),
        cmocka_unit_test(f64_random), cmocka_unit_test(f64_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
