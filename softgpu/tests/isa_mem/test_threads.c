// SPDX-License-Identifier: MIT
// Work-groups on several threads: the same results and counts whatever their number, atomics between groups, groups that
// wait for groups of other threads, faults. Also meant to run under a thread sanitizer.
#include "softgpu/tests/isa_mem/rig.h"

#define GROUPS 96

// What kernels do to memory without atomics are their own races.
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:^sg_lanes_load\nrace:^sg_lanes_store\nrace:^sg_atomic\n";
}

static const unsigned thread_counts[] = {1, 2, 3, 8};
#define N_THREADS (sizeof thread_counts / sizeof thread_counts[0])

static void same_counts(void **state)
{
    (void)state;
    static uint32_t out[N_THREADS][GROUPS * LANES];
    struct sg_counts counts[N_THREADS][SG_SHADER_ENGINES];
    for (unsigned i = 0; i < N_THREADS; i++) {
        struct rig rig;
        rig_begin(&rig, "short_work", NULL, out[i], NULL);
        rig.launch.grid[0] = LANES * GROUPS;
        rig.launch.threads = thread_counts[i];
        rig_run(&rig);
        memcpy(counts[i], rig.counts, sizeof counts[i]);
        assert_int_equal(rig_total(&rig).workgroups, GROUPS);
        assert_memory_equal(counts[i], counts[0], sizeof counts[0]);
        assert_memory_equal(out[i], out[0], sizeof out[0]);
    }
    assert_int_equal(out[0][LANES + 5], 5 * 3000);
}

static void locks_between_threads(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THREADS; i++) {
        uint32_t times = 10, shared[2] = {0, 0};
        struct rig rig;
        rig_begin(&rig, "lock_between_groups", &times, NULL, shared);
        rig.launch.grid[0] = LANES * GROUPS;
        rig.launch.threads = thread_counts[i];
        rig_run(&rig);
        assert_int_equal(shared[0], 0);
        assert_int_equal(shared[1], 10 * GROUPS);
    }
}

static void all_meet(void **state)
{
    (void)state;
    static uint32_t out[GROUPS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        uint32_t groups = GROUPS, shared[2] = {0, 0};
        struct rig rig;
        rig_begin(&rig, i % 2 ? "meet_spinning" : "meet_sleeping", &groups, out, shared);
        rig.launch.grid[0] = LANES * GROUPS;
        rig.launch.threads = thread_counts[i];
        rig_run(&rig);
        assert_int_equal(shared[0], GROUPS);
        assert_int_equal(shared[1], GROUPS);
    }
}

#ifndef __SANITIZE_THREAD__ // which has no shadow for the address of the fault
// A fault on one thread ends the groups of all, endless as they may be.
static void fault_stops_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_THREADS; i++) {
        struct rig rig;
        rig_begin(&rig, "endless_but_last", &(uint32_t){GROUPS - 1}, NULL, NULL);
        rig.launch.grid[0] = LANES * GROUPS;
        rig.launch.threads = thread_counts[i];
        rig_run_fault(&rig, SG_FAULT_MEMORY);
        assert_int_equal(rig.fault.address, 64);
    }
}
#endif

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    rig_open(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_counts),
        cmocka_unit_test(locks_between_threads),
        cmocka_unit_test(all_meet),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(fault_stops_all),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
