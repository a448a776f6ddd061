// SPDX-License-Identifier: MIT
// Putting memory back: two paths, the end when both fail, results that change from run to run, and
// allocations that come and go.
#include "rig.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVE0 KR_BACKEND_LIVE_IS_PASS0

static void one_path_fails(void **state)
{
    (void)state;
    // Primary copies of one window: 1 S0, 2 S1, 3 and 4 the restores, 5 S1 over S0. A failed copy has done
    // half.
    for (unsigned nth = 1; nth <= 5; nth++) {
        rig_start(LIVE0);
        struct buffer data = rig_buffer(0, 10 * BLOCK);
        kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, nth, 1, KREPLAY_DEVICE);
        struct rig_record *record = rig_dispatch(add_one, &data);
        assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
        assert_int_equal(record->outcome.executed_passes, 3);
        assert_int_equal(record->outcome.restore_retries, nth == 3 || nth == 4);
        assert_true(record->outcome.deterministic);
        assert_true(buffer_is(&data, 1));
        assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_COPY_FALLBACK), 1);
        rig_stop();
    }
}

static void primary_path_is_broken(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10 * BLOCK);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 1, 1000, KREPLAY_DEVICE);
    for (unsigned i = 1; i <= 5; i++) {
        struct rig_record *record = rig_dispatch(add_one, &data);
        assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
        assert_int_equal(record->outcome.restore_retries, 2);
        assert_true(buffer_is(&data, (uint8_t)i));
    }
    rig_stop();
}

static void laying_s1_over_s0_fails(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10 * BLOCK);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 5, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_DEVICE);
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
    assert_true(record->outcome.deterministic);
    assert_true(buffer_is(&data, 1));
    assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
    assert_true(buffer_is(&data, 2));
    rig_stop();
}

// Runs `body` in a child whose stderr is read into `text`; returns the wait status.
static int in_child(void (*body)(void), char *text, size_t bytes)
{
    int ends[2];
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); // cmocka turns it into a test failure
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        body();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; length + 1 < bytes && (got = read(ends[0], text + length, bytes - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void both_restores_fail(void)
{
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 3, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_FALLBACK, 1, 1, KREPLAY_IO);
    rig_run(&w);
}

static void a_restore_does_not_end(void)
{
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, 3, 1, KREPLAY_TIMEOUT); // the other path would do
    rig_run(&w);
}

static void wont_stop(void)
{
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 10);
    struct rig_window w = {0};
    rig_add(&w, add_one, &data);
    kr_fake_fail(rig.fake, KR_FAKE_PASS_END, 2, 1, KREPLAY_TIMEOUT);
    kr_fake_fail(rig.fake, KR_FAKE_CANCEL, 1, 1, KREPLAY_DEVICE);
    kr_fake_fail(rig.fake, KR_FAKE_DRAIN_AGENT, 2, 1, KREPLAY_TIMEOUT);
    rig_run(&w);
}

static void no_correct_way_to_go_on(void **state)
{
    (void)state;
    char text[2000];
    int status = in_child(both_restores_fail, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(
        strstr(text, "kreplay: memory of GPU 0 could not be put back over either path (input or output"));
    status = in_child(a_restore_does_not_end, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "(a bounded wait ran out)"));
    status = in_child(wont_stop, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "kreplay: a pass on GPU 0 can neither be cancelled nor waited for"));
    assert_non_null(strstr(text, "KREPLAY_DECLINE_KERNELS=+kernel keeps this kernel"));
}

// A late copy would have the last word: the other path is not tried, and its target is not given away.
static void a_copy_that_times_out_is_not_repeated(void **state)
{
    (void)state;
    static const unsigned steps[] = {1, 2, 5}; // S0, S1, S1 over S0
    for (unsigned i = 0; i < 3; i++) {
        rig_start(LIVE0);
        struct buffer data = rig_buffer(0, 10 * BLOCK);
        kr_fake_fail(rig.fake, KR_FAKE_COPY_PRIMARY, steps[i], 1, KREPLAY_TIMEOUT);
        struct rig_record *record = rig_dispatch(add_one, &data);
        assert_int_equal(record->outcome.kind, steps[i] == 5 ? KREPLAY_REPLAYED : KREPLAY_DECLINED);
        assert_int_equal(record->outcome.reason,
                         steps[i] == 5 ? KREPLAY_REASON_NONE : KREPLAY_REASON_SNAPSHOT_FAILED);
        assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_COPY_FALLBACK), 0);
        assert_true(buffer_is(&data, 1));
        assert_int_equal(kr_engine_give_back(rig.engine, 0), 0);
        assert_int_equal(rig_dispatch(add_one, &data)->outcome.kind, KREPLAY_REPLAYED);
        assert_true(buffer_is(&data, 2));
        assert_true(kr_engine_give_back(rig.engine, 0) > 0);
        rig_stop();
    }
}

// ---- Results that change from run to run
static uint8_t first_run[40 * BLOCK];
static unsigned wanders;

// Remembers what its first execution in a window, the live one, left in memory.
static void wander_and_tell(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *data = arg;
    wander(arg, exec);
    if (wanders++ == 0)
        memcpy(first_run, data->at, data->bytes);
}

