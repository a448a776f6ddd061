// SPDX-License-Identifier: MIT
// AQL queues over an interpreter that runs C functions: order, ring, doorbell, barriers, completion, suspend,
// destroy.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/tests/cp/rig.h"

#include <signal.h>
#include <string.h>
#include <time.h>

// Long enough for a wrong queue to do what it must not; never needed for a right one to pass.
static void give_a_chance(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

struct recorder {
    atomic_uint calls;
    uint64_t ids[256];
};

static enum sg_fault_kind record(struct stub_kernel *self, const struct sg_launch *launch)
{
    struct recorder *r = self->arg;
    r->ids[atomic_load(&r->calls) % 256] = launch->dispatch_id;
    atomic_fetch_add(&r->calls, 1);
    return SG_FAULT_NONE;
}

static void runs_packets_in_order_around_the_ring(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    amd_signal_t done = {.value = 200};
    for (unsigned i = 0; i < 200; i++) {
        hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, &done);
        rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    }
    assert_true(rig_wait_signal(&done, 0));
    assert_int_equal(seen.calls, 200);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(seen.ids[i], i);
    assert_int_equal(rig->amd.read_dispatch_id, 200);
    for (unsigned i = 0; i < RING_PACKETS; i++)
        assert_int_equal(rig->ring[i * 64], HSA_PACKET_TYPE_INVALID);
}

