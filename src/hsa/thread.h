// SPDX-License-Identifier: MIT
// Starts kreplay's own threads: the program's signals are the program's threads' business.
#ifndef KR_HSA_THREAD_H
#define KR_HSA_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

static inline bool kr_hsa_thread_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

#endif
