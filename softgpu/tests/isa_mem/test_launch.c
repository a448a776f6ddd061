// SPDX-License-Identifier: MIT
// Launches: initial registers, ids of work-items, waves of a group together, counts, limits.
#include "softgpu/tests/isa_mem/rig.h"

#include <stdio.h>

struct slot {
    uint32_t resource[4];
    uint64_t dispatch, queue, kernarg, id, flat_scratch;
    uint32_t private_bytes, group[3], info, wave_offset;
    uint32_t mode, exec[2], unused;
    uint32_t rest[8];
};
_Static_assert(sizeof(struct slot) == 128, "as the kernel stores it");

// Two groups of 100 items in x: two waves each, the second with 36 lanes.
static void initial_sgprs(void **state)
{
    (void)state;
    static struct slot out[4];
    static uint32_t ticket, packet[16], queue[16];
    ticket = 0;
    struct rig rig;
    rig_begin(&rig, "initial_sgprs", NULL, out, &ticket);
    rig.launch.properties = 0x7f;
    rig.launch.rsrc1 = 0xa5u << 12 | 1u << 21 | 1u << 23 | 1u << 26;
    rig.launch.rsrc2 = 15u << 1 | 7u << 7 | 1u << 10 | 1 | 0x55u << 24;
    rig.launch.dispatch_packet = (uintptr_t)packet;
    rig.launch.queue = (uintptr_t)queue;
    rig.launch.dispatch_id = 0x1122334455667788;
    rig.launch.private_segment_bytes = 20;
    rig.launch.workgroup[0] = 100;
    rig.launch.grid[0] = 200;
    rig_run(&rig);
    assert_int_equal(ticket, 4);
    for (unsigned i = 0; i < 4; i++) {
        const struct slot *s = &out[i];
        const unsigned group = i / 2, wave = i % 2;
        const uint32_t wave_bytes = 2048; // 20 * 64, in units of 1 KiB
        assert_int_equal((uint64_t)s->resource[1] << 32 | s->resource[0], s->flat_scratch | UINT64_C(1)
                                                                                                << 63);
        assert_int_equal(s->resource[2], 2 * wave_bytes);
        assert_int_equal(s->resource[3], 0x00e04fac); // xyzw, uint, index stride 64, add lane id
        assert_int_equal(s->dispatch, (uintptr_t)packet);
        assert_int_equal(s->queue, (uintptr_t)queue);
        assert_int_equal(s->kernarg, (uintptr_t)&rig.args);
        assert_int_equal(s->id, 0x1122334455667788);
        assert_true(s->flat_scratch != 0);
        assert_int_equal(s->private_bytes, 20);
        assert_int_equal(s->group[0], group);
        assert_int_equal(s->group[1], 0);
        assert_int_equal(s->group[2], 0);
        assert_int_equal(s->info, (wave == 0 ? 0x80000000u : 0) | 2);
        assert_int_equal(s->wave_offset, wave * wave_bytes);
        assert_int_equal(s->mode & 0x87f3ff, 0xa5 | 0x100 | 0x200 | 0x55 << 12 | 1u << 23);
        assert_int_equal(s->exec[0], UINT32_MAX);
        assert_int_equal(s->exec[1], wave == 0 ? UINT32_MAX : 0xf);
    }
}

#define MAX_SLOTS 64

static uint32_t items[MAX_SLOTS][LANES][4], n_items_waves;

static void run_items(const uint32_t grid[3], const uint32_t workgroup[3], unsigned ids,
                      struct sg_counts *total)
{
    struct rig rig;
    memset(items, 0xff, sizeof items);
    n_items_waves = 0;
    rig_begin(&rig, "work_items", NULL, items, &n_items_waves);
    rig.launch.rsrc2 = 2u << 1 | 7u << 7 | ids << 11;
    memcpy(rig.launch.grid, grid, sizeof rig.launch.grid);
    memcpy(rig.launch.workgroup, workgroup, sizeof rig.launch.workgroup);
    rig_run(&rig);
    *total = rig_total(&rig);
    for (unsigned se = 0; se < SG_SHADER_ENGINES; se++) {
        const uint64_t fair =
            total->workgroups / SG_SHADER_ENGINES + (se < total->workgroups % SG_SHADER_ENGINES);
        assert_int_equal(rig.counts[se].workgroups, fair);
    }
}