static void takes_a_packet_whose_header_follows_the_doorbell(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    uint64_t index = rig_write(rig, &packet);
    rig_ring(rig, index);
    give_a_chance();
    assert_int_equal(seen.calls, 0);
    rig_publish(rig, index, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    assert_true(rig_wait_read(rig, index + 1));
    assert_int_equal(seen.calls, 1);
}

static void leaves_a_packet_alone_that_was_not_rung_for(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    uint64_t index = rig_write(rig, &packet);
    rig_publish(rig, index, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    give_a_chance();
    assert_int_equal(seen.calls, 0);
    rig_ring(rig, index);
    assert_true(rig_wait_read(rig, index + 1));
    assert_int_equal(seen.calls, 1);
}

// Two producers: the one with the higher index rings first, the lower index is published and rung for later.
static void loses_no_packet_to_a_doorbell_out_of_order(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    for (unsigned round = 0; round < 50; round++) {
        uint64_t low = rig_write(rig, &packet), high = rig_write(rig, &packet);
        rig_publish(rig, high, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        rig_ring(rig, high);
        if (round % 2)
            give_a_chance();
        rig_publish(rig, low, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        rig_ring(rig, low);
        assert_true(rig_wait_read(rig, high + 1));
    }
    assert_int_equal(seen.calls, 100);
}

static struct {
    struct rig *rig;
    amd_signal_t *signal;
    uint64_t index, read_index;
    unsigned header;
    int64_t value;
    uint64_t mailbox;
} at_event;

static void look_at_event(uint32_t event_id)
{
    struct rig *rig = at_event.rig;
    if (event_id != 7)
        return;
    at_event.read_index = rig->amd.read_dispatch_id;
    at_event.header = rig->ring[at_event.index % RING_PACKETS * 64];
    at_event.value = at_event.signal->value;
}

static enum sg_fault_kind look_at_read_index(struct stub_kernel *self, const struct sg_launch *launch)
{
    struct rig *rig = self->arg;
    return rig->amd.read_dispatch_id == launch->dispatch_id ? SG_FAULT_NONE : SG_FAULT_TRAP;
}

static void completes_after_the_slot_is_free(void **state)
{
    struct rig *rig = *state;
    amd_signal_t done = {
        .value = 1, .event_id = 7, .event_mailbox_ptr = (uint64_t)(uintptr_t)&at_event.mailbox};
    struct stub_kernel kernel = {.run = look_at_read_index, .arg = rig};
    at_event.rig = rig;
    at_event.signal = &done;
    at_event.index = 0;
    stub_on_event = look_at_event;
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, &done);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    assert_true(rig_wait_signal(&done, 0));
    while (!stub_events_raised)
        give_a_chance();
    assert_int_equal(rig->inactive.value, 0); // the read index named the packet while it ran
    assert_int_equal(stub_last_event, 7);
    assert_int_equal(at_event.mailbox, 7);
    assert_int_equal(at_event.value, 0);
    assert_int_equal(at_event.read_index, 1);
    assert_int_equal(at_event.header, HSA_PACKET_TYPE_INVALID);
    assert_true(done.start_ts > 0);
    assert_true(done.end_ts >= done.start_ts);
}

static void barrier_and_waits_for_all(void **state)
{
    struct rig *rig = *state;
    amd_signal_t a = {.value = 1}, b = {.value = 1}, done = {.value = 1};
    hsa_barrier_and_packet_t packet = {.dep_signal = {rig_handle(&a), {0}, rig_handle(&b)},
                                       .completion_signal = rig_handle(&done)};
    rig_submit(rig, &packet, HSA_PACKET_TYPE_BARRIER_AND);
    give_a_chance();
    assert_int_equal(done.value, 1);
    __atomic_store_n(&b.value, 0, __ATOMIC_RELEASE);
    give_a_chance();
    assert_int_equal(done.value, 1);
    assert_int_equal(rig->amd.read_dispatch_id, 0);
    __atomic_store_n(&a.value, 0, __ATOMIC_RELEASE);
    assert_true(rig_wait_signal(&done, 0));
}

static void barrier_holds_back_later_packets(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    amd_signal_t gate = {.value = 1}, done = {.value = 1};
    hsa_barrier_and_packet_t barrier = {.dep_signal = {rig_handle(&gate)}};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, &done);
    rig_submit(rig, &barrier, HSA_PACKET_TYPE_BARRIER_AND);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    give_a_chance();
    assert_int_equal(seen.calls, 0);
    __atomic_store_n(&gate.value, 0, __ATOMIC_RELEASE);
    assert_true(rig_wait_signal(&done, 0));
    assert_int_equal(seen.calls, 1);
}

static void barrier_or_waits_for_any(void **state)
{
    struct rig *rig = *state;
    amd_signal_t a = {.value = 1}, b = {.value = 1}, done = {.value = 1};
    hsa_barrier_or_packet_t packet = {.dep_signal = {{0}, rig_handle(&a), rig_handle(&b)},
                                      .completion_signal = rig_handle(&done)};
    rig_submit(rig, &packet, HSA_PACKET_TYPE_BARRIER_OR);
    give_a_chance();
    assert_int_equal(done.value, 1);
    __atomic_store_n(&b.value, 0, __ATOMIC_RELEASE);
    assert_true(rig_wait_signal(&done, 0));
}

static void barriers_without_dependencies_pass(void **state)
{
    struct rig *rig = *state;
    amd_signal_t done = {.value = 2};
    hsa_barrier_and_packet_t packet = {.completion_signal = rig_handle(&done)};
    rig_submit(rig, &packet, HSA_PACKET_TYPE_BARRIER_AND);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_BARRIER_OR);
    assert_true(rig_wait_signal(&done, 0));
}

static void barrier_value_compares_masked_value(void **state)
{
    static const struct {
        hsa_signal_condition_t condition;
        int64_t before, after; // before: not met; after: met. Compared with 4 under mask 0xf
    } cases[] = {
        {HSA_SIGNAL_CONDITION_EQ, 0x15, 0x24},
        {HSA_SIGNAL_CONDITION_NE, 0x34, 0x35},
        {HSA_SIGNAL_CONDITION_LT, 0x14, 0x13},
        {HSA_SIGNAL_CONDITION_GTE, 0xf3, 0x04},
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        amd_signal_t watched = {.value = cases[i].before}, done = {.value = 1};
        hsa_amd_barrier_value_packet_t packet = {.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE,
                                                 .signal = rig_handle(&watched),
                                                 .value = 4,
                                                 .mask = 0xf,
                                                 .cond = cases[i].condition,
                                                 .completion_signal = rig_handle(&done)};
        rig_submit(rig, &packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
        give_a_chance();
        assert_int_equal(done.value, 1);
        __atomic_store_n(&watched.value, cases[i].after, __ATOMIC_RELEASE);
        assert_true(rig_wait_signal(&done, 0));
    }
}

static void suspended_queue_takes_nothing(void **state)
{
    struct rig *rig = *state;
    struct recorder seen = {0};
    struct stub_kernel kernel = {.run = record, .arg = &seen};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, NULL);
    for (unsigned round = 1; round <= 20; round++) {
        sg_queue_suspend(rig->queue);
        uint64_t index = rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
        if (round % 4 == 0)
            give_a_chance();
        assert_int_equal(seen.calls, round - 1);
        sg_queue_resume(rig->queue);
        assert_true(rig_wait_read(rig, index + 1));
        assert_int_equal(seen.calls, round);
    }
}

static enum sg_fault_kind run_until_stopped(struct stub_kernel *self, const struct sg_launch *launch)
{
    atomic_int *running = self->arg;
    atomic_store(running, 1);
    while (!__atomic_load_n(launch->stop, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return SG_FAULT_STOPPED;
}

static void destroy_stops_a_running_kernel(void **state)
{
    struct rig *rig = *state;
    atomic_int running = 0;
    amd_signal_t done = {.value = 1};
    struct stub_kernel kernel = {.run = run_until_stopped, .arg = &running};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, &done);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    while (!running)
        give_a_chance();
    sg_queue_destroy(rig->queue);
    rig->queue = NULL;
    assert_int_equal(done.value, 1);          // it did not complete
    assert_int_equal(rig->inactive.value, 0); // and that is no error
    assert_int_equal(rig->amd.read_dispatch_id, 0);
}

static void destroy_while_blocked_or_suspended(void **state)
{
    struct rig *rig = *state;
    amd_signal_t never = {.value = 1};
    hsa_barrier_and_packet_t packet = {.dep_signal = {rig_handle(&never)}};
    rig_submit(rig, &packet, HSA_PACKET_TYPE_BARRIER_AND);
    give_a_chance();
    sg_queue_destroy(rig->queue);
    rig->amd.read_dispatch_id = 0;
    assert_int_equal(sg_queue_create(&rig->gpu, rig->ring, RING_PACKETS * 64, &rig->amd, &rig->queue), 0);
    sg_queue_suspend(rig->queue);
    rig_ring(rig, 0);
    give_a_chance();
    sg_queue_destroy(rig->queue);
    rig->queue = NULL;
}

static enum sg_fault_kind read_signal_mask(struct stub_kernel *self, const struct sg_launch *launch)
{
    (void)launch;
    pthread_sigmask(SIG_SETMASK, NULL, self->arg);
    return SG_FAULT_NONE;
}

static void program_signals_stay_off_the_queue_thread(void **state)
{
    struct rig *rig = *state;
    sigset_t mask;
    sigemptyset(&mask);
    amd_signal_t done = {.value = 1};
    struct stub_kernel kernel = {.run = read_signal_mask, .arg = &mask};
    hsa_kernel_dispatch_packet_t packet = rig_dispatch(rig, &kernel, &done);
    rig_submit(rig, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    assert_true(rig_wait_signal(&done, 0));
    assert_true(sigismember(&mask, SIGUSR1));
    assert_true(sigismember(&mask, SIGINT));
    assert_false(sigismember(&mask, SIGSEGV));
    assert_false(sigismember(&mask, SIGBUS));
    assert_false(sigismember(&mask, SIGFPE));
    assert_false(sigismember(&mask, SIGILL));
}

static void refuses_a_bad_ring(void **state)
{
    struct rig *rig = *state;
    struct sg_queue *queue = NULL;
    assert_int_not_equal(sg_queue_create(&rig->gpu, rig->ring, 3 * 64, &rig->amd, &queue), 0);
    assert_int_not_equal(sg_queue_create(&rig->gpu, rig->ring, 0, &rig->amd, &queue), 0);
    assert_int_not_equal(sg_queue_create(&rig->gpu, rig->ring, 65, &rig->amd, &queue), 0);
    assert_int_not_equal(sg_queue_create(&rig->gpu, NULL, 64, &rig->amd, &queue), 0);
    assert_null(queue);
}

#define RIG_TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(runs_packets_in_order_around_the_ring),
        RIG_TEST(takes_a_packet_whose_header_follows_the_doorbell),
        RIG_TEST(leaves_a_packet_alone_that_was_not_rung_for),
        RIG_TEST(loses_no_packet_to_a_doorbell_out_of_order),
        RIG_TEST(completes_after_the_slot_is_free),
        RIG_TEST(barrier_and_waits_for_all),
        RIG_TEST(barrier_holds_back_later_packets),
        RIG_TEST(barrier_or_waits_for_any),
        RIG_TEST(barriers_without_dependencies_pass),
        RIG_TEST(barrier_value_compares_masked_value),
        RIG_TEST(suspended_queue_takes_nothing),
        RIG_TEST(destroy_stops_a_running_kernel),
        RIG_TEST(destroy_while_blocked_or_suspended),
        RIG_TEST(program_signals_stay_off_the_queue_thread),
        RIG_TEST(refuses_a_bad_ring),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