static void result_changes(void **state)
{
    (void)state;
    for (unsigned mode = 0; mode < 4; mode++) {
        setenv("KREPLAY_RESTORE", mode & 1 ? "full" : "changed", 1);
        rig_start(mode & 2 ? LIVE0 : 0);
        struct buffer data = rig_buffer(0, 40 * BLOCK);
        rig.pass_count = 5;
        for (unsigned i = 0; i < 6; i++) {
            wanders = 0;
            struct rig_record *record = rig_dispatch(wander_and_tell, &data);
            assert_int_equal(record->outcome.kind, KREPLAY_REPLAYED);
            assert_int_equal(record->outcome.executed_passes, 5);
            assert_false(record->outcome.deterministic);
            assert_memory_equal(data.at, first_run, data.bytes);
            // From the second dispatch on every restore is preceded by a comparison of everything.
            unsigned restores = mode & 2 ? 4 : 5;
            unsigned compares = (mode & 1 ? 1 : 2) + (i > 0 ? restores : 0);
            assert_int_equal(record->outcome.compared_bytes, compares * 40 * BLOCK);
        }
        rig_stop();
    }
    unsetenv("KREPLAY_RESTORE");
}

static uint8_t inputs[16];
static unsigned input_count;

// Its result depends on what an earlier pass left in a block that the live run did not write.
static void leaves_traces(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *data = arg;
    uint8_t sum = 0;
    for (size_t i = 0; i < data->bytes; i += BLOCK)
        sum = (uint8_t)(sum + data->at[i]);
    inputs[input_count++] = sum;
    wander(arg, exec);
}

static void every_pass_has_the_same_input_once_known(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 8 * BLOCK);
    rig.pass_count = 6;
    input_count = 0;
    rig_dispatch(leaves_traces, &data);
    for (unsigned dispatch = 0; dispatch < 3; dispatch++) {
        input_count = 0;
        rig_dispatch(leaves_traces, &data);
        assert_int_equal(input_count, 6);
        for (unsigned i = 1; i < 6; i++)
            assert_int_equal(inputs[i], inputs[0]);
    }
    rig_stop();
}

// ---- Allocations that come and go
static void freed_between_windows(void **state)
{
    (void)state;
    rig_start(LIVE0);
    struct buffer data = rig_buffer(0, 100), gone = rig_buffer(0, 3 * BLOCK), other = rig_buffer(0, 50);
    rig_dispatch(add_one, &data);
    kr_fake_free(rig.fake, 0, gone.at);
    struct rig_record *record = rig_dispatch(add_one, &data);
    assert_int_equal(record->outcome.captured_regions, 2);
    assert_int_equal(record->outcome.captured_bytes, 150);
    struct buffer fresh = rig_buffer(0, 2 * BLOCK);
    unsigned allocs = kr_fake_calls(rig.fake, KR_FAKE_ALLOC);
    record = rig_dispatch(add_one, &fresh);
    assert_int_equal(kr_fake_calls(rig.fake, KR_FAKE_ALLOC), allocs + 1); // S0 from the idle buffer, S1 grows
    assert_true(buffer_is(&data, 2) && buffer_is(&fresh, 1) && buffer_is(&other, 0));
    rig_stop();
}

static void same_address_new_generation(void **state)
{
    (void)state;
    static uint8_t memory[BLOCK];
    rig_start(LIVE0);
    struct buffer data = {memory, sizeof memory};
    memset(memory, 0, sizeof memory);
    assert_int_equal(kr_fake_adopt(rig.fake, 0, memory, sizeof memory, KR_MEMORY_DEVICE), 0);
    rig_dispatch(add_one, &data);
    kr_fake_drop(rig.fake, 0, memory);
    memset(memory, 50, sizeof memory);
    assert_int_equal(kr_fake_adopt(rig.fake, 0, memory, sizeof memory, KR_MEMORY_DEVICE), 0);
    rig_dispatch(add_one, &data);
    assert_true(buffer_is(&data, 51));
    rig_stop();
}

static uint8_t reused[2 * BLOCK];
static uint32_t reuse_pass;
static bool reuse_again;

// The tool frees memory in the window, and perhaps gets the same address again.
static void free_inside(kreplay_phase phase, kreplay_pass *pass)
{
    if (phase != KREPLAY_EXIT || pass->current_pass != reuse_pass)
        return;
    kr_fake_drop(rig.fake, 0, reused);
    memset(reused, 99, sizeof reused);
    if (reuse_again)
        assert_int_equal(kr_fake_adopt(rig.fake, 0, reused, sizeof reused, KR_MEMORY_DEVICE), 0);
}

static void write_both(void *arg, struct kr_fake_exec *exec)
{
    struct buffer *data = arg;
    add_one(arg, exec);
    if (reused[0] != 99) // it no longer knows memory that was freed
        reused[0]++;
    (void)data;
}

static void freed_in_a_window(void **state)
{
    (void)state;
    for (unsigned again = 0; again < 2; again++) {
        for (reuse_pass = 0; reuse_pass < 3; reuse_pass++) {
            rig_start(LIVE0);
            struct buffer data = rig_buffer(0, 100);
            memset(reused, 1, sizeof reused);
            reuse_again = again;
            rig.on_pass = free_inside;
            assert_int_equal(kr_fake_adopt(rig.fake, 0, reused, sizeof reused, KR_MEMORY_DEVICE), 0);
            struct rig_record *record = rig_dispatch(write_both, &data);
            assert_true(record->outcome.reentrant);
            assert_true(buffer_is(&data, 1));
            struct buffer new = {reused, sizeof reused};
            assert_true(buffer_is(&new, 99)); // neither restored nor put back
            rig_stop();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_path_fails),          cmocka_unit_test(primary_path_is_broken),
        cmocka_unit_test(laying_s1_over_s0_fails), cmocka_unit_test(no_correct_way_to_go_on),
        cmocka_unit_test(result_changes),          cmocka_unit_test(every_pass_has_the_same_input_once_known),
        cmocka_unit_test(freed_between_windows),   cmocka_unit_test(same_address_new_generation),
        cmocka_unit_test(freed_in_a_window),       cmocka_unit_test(a_copy_that_times_out_is_not_repeated),
    };
    return cmocka_run_group_tests_name("engine.restore", tests, NULL, NULL);
}
