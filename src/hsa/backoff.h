// SPDX-License-Identifier: MIT
// Waiting for something that only changes a word in memory: a few turns of the processor, then naps that
// grow.
#ifndef KR_HSA_BACKOFF_H
#define KR_HSA_BACKOFF_H

#include <sched.h>
#include <time.h>

struct kr_backoff {
    unsigned turns;
};

static inline void kr_backoff_wait(struct kr_backoff *b)
{
    enum { YIELDS = 50, FIRST_NS = 20000, LAST_NS = 500000 };
    if (b->turns++ < YIELDS) {
        sched_yield();
        return;
    }
    unsigned naps = b->turns - YIELDS;
    long ns = naps < 8 ? FIRST_NS : (long)FIRST_NS * (naps / 8 + 1);
    const struct timespec nap = {0, ns < LAST_NS ? ns : LAST_NS};
    nanosleep(&nap, NULL);
}

#endif
