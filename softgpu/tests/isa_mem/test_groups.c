// SPDX-License-Identifier: MIT
// Work-groups that wait for each other all get on, whatever the kernel waits with; ordinary long kernels have the
// same results and counts together as alone; an endless kernel can be bounded.
#include "softgpu/tests/isa_mem/rig.h"

#include <stdio.h>

static void meet(const char *kernel, uint32_t groups, uint32_t items)
{
    static uint32_t out[4096];
    uint32_t shared[2] = {0, 0};
    memset(out, 0, sizeof out);
    struct rig rig;
    rig_begin(&rig, kernel, &groups, out, shared);
    rig.launch.workgroup[0] = items;
    rig.launch.grid[0] = groups * items;
    rig_run(&rig);
    assert_int_equal(shared[0], groups);
    assert_int_equal(shared[1], groups);
    for (uint32_t i = 0; i < groups; i++)
        assert_int_equal(out[i], groups);
    assert_int_equal(rig_total(&rig).workgroups, groups);
}

static void all_groups_meet(void **state)
{
    (void)state;
    meet("meet_spinning", 2, 64);
    meet("meet_spinning", 300, 64);
    meet("meet_spinning", 104, 512);
    meet("meet_sleeping", 300, 64);
    meet("meet_sleeping", 104, 1024);
}

static void lock_between_groups(void **state)
{
    (void)state;
    uint32_t times = 60, shared[2] = {0, 0};
    struct rig rig;
    rig_begin(&rig, "lock_between_groups", &times, NULL, shared);
    rig.launch.grid[0] = 64 * 200;
    rig_run(&rig);
    assert_int_equal(shared[0], 0);
    assert_int_equal(shared[1], 60 * 200);
}

// More groups than are resident at a time: those behind come when others end.
static void consumer_before_producer(void **state)
{
    (void)state;
    uint32_t last = 19999, out = 0, flag = 0;
    struct rig rig;
    rig_begin(&rig, "wait_for_last", &last, &out, &flag);
    rig.launch.grid[0] = 64 * (last + 1);
    rig_run(&rig);
    assert_int_equal(out, 42);
    assert_int_equal(rig_total(&rig).workgroups, last + 1);
}

static void gws_barrier(void **state)
{
    (void)state;
    static uint32_t out[3 * 1000];
    const uint32_t waves = 1000;
    uint32_t but_one = waves - 1, count = 0;
    struct sg_gws gws = {0};
    struct rig rig;
    rig_begin(&rig, "init_gws", &but_one, NULL, NULL);
    rig.launch.gws = &gws;
    rig_run(&rig);
    assert_int_equal(gws.counter[5], but_one);
    rig_begin(&rig, "meet_gws", &but_one, out, &count);
    rig.launch.gws = &gws;
    rig.launch.workgroup[0] = 256;
    rig.launch.grid[0] = 64 * waves;
    rig_run(&rig);
    for (uint32_t i = 0; i < 3 * waves; i++)
        assert_int_equal(out[i], (i / waves + 1) * waves);
    assert_int_equal(rig_total(&rig).gds, 6 * waves);
}

static void gws_semaphore(void **state)
{
    (void)state;
    uint32_t none = 0, out = 0;
    struct sg_gws gws = {0};
    struct rig rig;
    rig_begin(&rig, "semaphore_gws", &none, &out, NULL);
    rig.launch.gws = &gws;
    rig.launch.grid[0] = 64 * 4;
    rig_run(&rig);
    assert_int_equal(out, 1);
    assert_int_equal(gws.counter[5], 0);
}

static void queue_without_gws(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, "init_gws", &(uint32_t){0}, NULL, NULL);
    rig_run_fault(&rig, SG_FAULT_ILLEGAL);
    if (!strstr(rig.fault.text, "ds_gws_init"))
        fail_msg("%s", rig.fault.text);
}

// Long enough that its groups take turns: every register survives, and every run counts the same.
static void long_work(void **state)
{
    (void)state;
    static uint32_t out[2][12 * 64];
    struct sg_counts first;
    for (unsigned run = 0; run < 2; run++) {
        struct rig rig;
        rig_begin(&rig, "long_work", NULL, out[run], NULL);
        rig.launch.grid[0] = 64 * 12;
        rig_run(&rig);
        const struct sg_counts total = rig_total(&rig);
        assert_int_equal(total.valu, 12 * (1 + 300000 + 1));
        for (unsigned se = 0; se < SG_SHADER_ENGINES; se++)
            assert_int_equal(rig.counts[se].waves, se < 4 ? 2 : 1);
        if (run)
            assert_memory_equal(&total, &first, sizeof total);
        first = total;
    }
    for (unsigned i = 0; i < 12 * 64; i++)
        assert_int_equal(out[0][i], 300000 * (i % 64));
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

static void bounded(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, "endless", NULL, NULL, NULL);
    rig.launch.grid[0] = 64 * 10;
    rig.launch.timeout_ns = 30000000;
    rig_run_fault(&rig, SG_FAULT_TIMEOUT);
    assert_int_equal(rig.fault.pc, rig.launch.entry);
    if (!strstr(rig.fault.text, "s_branch") || !strstr(rig.fault.text, "0.03 s"))
        fail_msg("%s", rig.fault.text);
    assert_true(rig_total(&rig).branch > 0);

    // One that waits, too; and one that ends does not notice.
    const uint32_t groups = 11;
    uint32_t shared[2] = {0, 0}, out[10];
    rig_begin(&rig, "meet_sleeping", &groups, out, shared);
    rig.launch.grid[0] = 64 * 10;
    rig.launch.timeout_ns = 1000000000;
    rig_run_fault(&rig, SG_FAULT_TIMEOUT);
    assert_int_equal(shared[0], 10);
    rig_begin(&rig, "write_one", NULL, out, NULL);
    rig.launch.timeout_ns = UINT64_C(3600000000000);
    rig_run(&rig);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_groups_meet),
        cmocka_unit_test(lock_between_groups),
        cmocka_unit_test(consumer_before_producer),
        cmocka_unit_test(gws_barrier),
        cmocka_unit_test(gws_semaphore),
        cmocka_unit_test(queue_without_gws),
        cmocka_unit_test(long_work),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
