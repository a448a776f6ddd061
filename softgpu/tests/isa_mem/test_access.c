// SPDX-License-Identifier: MIT
// Every load and store through every way to reach memory, aligned and across dwords.
#include "softgpu/tests/isa_mem/rig.h"

#define RECORDS_BYTES (LANES * 16 + 64)

enum half { WHOLE, LOW, HIGH };

// In the order of load_cases in kernels.s.
static const struct {
    unsigned bytes;
    bool sign;
    enum half half;
} loads[] = {
    {1, false, WHOLE}, {1, true, WHOLE},   {2, false, WHOLE},  {2, true, WHOLE}, {4, false, WHOLE},
    {8, false, WHOLE}, {12, false, WHOLE}, {16, false, WHOLE}, {1, false, LOW},  {1, false, HIGH},
    {1, true, LOW},    {1, true, HIGH},    {2, false, LOW},    {2, false, HIGH},
};
#define N_LOADS (sizeof loads / sizeof loads[0])

// In the order of store_cases.
static const struct {
    unsigned bytes;
    unsigned from; // byte of the register
} stores[] = {{1, 0}, {1, 2}, {2, 0}, {2, 2}, {4, 0}, {8, 0}, {12, 0}, {16, 0}};
#define N_STORES (sizeof stores / sizeof stores[0])

static const unsigned offsets[] = {4, 5};

static void fill(uint8_t *bytes, size_t n)
{
    uint32_t seed = 0x1234567;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(rig_noise(&seed) >> 8);
}

static void expect_load(size_t kind, const uint8_t *at, uint32_t want[4])
{
    for (unsigned i = 0; i < 4; i++)
        want[i] = SENTINEL;
    if (loads[kind].bytes >= 4) {
        memcpy(want, at, loads[kind].bytes);
        return;
    }
    uint32_t v = loads[kind].bytes == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
    if (loads[kind].sign && v >> (8 * loads[kind].bytes - 1))
        v |= ~0u << (8 * loads[kind].bytes);
    if (loads[kind].half == WHOLE)
        want[0] = v;
    else if (loads[kind].half == LOW)
        want[0] = (SENTINEL & 0xffff0000u) | (v & 0xffff);
    else
        want[0] = (SENTINEL & 0xffff) | v << 16;
}

static void check_loads(const char *kernel, bool private_memory)
{
    static uint8_t in[RECORDS_BYTES + 64];
    static uint32_t out[2][N_LOADS][LANES][4];
    memset(out, 0, sizeof out);
    fill(in, sizeof in);
    if (!private_memory) // LDS ends there with zeroes, so all ways may see the same
        memset(in + LANES * 16, 0, sizeof in - LANES * 16);
    struct rig rig = {0};
    (private_memory ? rig_begin_private : rig_begin)(&rig, kernel, in, out, NULL);
    rig_run(&rig);
    for (unsigned o = 0; o < 2; o++)
        for (size_t kind = 0; kind < N_LOADS; kind++)
            for (unsigned lane = 0; lane < LANES; lane++) {
                uint32_t want[4];
                expect_load(kind, in + 16 * lane + offsets[o], want);
                if (memcmp(want, out[o][kind][lane], sizeof want) != 0)
                    fail_msg("%s offset %u load %zu lane %u: %08x %08x %08x %08x", kernel, offsets[o], kind,
                             lane, out[o][kind][lane][0], out[o][kind][lane][1], out[o][kind][lane][2],
                             out[o][kind][lane][3]);
            }
}

static void check_stores(const char *kernel, bool private_memory)
{
    static uint8_t in[RECORDS_BYTES];
    static uint32_t out[2][N_STORES][LANES][8], extra[LANES * 8];
    memset(out, 0, sizeof out);
    fill(in, sizeof in);
    struct rig rig = {0};
    (private_memory ? rig_begin_private : rig_begin)(&rig, kernel, in, out, extra);
    rig_run(&rig);
    for (unsigned o = 0; o < 2; o++)
        for (size_t kind = 0; kind < N_STORES; kind++)
            for (unsigned lane = 0; lane < LANES; lane++) {
                uint32_t want[8];
                for (unsigned i = 0; i < 8; i++)
                    want[i] = SENTINEL;
                memcpy((uint8_t *)want + offsets[o], in + 16 * lane + stores[kind].from, stores[kind].bytes);
                if (memcmp(want, out[o][kind][lane], sizeof want) != 0)
                    fail_msg("%s offset %u store %zu lane %u", kernel, offsets[o], kind, lane);
            }
}

