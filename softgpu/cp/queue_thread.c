// SPDX-License-Identifier: MIT
// One lock and one condition for each queue's thread; a thread without work does not touch them.
#include "softgpu/cp/queue_thread.h"

#include <signal.h>

static int create(struct sg_queue_thread *thread, void *(*body)(void *), void *arg)
{
    // Signals of the program must not be handled on this thread, whose stack and locks it knows nothing of.
    // Faults of the interpreter itself stay deliverable.
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        sigdelset(&blocked, kept[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int rc = pthread_create(&thread->thread, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

static void forget(struct sg_queue_thread *thread)
{
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->lock);
}

int sg_queue_thread_start(struct sg_queue_thread *thread, void *(*body)(void *), void *arg)
{
    *thread = (struct sg_queue_thread){.stop = 0};
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->changed, NULL);
    int rc = create(thread, body, arg);
    if (rc)
        forget(thread);
    return rc;
}

void sg_queue_thread_stop(struct sg_queue_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    __atomic_store_n(&thread->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->thread, NULL);
    forget(thread);
}

static void set(struct sg_queue_thread *thread, bool *what, bool value)
{
    pthread_mutex_lock(&thread->lock);
    *what = value;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

void sg_queue_thread_suspend(struct sg_queue_thread *thread)
{
    set(thread, &thread->suspended, true);
}

void sg_queue_thread_resume(struct sg_queue_thread *thread)
{
    set(thread, &thread->suspended, false);
}

void sg_queue_thread_fail(struct sg_queue_thread *thread)
{
    set(thread, &thread->failed, true);
}

bool sg_queue_thread_ends(const struct sg_queue_thread *thread)
{
    return __atomic_load_n(&thread->stop, __ATOMIC_RELAXED);
}

bool sg_queue_thread_may_take(struct sg_queue_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    while ((thread->suspended || thread->failed) && !sg_queue_thread_ends(thread))
        pthread_cond_wait(&thread->changed, &thread->lock);
    bool go_on = !sg_queue_thread_ends(thread);
    pthread_mutex_unlock(&thread->lock);
    return go_on;
}
