// SPDX-License-Identifier: MIT
// What kreplay does with the processor: copies that the host makes itself, and waits of the program that leave it to
// kreplay's threads.
#include "window_rig.h"

#include <pthread.h>
#include <sys/mman.h>

#include "hsa/reach.h"

static void memory_of_the_host_is_copied_by_it(void **state)
{
    (void)state;
    setenv("KREPLAY_HOST_COPIES", "2", 1);
    start();
    int *data = device(4096);
    struct arguments a = {data, 0};
    hsa_signal_t done = fake_signal(1);
    dispatch(queue(64), ADD_ONE, &a, done);
    assert_true(fake_wait_zero(done));
    assert_int_equal(data[0], 1);
    assert_int_equal(module_data[0], 1);
    assert_int_equal(fake.kernel_runs, 2);
    assert_int_equal(fake.async_copies, 0);
    assert_true(kr_hsa_end());
    const kreplay_outcome *outcome = &tool.seen[0].outcome;
    assert_int_equal(outcome->kind, KREPLAY_REPLAYED);
    assert_true(outcome->write_set_bytes > 0); // what changed was found
    assert_true(outcome->restored_bytes > 0);
    kr_hsa_close();
}

static void memory_out_of_reach_is_left_to_the_runtime(void **state)
{
    (void)state;
    setenv("KREPLAY_HOST_COPIES", "2", 1);
    start();
    device(64); // brings the agents up
    struct kr_hsa_agent *agent = &kr_hsa.agents[0];
    char here[64] = {1}, there[64] = {2};
    char *half = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(half != MAP_FAILED);
    assert_int_equal(mprotect(half, 4096, PROT_READ | PROT_WRITE), 0);
    assert_true(kr_hsa_in_reach(agent, here, sizeof(here)));
    assert_true(kr_hsa_in_reach(agent, half, 4096));
    assert_false(kr_hsa_in_reach(agent, half, 8192)); // its second page cannot be read
    assert_false(kr_hsa_in_reach(agent, NULL, 1));
    const struct kr_copy list[] = {{here, there, sizeof(here)}, {here, half + 4096, sizeof(here)}};
    assert_true(kr_hsa_reach_copy(agent, list, 1));
    assert_int_equal(here[0], 2);
    assert_false(kr_hsa_reach_copy(agent, list, 2));
    munmap(half, 8192);
    assert_true(kr_hsa_end());
    kr_hsa_close();
}

// ---- Waits. The kernel SPIN goes on until `spin_on` is false.
static struct waiter {
    pthread_t thread;
    hsa_signal_t signal;
    uint64_t timeout;
    hsa_signal_value_t value;
} waiter;

static void *wait_actively(void *arg)
{
    (void)arg;
    waiter.value = program.hsa_signal_wait_scacquire(waiter.signal, HSA_SIGNAL_CONDITION_LT, 1,
                                                     waiter.timeout, HSA_WAIT_STATE_ACTIVE);
    return NULL;
}

static void begin_wait(hsa_signal_t signal, uint64_t timeout)
{
    waiter = (struct waiter){.signal = signal, .timeout = timeout, .value = -1};
    assert_int_equal(pthread_create(&waiter.thread, NULL, wait_actively, NULL), 0);
}

static struct arguments spinning;

static hsa_signal_t begin_spinning(void)
{
    start();
    spinning = (struct arguments){device(4096), 0};
    hsa_signal_t done = fake_signal(1);
    spin_on = true;
    dispatch(queue(64), SPIN, &spinning, done);
    return done;
}

static void end_spinning(void)
{
    spin_on = false;
    assert_true(kr_hsa_end());
    kr_hsa_close();
}

static void a_wait_rests_while_dispatches_are_under_way(void **state)
{
    (void)state;
    begin_wait(begin_spinning(), UINT64_MAX);
    usleep(50000);
    assert_int_equal(fake.active_waits, 0);
    spin_on = false;
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.value, 0);
    assert_int_equal(spinning.data[0], 100);
    // With nothing under way it is the runtime's.
    unsigned before = fake.active_waits;
    assert_int_equal(program.hsa_signal_wait_relaxed(fake_signal(0), HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                                     HSA_WAIT_STATE_ACTIVE),
                     0);
    assert_int_equal(fake.active_waits, before + 1);
    end_spinning();
}

static void a_resting_wait_sees_its_signal(void **state)
{
    (void)state;
    begin_spinning();
    hsa_signal_t other = fake_signal(1); // of something else than the dispatch, which goes on
    begin_wait(other, UINT64_MAX);
    usleep(5000);
    program.hsa_signal_store_screlease(other, 0);
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.value, 0);
    end_spinning();
}

static void a_resting_wait_ends_in_time(void **state)
{
    (void)state;
    begin_wait(begin_spinning(), 20000000); // ticks are nanoseconds here
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.value, 1);
    end_spinning();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_host_is_copied_by_it),
        cmocka_unit_test(memory_out_of_reach_is_left_to_the_runtime),
        cmocka_unit_test(a_wait_rests_while_dispatches_are_under_way),
        cmocka_unit_test(a_resting_wait_sees_its_signal),
        cmocka_unit_test(a_resting_wait_ends_in_time),
    };
    return window_main(argc, argv, "reach", tests, sizeof(tests) / sizeof(tests[0]));
}