#define ACCESS_TEST(way, is_private)                                                                         \
    static void loads_##way(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        check_loads("load_" #way, is_private);                                                               \
    }                                                                                                        \
    static void stores_##way(void **state)                                                                   \
    {                                                                                                        \
        (void)state;                                                                                         \
        check_stores("store_" #way, is_private);                                                             \
    }

ACCESS_TEST(saddr, false)
ACCESS_TEST(vaddr, false)
ACCESS_TEST(flat, false)
ACCESS_TEST(flat_lds, false)
ACCESS_TEST(ds, false)
ACCESS_TEST(buffer, false)
ACCESS_TEST(private_buffer, true)
ACCESS_TEST(private_scratch, true)
ACCESS_TEST(private_flat, true)

// The second wave, too, finds dword d of lane l at its base + 256 d + 4 l.
static void private_layout(void **state)
{
    (void)state;
    static uint32_t in[128 * 4 + 8], out[128];
    fill((uint8_t *)in, sizeof in);
    struct rig rig;
    rig_begin_private(&rig, "private_layout", in, out, NULL);
    rig.launch.grid[0] = rig.launch.workgroup[0] = 128;
    rig_run(&rig);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(out[i], in[4 * i]);
}

static void private_bounds(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin_private(&rig, "private_too_far", NULL, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    assert_int_equal(rig.fault.address, 0x10000);
    rig_begin_private(&rig, "private_buffer_too_far", NULL, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_MEMORY);
    rig_begin_private(&rig, "private_too_far", NULL, NULL, NULL);
    rig.launch.private_segment_bytes = 0;
    rig_run_fault(&rig, SG_FAULT_MEMORY);
}

static void buffer_range(void **state)
{
    (void)state;
    static uint32_t in[LANES * 4], out[LANES + 4], extra[LANES];
    fill((uint8_t *)in, sizeof in);
    memset(extra, 0xff, sizeof extra);
    struct rig rig;
    rig_begin(&rig, "buffer_range", in, out, extra);
    const uint64_t base = (uintptr_t)in;
    const uint32_t resource[4] = {(uint32_t)base, (uint32_t)(base >> 32), 16, 0x00027fac};
    memcpy(rig.args.resource, resource, sizeof resource);
    rig_run(&rig);
    for (unsigned lane = 0; lane < LANES; lane++) {
        assert_int_equal(out[lane], lane < 32 ? in[4 * lane] : 0);
        assert_int_equal(extra[lane], lane < 32 ? lane : UINT32_MAX);
    }
    const uint32_t scalar[4] = {in[2], in[3], 0, 0};
    assert_memory_equal(out + LANES, scalar, sizeof scalar);
}

static void buffer_structured(void **state)
{
    (void)state;
    static uint32_t in[LANES * 3], out[LANES];
    fill((uint8_t *)in, sizeof in);
    struct rig rig;
    rig_begin(&rig, "buffer_structured", in, out, NULL);
    rig_run(&rig);
    for (unsigned lane = 0; lane < LANES; lane++)
        assert_int_equal(out[lane], lane < 60 ? in[3 * lane + 2] : 0);
}

static void load_to_lds(void **state)
{
    (void)state;
    static uint32_t in[LANES * 4], out[LANES];
    fill((uint8_t *)in, sizeof in);
    struct rig rig;
    rig_begin(&rig, "load_to_lds", in, out, NULL);
    rig_run(&rig);
    for (unsigned lane = 0; lane < LANES; lane++)
        assert_int_equal(out[lane], in[4 * lane]);
}

static void scalar_memory(void **state)
{
    (void)state;
    static uint32_t in[32], out[20];
    fill((uint8_t *)in, sizeof in);
    struct rig rig;
    rig_begin(&rig, "scalar_memory", in, out, NULL);
    rig_run(&rig);
    assert_memory_equal(out, in, 16);
    assert_memory_equal(out + 4, in + 12, 16);
    assert_memory_equal(out + 8, in + 20, 16);
    const uint64_t real = UINT64_C(0x123456789abc), core = real * SG_CORE_CLOCKS;
    const uint32_t want[8] = {in[2],          in[3],
                              in[1],          0,
                              (uint32_t)core, (uint32_t)(core >> 32),
                              (uint32_t)real, (uint32_t)(real >> 32)};
    assert_memory_equal(out + 12, want, sizeof want);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_saddr),
        cmocka_unit_test(stores_saddr),
        cmocka_unit_test(loads_vaddr),
        cmocka_unit_test(stores_vaddr),
        cmocka_unit_test(loads_flat),
        cmocka_unit_test(stores_flat),
        cmocka_unit_test(loads_flat_lds),
        cmocka_unit_test(stores_flat_lds),
        cmocka_unit_test(loads_ds),
        cmocka_unit_test(stores_ds),
        cmocka_unit_test(loads_buffer),
        cmocka_unit_test(stores_buffer),
        cmocka_unit_test(loads_private_buffer),
        cmocka_unit_test(stores_private_buffer),
        cmocka_unit_test(loads_private_scratch),
        cmocka_unit_test(stores_private_scratch),
        cmocka_unit_test(loads_private_flat),
        cmocka_unit_test(stores_private_flat),
        cmocka_unit_test(private_layout),
        cmocka_unit_test(private_bounds),
        cmocka_unit_test(buffer_range),
        cmocka_unit_test(buffer_structured),
        cmocka_unit_test(load_to_lds),
        cmocka_unit_test(scalar_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
