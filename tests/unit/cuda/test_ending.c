// SPDX-License-Identifier: MIT
// The end of the program: with nothing under way, with a window open, and in a child.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cuda/ending.h"
#include "fake_cuda.h"
#include "increments.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_NS UINT64_C(60000000000)

static uint64_t *memory;

static void launch(void)
{
    void *arguments[] = {&memory};
    fake_launch(&increments, NULL, arguments);
}

static void test_nothing_under_way(void **state)
{
    (void)state;
    memory = fake_alloc("cuMemAlloc_v2", 64);
    launch();
    assert_true(kr_cuda_end(&fake.cuda, 0));
    launch();
    assert_int_equal(fake.record_count, 1);
    assert_int_equal(*memory, 2);
}

static bool over;

static void end_inside(void)
{
    fake.passing = NULL;
    over = kr_cuda_end(&fake.cuda, 1000000);
}

// exit() from a tool's callback, for example. The window ends as it would have.
static void test_window_that_does_not_end(void **state)
{
    (void)state;
    memory = fake_alloc("cuMemAlloc_v2", 64);
    over = true;
    fake.passing = end_inside;
    launch();
    assert_false(over);
    assert_int_equal(*memory, 1);
    assert_int_equal(fake.outcome[0].kind, KREPLAY_REPLAYED);
    assert_int_equal(fake.cuda.windows, 0);
}

static _Atomic bool gates_hold;

static void *end_elsewhere(void *unused)
{
    (void)unused;
    over = kr_cuda_end(&fake.cuda, LONG_NS);
    return NULL;
}

static pthread_t ender;

static void end_in_a_thread(void)
{
    struct kr_free_params params = {NULL};
    fake.passing = NULL;
    pthread_create(&ender, NULL, end_elsewhere, NULL);
    while (!fake.cuda.ending)
        usleep(1000);
    // While it waits, calls are not let through unseen, and launches are recorded.
    fake_call("cuMemcpyHtoD_v2", &params, CUDA_SUCCESS);
    gates_hold = fake.cuda.active && fake.entered == 1;
}

static void test_window_that_ends(void **state)
{
    (void)state;
    memory = fake_alloc("cuMemAlloc_v2", 64);
    over = false;
    fake.passing = end_in_a_thread;
    launch();
    pthread_join(ender, NULL);
    assert_true(over);
    assert_true(gates_hold);
    assert_false(fake.cuda.active);
    assert_int_equal(*memory, 1);
}

static void test_launch_while_it_ends(void **state)
{
    (void)state;
    memory = fake_alloc("cuMemAlloc_v2", 64);
    fake.cuda.ending = true;
    launch();
    assert_int_equal(fake.outcome[0].reason, KREPLAY_REASON_PROGRAM_ENDING);
    assert_int_equal(*memory, 1);
    assert_int_equal(fake.cuda.windows, 0);
}

// It must not complete its parent's log.
static void test_child(void **state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(kr_cuda_end(&fake.cuda, 0) || fake.cuda.active);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(kr_cuda_end(&fake.cuda, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, increments_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_under_way),
        TEST(test_window_that_does_not_end),
        TEST(test_window_that_ends),
        TEST(test_launch_while_it_ends),
        TEST(test_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
