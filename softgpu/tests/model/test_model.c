// SPDX-License-Identifier: MIT
// What the model says of programs whose behaviour is known: numbers that can be counted by hand, and which of two ways of
// doing the same thing is the faster one.
#include "softgpu/tests/model/rig.h"

static struct rig rig;

static void copy_by_hand(void **state)
{
    const uint64_t waves = RIG_COPY_ITEMS / 64, bytes = RIG_COPY_ITEMS * sizeof(float);
    (void)state;
    rig_copy(&rig, 1);
    const struct sg_cu_detail cu = rig_cus(&rig);
    const struct sg_channel_detail l2 = rig_channels(&rig);
    assert_int_equal(cu.waves_eq_64, waves);
    assert_int_equal(cu.waves_lt_64, 0);
    assert_int_equal(cu.items, RIG_COPY_ITEMS);
    assert_int_equal(cu.groups, RIG_COPY_ITEMS / 256);
    assert_int_equal(cu.ta_flat[SG_ACCESS_READ], waves);
    assert_int_equal(cu.ta_flat[SG_ACCESS_WRITE], waves);
    assert_int_equal(cu.tcp_accesses[SG_ACCESS_READ], 16 * waves);
    assert_int_equal(cu.tcp_lines, 2 * 4 * waves);
    assert_int_equal(cu.tcc_requests[SG_ACCESS_READ], bytes / 64);
    assert_int_equal(cu.tcc_requests[SG_ACCESS_WRITE], bytes / 64);
    assert_int_equal(l2.writes, bytes / 64);
    assert_int_equal(l2.ea_writes, bytes / 64);
    assert_int_equal(l2.ea_writes_64, bytes / 64);
    assert_int_equal(l2.writebacks_at_end, bytes / 128);
    assert_int_equal(l2.evictions, 0);
    assert_int_equal(l2.requests, l2.hits + l2.misses);
    assert_int_equal(l2.reads, bytes / 64 + cu.sqc_tc_inst + cu.sqc_tc_read);
    assert_in_range(l2.ea_reads, bytes / 64 + 2, bytes / 64 + 16); // and arguments and code
}

static void lanes_apart_touch_a_line_each(void **state)
{
    const uint64_t waves = RIG_COPY_ITEMS / 64;
    (void)state;
    rig_copy(&rig, 16);
    const struct sg_cu_detail cu = rig_cus(&rig);
    const struct sg_channel_detail l2 = rig_channels(&rig);
    assert_int_equal(cu.tcp_accesses[SG_ACCESS_READ], 64 * waves);
    assert_int_equal(cu.tcp_lines, 2 * 64 * waves);
    assert_int_equal(cu.td_coalescable, 0);
    assert_int_equal(l2.ea_writes, RIG_COPY_ITEMS);
    assert_int_equal(l2.ea_writes_64, 0); // four bytes of each line
}

static void matrix_by_hand(void **state)
{
    (void)state;
    rig_matrix(&rig);
    const struct sg_cu_detail cu = rig_cus(&rig);
    assert_int_equal(cu.valu[SG_VALU_MFMA_F32], 1);
    assert_int_equal(cu.mfma_ops[SG_VALU_MFMA_F32], 2 * 32 * 32 * 2); // two blocks, one step of k
    assert_int_equal(cu.mfma_cycles, 64);
    assert_int_equal(cu.valu[SG_VALU_FMA_F64], 1);
    assert_int_equal(cu.valu[SG_VALU_TRANS_F32], 1);
    assert_true(cu.valu[SG_VALU_CVT] >= 2);
    assert_int_equal(cu.ta_flat[SG_ACCESS_ATOMIC], 1);
    assert_int_equal(cu.tcc_requests[SG_ACCESS_ATOMIC], 4); // each 16 lanes for themselves
}

static void banks_by_hand(void **state)
{
    (void)state;
    rig_banks(&rig, 1);
    struct sg_cu_detail cu = rig_cus(&rig);
    const uint64_t plain = cu.lds_cycles;
    assert_int_equal(cu.lds_bank_conflict, 0);
    rig_banks(&rig, 32); // all lanes in one bank
    cu = rig_cus(&rig);
    assert_int_equal(cu.lds_bank_conflict, 8 * 256 * 2 * 31);
    assert_int_equal(cu.lds_cycles, plain + cu.lds_bank_conflict);
}

