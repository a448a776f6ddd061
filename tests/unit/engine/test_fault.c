// SPDX-License-Identifier: MIT
// Each promise of the engine (the numbered invariants of the design) has a check here that holds, and that
// fails when the mechanism behind it is switched off. A check that cannot fail proves nothing.
#include "rig.h"

#include "engine/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0

static struct buffer data;
static uint64_t sums[16];
static unsigned runs;

// Adds one everywhere, and remembers the sum that it found.
static void add_and_sum(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *buffer = arg;
    uint64_t sum = 0;
    for (size_t i = 0; i < buffer->bytes; i++)
        sum += buffer->at[i];
    sums[runs++ % 16] = sum;
    add_one(arg, exec);
}

static void start(void)
{
    rig_start(LIVE0);
    data = rig_buffer(0, 3 * BLOCK);
    runs = 0;
}

static bool end(bool held)
{
    rig_end();
    return held;
}

// One window without the rig's own assertions.
static struct rig_window go(kr_fake_program program)
{
    struct rig_window w = {0};
    rig_add(&w, program, &data);
    rig_run(&w);
    kr_fake_settle(rig.fake);
    rig.watched = NULL;
    return w;
}

// Every pass has the inputs of the live run, also after the program changed memory.
static bool passes_have_equal_inputs(void)
{
    start();
    go(add_and_sum);
    memset(data.at, 40, data.bytes);
    runs = 0;
    go(add_and_sum);
    return end(runs == 3 && sums[1] == sums[0] && sums[2] == sums[0]);
}

static bool passes_have_equal_inputs_after_a_failed_copy(void)
{
    start();
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 3, 1, KREPLAY_DEVICE); // the first restore
    go(add_and_sum);
    return end(runs == 3 && sums[1] == sums[0]);
}

// 1: memory is what one execution leaves.
static bool memory_is_as_after_one_run(void)
{
    start();
    go(add_one);
    return end(buffer_is(&data, 1));
}

static uint8_t live_result[3 * BLOCK];
static void wander_and_tell(void *arg, struct kr_fake_exec *exec)
{
    wander(arg, exec);
    if (runs++ == 0)
        memcpy(live_result, data.at, data.bytes);
}

// 1, for a kernel whose result changes.
static bool memory_is_the_live_runs(void)
{
    start();
    go(wander_and_tell);
    return end(memcmp(data.at, live_result, data.bytes) == 0);
}

// 2: one completion.
static bool completes_once(void)
{
    start();
    struct rig_window w = go(add_one);
    return end(w.mine[0].completions == 1);
}

// 2: with the live execution's times.
static bool completes_with_live_times(void)
{
    start();
    struct rig_window w = go(add_one);
    const struct rig_record *record = rig_last();
    return end(w.mine[0].start_ns != 0 && w.mine[0].start_ns == record->passes[0].start_ns &&
               w.mine[0].end_ns == record->passes[0].end_ns && record->start_ns == w.mine[0].start_ns);
}

// 3: nobody gets in.
static atomic_bool inside, over;
static bool got_in, patient;

static void *intruder(void *arg)
{
    (void)arg;
    kr_gate_enter(rig.engine, 0);
    inside = true;
    while (!over)
        usleep(100);
    kr_gate_leave(rig.engine, 0);
    return NULL;
}

static pthread_t intruder_thread;
static void try_the_gate(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != KREPLAY_ENTER || pass->current_pass != 1)
        return;
    assert_int_equal(pthread_create(&intruder_thread, NULL, intruder, NULL), 0);
    // Broken isolation lets it in sooner or later; working isolation never, however long this waits.
    for (unsigned i = 0; i < (patient ? 100000 : 200) && !inside; i++)
        usleep(100);
    got_in = inside;
}

static bool nobody_gets_in(void)
{
    start();
    inside = over = false;
    rig.on_pass = try_the_gate;
    go(add_one);
    over = true;
    pthread_join(intruder_thread, NULL);
    return end(!got_in && inside);
}

// 4: memory that was freed and came back is left alone.
static uint8_t reused[BLOCK];
static void reuse(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != KREPLAY_EXIT || pass->current_pass != 1)
        return;
    kr_fake_drop(rig.fake, 0, reused);
    memset(reused, 99, sizeof reused);
    kr_fake_adopt(rig.fake, 0, reused, sizeof reused, KR_MEMORY_DEVICE);
}

