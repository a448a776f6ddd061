// SPDX-License-Identifier: MIT
// Isolation with many threads: windows keep everybody out, and neither side starves. The program's copies are
// plain stores, so that a thread sanitizer judges too.
#include "rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define LIVE0   KR_BACKEND_LIVE_IS_PASS0
#define READERS 6

static struct buffer shared, counts;
static atomic_uint windows_done, reads_done[READERS];
static atomic_bool stop;

static void window(struct buffer *buffer)
{
    struct rig_window w = {0};
    rig_add(&w, add_one, buffer);
    kr_window_run(rig.engine, &w.window);
    rig_expect_done_once(&w);
}

static void *reader(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    while (!stop) {
        kr_gate_enter(rig.engine, 0);
        kr_gate_enter(rig.engine, 0); // hooks nest
        counts.at[me * 8]++;          // each its own byte: readers may run together
        kr_gate_leave(rig.engine, 0);
        kr_gate_leave(rig.engine, 0);
        reads_done[me]++;
    }
    return NULL;
}

static void *writer(void *arg)
{
    for (unsigned i = 0; i < (unsigned)(uintptr_t)arg; i++) {
        window(&shared);
        windows_done++;
    }
    return NULL;
}

static void start(void)
{
    rig_start(LIVE0);
    shared = rig_buffer(0, 2000);
    counts = rig_buffer(0, READERS * 8);
    stop = false;
    windows_done = 0;
    for (unsigned i = 0; i < READERS; i++)
        reads_done[i] = 0;
}

static void start_readers(pthread_t *threads)
{
    for (uintptr_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, reader, (void *)i), 0);
}

static void join_readers(pthread_t *threads)
{
    stop = true;
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(counts.at[i * 8], (uint8_t)reads_done[i]); // no store was lost to a restore
}

static void windows_among_readers(void **state)
{
    (void)state;
    enum { WINDOWS = 100, WRITERS = 2 };
    pthread_t readers[READERS], writers[WRITERS];
    start();
    start_readers(readers); // they never pause: windows get in all the same
    for (unsigned i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, writer, (void *)(uintptr_t)WINDOWS), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    join_readers(readers);
    assert_true(buffer_is(&shared, (uint8_t)(WINDOWS * WRITERS)));
    for (size_t i = 0; i < rig.record_count; i++) {
        assert_int_equal(rig.records[i].outcome.kind, KREPLAY_REPLAYED);
        assert_false(rig.records[i].outcome.reentrant);
        assert_true(rig.records[i].outcome.deterministic);
    }
    rig_stop();
}

static void *endless_writer(void *arg)
{
    (void)arg;
    while (!stop)
        window(&shared);
    return NULL;
}

static void readers_among_windows(void **state)
{
    (void)state;
    pthread_t readers[READERS], writers[3];
    start();
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, endless_writer, NULL), 0);
    start_readers(readers);
    for (unsigned i = 0; i < READERS; i++) // would hang if windows followed each other without a gap
        while (reads_done[i] < 50)
            sched_yield();
    join_readers(readers);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(writers[i], NULL);
    rig_stop();
}

static void a_window_that_gives_up_lets_readers_in(void **state)
{
    (void)state;
    setenv("KREPLAY_GATE_MS", "20", 1);
    start();
    pthread_t reader_thread;
    kr_gate_enter(rig.engine, 0); // this thread stays inside, so the other's window cannot start
    pthread_t writer_thread;
    assert_int_equal(pthread_create(&writer_thread, NULL, writer, (void *)1), 0);
    assert_int_equal(pthread_create(&reader_thread, NULL, reader, (void *)0), 0);
    pthread_join(writer_thread, NULL);
    while (reads_done[0] == 0)
        sched_yield();
    stop = true;
    pthread_join(reader_thread, NULL);
    kr_gate_leave(rig.engine, 0);
    assert_int_equal(rig_last()->outcome.kind, KREPLAY_DECLINED);
    assert_int_equal(rig_last()->outcome.reason, KREPLAY_REASON_AGENT_DRAIN_STUCK);
    assert_true(buffer_is(&shared, 1));
    window(&shared);
    assert_int_equal(rig_last()->outcome.kind, KREPLAY_REPLAYED);
    rig_stop();
    unsetenv("KREPLAY_GATE_MS");
}

