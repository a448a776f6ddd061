// SPDX-License-Identifier: MIT
// How a queue's thread waits for something that only changes a word in memory.
#ifndef SG_BACKOFF_H
#define SG_BACKOFF_H

// Zero-initialise it whenever there was something to do.
struct sg_backoff {
    unsigned yields;
    long slept_ns; // grows until the sleeps are as long as they get
};

// First yields the processor some hundred times, which keeps the latency of a busy program at microseconds.
// Then sleeps for 1/32 of the time that it has slept already, between 20 us and 1 ms: what is waited for is
// seen no later than about 3% of the pause before it, and a queue long idle costs about one percent of a
// processor.
void sg_backoff_wait(struct sg_backoff *backoff);

// What the thread of a queue does first: its name, and sleeps as short as they are asked for.
void sg_backoff_thread(const char *name);

#endif
