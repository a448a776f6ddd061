// SPDX-License-Identifier: MIT
// What only DS has: two-address forms, M0-relative forms, range, data between lanes, append and consume.
#include "softgpu/tests/isa_mem/rig.h"

static void pairs(void **state)
{
    (void)state;
    static uint32_t in[LANES * 4], out[5][LANES][4], extra[LANES][2];
    static uint32_t lds[512 + 128];
    uint32_t seed = 5;
    for (unsigned i = 0; i < LANES * 4; i++)
        in[i] = rig_noise(&seed);
    struct rig rig;
    rig_begin(&rig, "ds_pairs", in, out, extra);
    rig_run(&rig);
    memcpy(lds, in, sizeof in);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned a = 2 * lane; // address in dwords
        const uint32_t read[3][4] = {
            {lds[a + 1], lds[a + 3], lds[a], lds[a + 64]},
            {lds[a + 4], lds[a + 5], lds[a + 2], lds[a + 3]},
            {lds[a + 128], lds[a + 129], lds[a], lds[a + 1]},
        };
        for (unsigned i = 0; i < 3; i++)
            assert_memory_equal(out[i][lane], read[i], 16);
        assert_int_equal(extra[lane][0], lane); // through M0
        assert_int_equal(extra[lane][1], 0);    // past the end
    }
    // The writes, in program order.
    for (unsigned lane = 0; lane < LANES; lane++)
        lds[lane] = lane;
    for (unsigned lane = 0; lane < LANES; lane++)
        lds[lane + 64] = 16 * lane;
    for (unsigned lane = 0; lane < LANES; lane++) {
        lds[2 * lane + 128] = lane;
        lds[2 * lane + 129] = 16 * lane;
    }
    for (unsigned lane = 0; lane < LANES; lane++) {
        lds[2 * lane + 256] = 8 * lane;
        lds[2 * lane + 257] = 4 * lane;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        lds[384 + lane] = lane;
    assert_memory_equal(out[3], lds, 1024);
    assert_memory_equal(out[4], lds + 256, 1024);
}

static unsigned reversed5(unsigned v)
{
    return (v & 1) << 4 | (v & 2) << 2 | (v & 4) | (v & 8) >> 2 | (v & 16) >> 4;
}

static void lanes(void **state)
{
    (void)state;
    static uint32_t in[LANES], out[11][LANES];
    for (unsigned lane = 0; lane < LANES; lane++)
        in[lane] = 4 * ((lane * 7 + 3) % LANES);
    struct rig rig;
    rig_begin(&rig, "ds_lanes", in, out, NULL);
    rig_run(&rig);
#define DATA(lane) (100 + 3 * (uint32_t)(lane))
    uint32_t sent[LANES];
    for (unsigned lane = 0; lane < LANES; lane++)
        sent[in[lane] / 4] = DATA(lane);
    for (unsigned lane = 0; lane < LANES; lane++) {
        assert_int_equal(out[0][lane], DATA(lane ^ 3));
        assert_int_equal(out[1][lane], DATA(lane ^ 4));
        assert_int_equal(out[2][lane], DATA((lane & 32) | (((lane & 0x18) | 2) & 31)));
        assert_int_equal(out[3][lane], DATA((lane & 32) | ((lane + 3) & 31)));
        assert_int_equal(out[4][lane], DATA((lane & 32) | (lane & 16) | reversed5(lane & 31) >> 1));
        assert_int_equal(out[5][lane], sent[lane]);
        assert_int_equal(out[6][lane], DATA((in[lane] / 4 + 2) % LANES));
    }
    // Lanes 40 and up are off: they send nothing, and reading from them gives 0.
    for (unsigned lane = 0; lane < 40; lane++)
        for (unsigned from = 0; from < LANES; from++)
            if (in[from] / 4 == lane)
                assert_int_equal(out[7][lane], from < 40 ? DATA(from) : 0);
    for (unsigned lane = 0; lane < 40; lane++) {
        const unsigned from = in[lane] / 4;
        assert_int_equal(out[8][lane], from < 40 ? DATA(from) : 0);
        assert_int_equal(out[9][lane], 40);  // the counter before the second append
        assert_int_equal(out[10][lane], 80); // and before the consume
    }
    for (unsigned lane = 40; lane < LANES; lane++)
        assert_int_equal(out[8][lane], 0);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