// Every item of the grid exactly once, in order within its group, no lane more.
static void check_items(const uint32_t grid[3], const uint32_t workgroup[3])
{
    struct sg_counts total;
    run_items(grid, workgroup, 2, &total);
    unsigned slot = 0, groups = 0;
    for (uint32_t z = 0; z < grid[2]; z += workgroup[2])
        for (uint32_t y = 0; y < grid[1]; y += workgroup[1])
            for (uint32_t x = 0; x < grid[0]; x += workgroup[0], groups++) {
                unsigned item = 0;
                for (uint32_t k = 0; k < workgroup[2] && z + k < grid[2]; k++)
                    for (uint32_t j = 0; j < workgroup[1] && y + j < grid[1]; j++)
                        for (uint32_t i = 0; i < workgroup[0] && x + i < grid[0]; i++, item++) {
                            const uint32_t want[4] = {i | j << 10 | k << 20, x / workgroup[0],
                                                      y / workgroup[1], z / workgroup[2]};
                            assert_memory_equal(items[slot + item / LANES][item % LANES], want, 16);
                        }
                for (unsigned lane = item % LANES; lane && lane < LANES; lane++)
                    assert_int_equal(items[slot + item / LANES][lane][0], UINT32_MAX);
                slot += (item + LANES - 1) / LANES;
            }
    assert_int_equal(n_items_waves, slot);
    assert_int_equal(total.waves, slot);
    assert_int_equal(total.workgroups, groups);
}

static void work_items(void **state)
{
    (void)state;
    check_items((uint32_t[]){64, 1, 1}, (uint32_t[]){64, 1, 1});
    check_items((uint32_t[]){1, 1, 1}, (uint32_t[]){256, 1, 1});
    check_items((uint32_t[]){1000, 1, 1}, (uint32_t[]){192, 1, 1});
    check_items((uint32_t[]){10, 7, 5}, (uint32_t[]){4, 3, 2});
    check_items((uint32_t[]){9, 10, 11}, (uint32_t[]){8, 8, 8});
    check_items((uint32_t[]){3, 1024, 1}, (uint32_t[]){1, 1024, 1});
}

// Only the ids that the descriptor asks for are packed.
static void fewer_ids(void **state)
{
    (void)state;
    struct sg_counts total;
    run_items((uint32_t[]){4, 4, 4}, (uint32_t[]){4, 4, 4}, 0, &total);
    assert_int_equal(items[0][63][0], 3);
    run_items((uint32_t[]){4, 4, 4}, (uint32_t[]){4, 4, 4}, 1, &total);
    assert_int_equal(items[0][63][0], 3 | 3 << 10);
}

static void barriers(void **state)
{
    (void)state;
    static uint32_t out[1024];
    struct rig rig;
    rig_begin(&rig, "barriers", NULL, out, NULL);
    rig.launch.grid[0] = rig.launch.workgroup[0] = 1024;
    rig.launch.group_segment_bytes = 4096;
    rig_run(&rig);
    for (unsigned i = 0; i < 1024; i++)
        assert_int_equal(out[i], 8 * ((i + 65) % 1024) + 28);
}

static void ended_waves_do_not_hold_barriers(void **state)
{
    (void)state;
    static uint32_t out[128];
    memset(out, 0xff, sizeof out);
    struct rig rig;
    rig_begin(&rig, "barrier_with_ended", NULL, out, NULL);
    rig.launch.grid[0] = rig.launch.workgroup[0] = 512;
    rig_run(&rig);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(out[i], i);
}

