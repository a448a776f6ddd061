// SPDX-License-Identifier: MIT
// Waiting of the queues' threads.
#include "softgpu/cp/backoff.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

static const struct {
    unsigned yields; // waits that only yield
    long min_sleep_ns, max_sleep_ns, fraction;
} idle = {.yields = 300, .min_sleep_ns = 20000, .max_sleep_ns = 1000000, .fraction = 32};

void sg_backoff_wait(struct sg_backoff *backoff)
{
    if (backoff->yields < idle.yields) {
        backoff->yields++;
        sched_yield();
        return;
    }
    long ns = backoff->slept_ns / idle.fraction;
    if (ns < idle.min_sleep_ns)
        ns = idle.min_sleep_ns;
    if (ns > idle.max_sleep_ns)
        ns = idle.max_sleep_ns;
    else
        backoff->slept_ns += ns;
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

void sg_backoff_thread(const char *name)
{
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_TIMERSLACK, 1000ul); // the default of 50 us would triple the shortest sleep
}