static void enter_inside(kreplay_phase phase, kreplay_pass *pass)
{
    (void)phase;
    (void)pass;
    kr_gate_enter(rig.engine, 0);
    kr_gate_leave(rig.engine, 0);
    assert_int_equal(kr_engine_give_back(rig.engine, 0), 0); // the snapshot is in use
}

static void own_window_is_open_to_its_thread(void **state)
{
    (void)state;
    start();
    rig.on_pass = enter_inside;
    window(&shared);
    assert_int_equal(rig_last()->outcome.kind, KREPLAY_REPLAYED);
    assert_true(rig_last()->outcome.reentrant);
    rig.on_pass = NULL;
    window(&shared);
    assert_false(rig_last()->outcome.reentrant);
    rig_stop();
}

static void *other_gpu(void *arg)
{
    (void)arg;
    kr_gate_enter(rig.engine, 1);
    kr_gate_leave(rig.engine, 1);
    return NULL;
}

static void use_other_gpu(kreplay_phase phase, kreplay_pass *pass)
{
    pthread_t thread;
    if (phase != KREPLAY_ENTER || pass->current_pass != 1)
        return;
    assert_int_equal(pthread_create(&thread, NULL, other_gpu, NULL), 0);
    pthread_join(thread, NULL); // would hang if GPU 1 were shut
}

static void other_gpus_go_on(void **state)
{
    (void)state;
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 2});
    shared = rig_buffer(0, 2000);
    rig.on_pass = use_other_gpu;
    window(&shared);
    assert_int_equal(rig_last()->outcome.kind, KREPLAY_REPLAYED);
    rig_stop();
}

static void *peer_windows(void *arg)
{
    uint32_t agent = (uint32_t)(uintptr_t)arg;
    for (unsigned i = 0; i < 100; i++) {
        struct rig_window w = {0};
        rig_add(&w, add_one, &shared); // memory of GPU 1, which both write
        w.window.agent = agent;
        kr_window_run(rig.engine, &w.window);
        rig_expect_done_once(&w);
    }
    return NULL;
}

static void memory_is_covered_for_whom_it_lets_in(void **state)
{
    (void)state;
    static uint64_t memory[8];
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 2});
    assert_int_equal(kr_inventory_add(rig.engine, 1, memory, sizeof memory, KR_MEMORY_DEVICE), 0);
    assert_true(kr_inventory_covers(rig.engine, 1, &memory[3]));
    assert_false(kr_inventory_covers(rig.engine, 0, &memory[3]));
    kr_engine_allow_access(rig.engine, 1, 0);
    assert_true(kr_inventory_covers(rig.engine, 0, &memory[3]));
    assert_false(kr_inventory_covers(rig.engine, 0, memory + 8));
    kr_inventory_remove(rig.engine, memory);
    rig_end();
}

static void peers_exclude_each_other(void **state)
{
    (void)state;
    pthread_t threads[2];
    rig_start_with(&(struct kr_fake_options){.flags = LIVE0, .agents = 2});
    shared = rig_buffer(1, 2000);
    kr_engine_allow_access(rig.engine, 1, 0);
    rig.arm = false;
    for (uintptr_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, peer_windows, (void *)i), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(buffer_is(&shared, 200));
    rig_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_among_readers),
        cmocka_unit_test(readers_among_windows),
        cmocka_unit_test(a_window_that_gives_up_lets_readers_in),
        cmocka_unit_test(own_window_is_open_to_its_thread),
        cmocka_unit_test(other_gpus_go_on),
        cmocka_unit_test(memory_is_covered_for_whom_it_lets_in),
        cmocka_unit_test(peers_exclude_each_other),
    };
    return cmocka_run_group_tests_name("engine.gate", tests, NULL, NULL);
}