static void spinning_wave_gives_way(void **state)
{
    (void)state;
    static uint32_t out[LANES];
    struct rig rig;
    rig_begin(&rig, "spin_on_wave", NULL, out, NULL);
    rig.launch.grid[0] = rig.launch.workgroup[0] = 1024;
    rig_run(&rig);
    for (unsigned i = 0; i < LANES; i++)
        assert_int_equal(out[i], 7);
}

static void fresh_groups_see_zeroes(void **state)
{
    (void)state;
    static uint32_t out[256];
    struct rig rig;
    rig_begin(&rig, "fresh", NULL, out, NULL);
    rig.launch.workgroup[0] = 256;
    rig.launch.grid[0] = 1024;
    rig_run(&rig);
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(out[i], 0);
}

static void counts(void **state)
{
    (void)state;
    static uint32_t in[LANES], out[LANES];
    struct rig rig;
    rig_begin(&rig, "known_loop", in, out, NULL);
    rig.launch.workgroup[0] = 40; // lanes of a group
    rig.launch.grid[0] = 120;
    rig_run(&rig);
    const struct sg_counts want = {
        .waves = 3,
        .workgroups = 3,
        .valu = 3 * (3 + 10),
        .salu = 3 * (2 + 20),
        .smem = 3 * 2,
        .lds = 3 * 10,
        .vmem_rd = 3 * 11,
        .vmem_wr = 3 * 10,
        .flat = 3 * 21,
        .branch = 3 * 10,
        .other_sopp = 3 * (1 + 20 + 1),
        .lanes_valu = UINT64_C(3) * 13 * 40,
        .flat_lds = 3 * 1,
    };
    const struct sg_counts total = rig_total(&rig);
    assert_memory_equal(&total, &want, sizeof want);
    for (unsigned se = 0; se < SG_SHADER_ENGINES; se++)
        assert_int_equal(rig.counts[se].valu, se < 3 ? 13 : 0);
    // Counts are added to what is there.
    rig_run(&rig);
    assert_int_equal(rig_total(&rig).valu, 2 * want.valu);
}

static void refused(const char *what, void (*change)(struct sg_launch *))
{
    struct rig rig;
    rig_begin(&rig, "write_one", NULL, NULL, NULL);
    change(&rig.launch);
    rig_run_fault(&rig, SG_FAULT_RESOURCES);
    if (!strstr(rig.fault.text, what))
        fail_msg("\"%s\" does not say \"%s\"", rig.fault.text, what);
    assert_int_equal(rig_total(&rig).waves, 0);
}

static void too_many_items(struct sg_launch *l)
{
    l->workgroup[0] = 512;
    l->workgroup[1] = 3;
}

static void no_items(struct sg_launch *l)
{
    l->grid[2] = 0;
}

static void too_much_lds(struct sg_launch *l)
{
    l->group_segment_bytes = 65537;
}

static void too_much_scratch(struct sg_launch *l)
{
    l->private_segment_bytes = 131072;
}

static void wave32(struct sg_launch *l)
{
    l->properties |= 0x400;
}

static void too_many_registers(struct sg_launch *l)
{
    l->workgroup[0] = 1024;
    l->rsrc1 = 16; // 136 registers, 4 waves on each SIMD
}

static void resources(void **state)
{
    (void)state;
    refused("1536 work-items", too_many_items);
    refused("dimension 2", no_items);
    refused("LDS", too_much_lds);
    refused("private memory", too_much_scratch);
    refused("32 lanes", wave32);
    refused("VGPRs", too_many_registers);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_sgprs),
        cmocka_unit_test(work_items),
        cmocka_unit_test(fewer_ids),
        cmocka_unit_test(barriers),
        cmocka_unit_test(ended_waves_do_not_hold_barriers),
        cmocka_unit_test(spinning_wave_gives_way),
        cmocka_unit_test(fresh_groups_see_zeroes),
        cmocka_unit_test(counts),
        cmocka_unit_test(resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
