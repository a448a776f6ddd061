// SPDX-License-Identifier: MIT
// Owns how often is asked: densely while what is waited for is probably short, then with pauses.
#include "cuda/poll.h"

#include "engine/clock.h"
#include "kreplay/kreplay.h"

#include <sched.h>
#include <time.h>

#define SPIN_NS  UINT64_C(1000000) // polls are dense this long
#define PAUSE_NS 50000L            // and then have a pause

static int poll(CUresult (*ask)(const struct kr_driver *driver, const void *what),
                const struct kr_driver *driver, const void *what, uint64_t bound_ns)
{
    uint64_t start = kr_clock_ns();
    for (;;) {
        CUresult result = ask(driver, what);
        if (result == CUDA_SUCCESS)
            return 0;
        if (result != CUDA_ERROR_NOT_READY)
            return KREPLAY_DEVICE;
        uint64_t spent = kr_clock_ns() - start;
        if (spent > bound_ns)
            return KREPLAY_TIMEOUT;
        if (spent < SPIN_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
}

static CUresult ask_event(const struct kr_driver *driver, const void *event)
{
    return driver->event_query((CUevent)event);
}

static CUresult ask_stream(const struct kr_driver *driver, const void *stream)
{
    return driver->stream_query((CUstream)stream);
}

int kr_poll_event(const struct kr_driver *driver, CUevent event, uint64_t bound_ns)
{
    return poll(ask_event, driver, event, bound_ns);
}

int kr_poll_stream(const struct kr_driver *driver, CUstream stream, uint64_t bound_ns)
{
    return poll(ask_stream, driver, stream, bound_ns);
}