static uint64_t active(void)
{
    return rig.detail.active;
}

static void tiled_is_faster_than_naive(void **state)
{
    (void)state;
    rig_product(&rig, "naive", 128);
    const uint64_t naive = active();
    rig_product(&rig, "tiled", 128);
    assert_true(active() < naive);
}

static void coalesced_is_faster_than_strided(void **state)
{
    (void)state;
    rig_copy(&rig, 16);
    const uint64_t strided = active();
    rig_copy(&rig, 1);
    assert_true(active() < strided);
}

static void conflicts_are_slower(void **state)
{
    (void)state;
    rig_banks(&rig, 32);
    const uint64_t conflicting = active();
    rig_banks(&rig, 1);
    assert_true(active() < conflicting);
}

static void occupancy_hides_latency(void **state)
{
    (void)state;
    rig_chase(&rig, 65536);
    const uint64_t alone = active();
    rig_chase(&rig, 0);
    assert_true(active() < alone / 2);
}

static void waves_time_is_all_accounted_for(void **state)
{
    (void)state;
    rig_product(&rig, "tiled", 64);
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        const struct sg_cu_detail *cu = &rig.detail.cu[i];
        uint64_t issue = 64 * cu->waves; // launch
        for (unsigned port = 0; port < SG_PORTS; port++)
            issue += cu->issue[port];
        assert_int_equal(cu->wave_cycles, issue + cu->wait_data + cu->wait_issue);
        assert_true(cu->busy <= rig.detail.active && cu->wave_cycles <= 32 * cu->busy);
    }
}

// Other addresses, other numbers of threads, other launches before: the same in all bytes.
static void runs_are_alike(void **state)
{
    static struct sg_detail first;
    static const unsigned threads[] = {1, 3, 8};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        rig.threads = threads[i];
        rig_product(&rig, "tiled", 64);
        if (i == 0)
            first = rig.detail;
        assert_memory_equal(&rig.detail, &first, sizeof first);
        rig_memory(4096u * (i + 1));
        rig_copy(&rig, 2);
    }
    rig.threads = 0;
}

static void watching_changes_no_count(void **state)
{
    struct sg_counts watched[SG_SHADER_ENGINES];
    (void)state;
    rig_product(&rig, "tiled", 64);
    memcpy(watched, rig.counts, sizeof watched);
    const size_t bytes = 64 * 64 * sizeof(float);
    const struct {
        const void *a, *b;
        void *c;
        int n;
    } args = {rig_memory(bytes), rig_memory(bytes), rig_memory(bytes), 64};
    rig.kernarg = &args;
    rig_run_unwatched(&rig, "tiled");
    assert_memory_equal(rig.counts, watched, sizeof watched);
    uint64_t classes = 0;
    for (unsigned i = 0; i < SG_SHADER_ENGINES; i++) {
        const struct sg_counts *c = &watched[i];
        classes += c->valu + c->salu + c->smem + c->lds + c->gds + c->vmem_rd + c->vmem_wr + c->branch +
                   c->sendmsg + c->other_sopp;
    }
    assert_int_equal(rig_cus(&rig).insts, classes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_by_hand),
        cmocka_unit_test(lanes_apart_touch_a_line_each),
        cmocka_unit_test(matrix_by_hand),
        cmocka_unit_test(banks_by_hand),
        cmocka_unit_test(tiled_is_faster_than_naive),
        cmocka_unit_test(coalesced_is_faster_than_strided),
        cmocka_unit_test(conflicts_are_slower),
        cmocka_unit_test(occupancy_hides_latency),
        cmocka_unit_test(waves_time_is_all_accounted_for),
        cmocka_unit_test(runs_are_alike),
        cmocka_unit_test(watching_changes_no_count),
    };
    if (argc != 2)
        return 2;
    rig_open(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