static bool new_generation_is_left_alone(void)
{
    start();
    memset(reused, 1, sizeof reused);
    kr_fake_adopt(rig.fake, 0, reused, sizeof reused, KR_MEMORY_DEVICE);
    rig.on_pass = reuse;
    go(add_one);
    struct buffer now = {reused, sizeof reused};
    return end(buffer_is(&now, 99));
}

// 5: doubt means one plain run, with the reason.
static bool doubt_declines(void)
{
    static uint8_t mapping[8];
    start();
    kr_fake_adopt(rig.fake, 0, mapping, sizeof mapping, KR_MEMORY_UNTRACKED);
    go(add_one);
    return end(rig_last()->outcome.reason == KREPLAY_REASON_UNTRACKED_MEMORY);
}

// 7: every dispatch is in the output.
static bool every_dispatch_has_a_record(void)
{
    start();
    go(add_one);
    rig.want = false;
    go(add_one);
    return end(rig.record_count == 2);
}

// 8: waits are bounded.
static bool waits_are_bounded(void)
{
    start();
    go(add_one);
    return end(kr_fake_longest_wait_ns(rig.fake) < UINT64_C(3600) * 1000000000u);
}

// 9: nothing on the program's stdout.
static bool stdout_is_the_programs(void)
{
    FILE *file = tmpfile();
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDOUT_FILENO);
    start();
    kr_engine_message(rig.engine, "a message of the test");
    rig_end();
    dup2(out, STDOUT_FILENO);
    close(out);
    bool nothing = lseek(fileno(file), 0, SEEK_END) == 0;
    fclose(file);
    return nothing;
}

// 10: the record comes first.
static bool record_before_completion(void)
{
    start();
    go(add_one);
    return end(rig_last()->completions == 0);
}

// X(switch, check, number of the invariant; 0 = of the passes, not of the program)
#define CHECK_MAP(X)                                                                                         \
    X(shadow, passes_have_equal_inputs, 0)                                                                   \
    X(compare, memory_is_as_after_one_run, 1)                                                                \
    X(restore, passes_have_equal_inputs, 0)                                                                  \
    X(finish, memory_is_the_live_runs, 1)                                                                    \
    X(complete, completes_once, 2)                                                                           \
    X(times, completes_with_live_times, 2)                                                                   \
    X(gate, nobody_gets_in, 3)                                                                               \
    X(generation, new_generation_is_left_alone, 4)                                                           \
    X(admit, doubt_declines, 5)                                                                              \
    X(retry, passes_have_equal_inputs_after_a_failed_copy, 6)                                                \
    X(record, every_dispatch_has_a_record, 7)                                                                \
    X(bound, waits_are_bounded, 8)                                                                           \
    X(output, stdout_is_the_programs, 9)                                                                     \
    X(order, record_before_completion, 10)

#define X(fault, check, number) | 1u << (number)
_Static_assert((0u CHECK_MAP(X)) == (1u << 11) - 1, "every invariant has a switch that breaks it");
#undef X

#define X(fault, check, number)                                                                              \
    static void holds_and_can_fail_##fault(void **state)                                                     \
    {                                                                                                        \
        (void)state;                                                                                         \
        unsetenv("KREPLAY_FAULT");                                                                           \
        assert_true(check());                                                                                \
        setenv("KREPLAY_FAULT", kr_fault_name(KR_FAULT_##fault), 1);                                         \
        patient = true;                                                                                      \
        assert_false(check());                                                                               \
        patient = false;                                                                                     \
        unsetenv("KREPLAY_FAULT");                                                                           \
    }
CHECK_MAP(X)
#undef X

int main(void)
{
    const struct CMUnitTest tests[] = {
#define X(fault, check, number) cmocka_unit_test(holds_and_can_fail_##fault),
        CHECK_MAP(X)
#undef X
    };
    _Static_assert(sizeof tests / sizeof tests[0] == KR_FAULT_COUNT, "every switch has its check");
    return cmocka_run_group_tests_name("engine.fault", tests, NULL, NULL);
}
