// SPDX-License-Identifier: MIT
// The life of a queue's thread, whatever its packets are: started, suspended and resumed by the driver, stood
// still by an error, stopped.
#ifndef SG_QUEUE_THREAD_H
#define SG_QUEUE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct sg_queue_thread {
    pthread_t thread;
    volatile int stop;    // the thread is to end; it looks without the lock while there is nothing to do
    pthread_mutex_t lock; // guards the rest
    pthread_cond_t changed;
    bool suspended, failed;
};

// Runs `body(arg)` on a new thread. 0 or -errno.
int sg_queue_thread_start(struct sg_queue_thread *thread, void *(*body)(void *), void *arg);
// Waits until it has ended.
void sg_queue_thread_stop(struct sg_queue_thread *thread);

void sg_queue_thread_suspend(struct sg_queue_thread *thread);
void sg_queue_thread_resume(struct sg_queue_thread *thread);

// For the thread itself: waits while it is suspended or failed. False when it is to end.
bool sg_queue_thread_may_take(struct sg_queue_thread *thread);
// No packet is taken any more.
void sg_queue_thread_fail(struct sg_queue_thread *thread);
// True when it is to end.
bool sg_queue_thread_ends(const struct sg_queue_thread *thread);

#endif
