// SPDX-License-Identifier: MIT
// Events: reset modes, time-outs, waits on one, any and all, destruction under a waiter, and races of many
// threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softgpu/thunk/hsakmt_api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define LONG_MS 60000u

static int open_driver(void **state)
{
    (void)state;
    return hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS;
}

static int close_driver(void **state)
{
    (void)state;
    return hsaKmtCloseKFD() != HSAKMT_STATUS_SUCCESS;
}

static HsaEvent *create(HSA_EVENTTYPE type, bool manual, bool signaled)
{
    HsaEventDescriptor description = {.EventType = type, .NodeId = 1};
    HsaEvent *event = NULL;
    assert_int_equal(hsaKmtCreateEvent(&description, manual, signaled, &event), HSAKMT_STATUS_SUCCESS);
    assert_non_null(event);
    assert_int_not_equal(event->EventId, 0);
    return event;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void auto_reset_is_consumed_by_one_wait(void **state)
{
    (void)state;
    HsaEvent *e = create(HSA_EVENTTYPE_SIGNAL, false, false);
    assert_int_equal(hsaKmtWaitOnEvent(e, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    assert_int_equal(hsaKmtSetEvent(e), 0);
    assert_int_equal(hsaKmtQueryEventState(e), 0);
    assert_int_equal(hsaKmtWaitOnEvent(e, LONG_MS), 0);
    assert_int_equal(hsaKmtWaitOnEvent(e, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
}

static void manual_reset_stays_until_reset(void **state)
{
    (void)state;
    HsaEvent *e = create(HSA_EVENTTYPE_SIGNAL, true, true);
    assert_int_equal(hsaKmtWaitOnEvent(e, LONG_MS), 0);
    assert_int_equal(hsaKmtWaitOnEvent(e, LONG_MS), 0);
    assert_int_equal(hsaKmtResetEvent(e), 0);
    assert_int_equal(hsaKmtWaitOnEvent(e, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void timeout_is_not_early(void **state)
{
    (void)state;
    HsaEvent *e = create(HSA_EVENTTYPE_SIGNAL, false, false);
    uint64_t before = now_ms();
    assert_int_equal(hsaKmtWaitOnEvent(e, 30), HSAKMT_STATUS_WAIT_TIMEOUT);
    assert_true(now_ms() - before >= 29);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
}

static void any_and_all(void **state)
{
    (void)state;
    HsaEvent *e[3];
    for (unsigned i = 0; i < 3; i++)
        e[i] = create(HSA_EVENTTYPE_SIGNAL, true, false);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(e, 3, false, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
    hsaKmtSetEvent(e[2]);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(e, 3, false, LONG_MS), 0);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(e, 3, true, 1), HSAKMT_STATUS_WAIT_TIMEOUT);
    hsaKmtSetEvent(e[0]);
    hsaKmtSetEvent(e[1]);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(e, 3, true, LONG_MS), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(hsaKmtDestroyEvent(e[i]), 0);
}

struct waiting_thread {
    HsaEvent **events;
    HSAuint32 n;
    bool all;
    atomic_int started;
    HSAKMT_STATUS status;
    pthread_t thread;
};

static void *wait_on_them(void *arg)
{
    struct waiting_thread *w = arg;
    atomic_store(&w->started, 1);
    w->status = hsaKmtWaitOnMultipleEvents(w->events, w->n, w->all, HSA_EVENTTIMEOUT_INFINITE);
    return NULL;
}

static void start(struct waiting_thread *w)
{
    assert_int_equal(pthread_create(&w->thread, NULL, wait_on_them, w), 0);
    while (!w->started)
        pause_shortly();
    pause_shortly(); // most likely it sleeps now; either way the result must be the same
}

static void set_releases_a_sleeper(void **state)
{
    (void)state;
    HsaEvent *e = create(HSA_EVENTTYPE_SIGNAL, false, false);
    struct waiting_thread w = {.events = &e, .n = 1};
    start(&w);
    sg_event_raise(e->EventId);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, 0);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
}

// The setter comes before or after the sleeper of a wait for all: what was set in between counts.
static void all_collects_events_over_time(void **state)
{
    (void)state;
    HsaEvent *e[2] = {create(HSA_EVENTTYPE_SIGNAL, false, false), create(HSA_EVENTTYPE_SIGNAL, false, false)};
    struct waiting_thread w = {.events = e, .n = 2, .all = true};
    start(&w);
    hsaKmtSetEvent(e[1]);
    pause_shortly();
    hsaKmtSetEvent(e[0]);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.status, 0);
    hsaKmtDestroyEvent(e[0]);
    hsaKmtDestroyEvent(e[1]);
}

static void destroying_an_event_ends_its_waits(void **state)
{
    (void)state;
    HsaEvent *e[2] = {create(HSA_EVENTTYPE_SIGNAL, false, false), create(HSA_EVENTTYPE_SIGNAL, false, false)};
    HsaEvent *handles[2] = {e[0], e[1]};
    struct waiting_thread w = {.events = handles, .n = 2};
    start(&w);
    assert_int_equal(hsaKmtDestroyEvent(e[0]), 0);
    pthread_join(w.thread, NULL);
    // The thread slept (failure) or came too late to find the event (bad handle).
    assert_true(w.status == HSAKMT_STATUS_WAIT_FAILURE || w.status == HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(hsaKmtDestroyEvent(e[1]), 0);
}

static void memory_fault_fills_the_memory_event(void **state)
{
    (void)state;
    const struct sg_gpu *gpu = sg_gpu_of_node(1);
    assert_int_equal(sg_event_memory_fault(gpu, 0x1234000), -1); // nobody would hear it
    HsaEvent *e = create(HSA_EVENTTYPE_MEMORY, true, false);
    assert_int_equal(sg_event_memory_fault(gpu, 0x1234000), 0);
    assert_int_equal(hsaKmtWaitOnEvent(e, LONG_MS), 0);
    assert_int_equal(e->EventData.EventData.MemoryAccessFault.NodeId, 1);
    assert_int_equal(e->EventData.EventData.MemoryAccessFault.VirtualAddress, 0x1234000);
    assert_int_equal(e->EventData.EventData.MemoryAccessFault.Failure.NotPresent, 1);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
    assert_int_equal(sg_event_memory_fault(gpu, 0x1234000), -1);
}

static void bad_handles_are_refused(void **state)
{
    (void)state;
    HsaEvent *e = create(HSA_EVENTTYPE_SIGNAL, false, false);
    HsaEvent copy = *e;
    assert_int_equal(hsaKmtSetEvent(&copy), HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(hsaKmtSetEvent(NULL), HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(hsaKmtWaitOnEvent(NULL, 0), HSAKMT_STATUS_INVALID_HANDLE);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(NULL, 1, true, 0), HSAKMT_STATUS_INVALID_PARAMETER);
    assert_int_equal(hsaKmtWaitOnMultipleEvents(&e, 0, true, 0), HSAKMT_STATUS_INVALID_PARAMETER);
    sg_event_raise(0);
    sg_event_raise(UINT32_MAX);
    assert_int_equal(hsaKmtDestroyEvent(e), 0);
}

static void ids_are_unique_and_run_out(void **state)
{
    (void)state;
    static HsaEvent *events[5000];
    static bool seen[5000];
    HsaEventDescriptor description = {.EventType = HSA_EVENTTYPE_SIGNAL};
    HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
    unsigned n = 0;
    while (n < 5000 && !status)
        status = hsaKmtCreateEvent(&description, false, false, &events[n++]);
    assert_int_equal(status, HSAKMT_STATUS_OUT_OF_RESOURCES);
    n--;
    assert_int_equal(n, 4096);
    for (unsigned i = 0; i < n; i++) {
        assert_true(events[i]->EventId < 5000);
        assert_false(seen[events[i]->EventId]);
        seen[events[i]->EventId] = true;
        assert_int_not_equal(events[i]->EventData.HWData2, 0);
    }
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(hsaKmtDestroyEvent(events[i]), 0);
}

// Ping-pong of two threads over two auto-reset events: a lost wake-up hangs it, a doubled one breaks the
// count.
struct rally {
    HsaEvent *ball[2];
    atomic_uint shots;
};

static void *return_balls(void *arg)
{
    struct rally *r = arg;
    for (unsigned i = 0; i < 2000; i++) {
        if (hsaKmtWaitOnEvent(r->ball[0], LONG_MS))
            return "lost";
        atomic_fetch_add(&r->shots, 1);
        hsaKmtSetEvent(r->ball[1]);
    }
    return NULL;
}

static void rally_loses_no_ball(void **state)
{
    (void)state;
    struct rally r = {
        .ball = {create(HSA_EVENTTYPE_SIGNAL, false, false), create(HSA_EVENTTYPE_SIGNAL, false, false)}};
    pthread_t thread;
    void *result = "";
    assert_int_equal(pthread_create(&thread, NULL, return_balls, &r), 0);
    for (unsigned i = 0; i < 2000; i++) {
        sg_event_raise(r.ball[0]->EventId);
        assert_int_equal(hsaKmtWaitOnMultipleEvents(&r.ball[1], 1, i % 2, LONG_MS), 0);
        assert_int_equal(r.shots, i + 1);
    }
    pthread_join(thread, &result);
    assert_null(result);
    hsaKmtDestroyEvent(r.ball[0]);
    hsaKmtDestroyEvent(r.ball[1]);
}

static void *churn(void *arg)
{
    atomic_uint *last_id = arg;
    HsaEventDescriptor description = {.EventType = HSA_EVENTTYPE_SIGNAL};
    for (unsigned i = 0; i < 500; i++) {
        HsaEvent *e = NULL;
        if (hsaKmtCreateEvent(&description, false, true, &e))
            return "create";
        sg_event_raise(atomic_exchange(last_id, e->EventId)); // of another thread, perhaps gone
        if (hsaKmtWaitOnEvent(e, LONG_MS))
            return "wait";
        hsaKmtDestroyEvent(e);
    }
    return NULL;
}

static void many_threads_create_raise_and_destroy(void **state)
{
    (void)state;
    pthread_t threads[8];
    atomic_uint last_id = 0;
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &last_id), 0);
    for (unsigned i = 0; i < 8; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_reset_is_consumed_by_one_wait),
        cmocka_unit_test(manual_reset_stays_until_reset),
        cmocka_unit_test(timeout_is_not_early),
        cmocka_unit_test(any_and_all),
        cmocka_unit_test(set_releases_a_sleeper),
        cmocka_unit_test(all_collects_events_over_time),
        cmocka_unit_test(destroying_an_event_ends_its_waits),
        cmocka_unit_test(memory_fault_fills_the_memory_event),
        cmocka_unit_test(bad_handles_are_refused),
        cmocka_unit_test(ids_are_unique_and_run_out),
        cmocka_unit_test(rally_loses_no_ball),
        cmocka_unit_test(many_threads_create_raise_and_destroy),
    };
    return cmocka_run_group_tests_name("events", tests, open_driver, close_driver);
}
