// SPDX-License-Identifier: MIT
// Counts dispatches under way and wakes whoever sleeps until there are none.
#include "hsa/flight.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static _Atomic uint64_t under_way, sleepers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t landed = PTHREAD_COND_INITIALIZER;

void kr_hsa_flight_begin(void)
{
    atomic_fetch_add(&under_way, 1);
}

void kr_hsa_flight_end(void)
{
    if (atomic_fetch_sub(&under_way, 1) != 1 || atomic_load(&sleepers) == 0)
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&landed);
    pthread_mutex_unlock(&lock);
}

bool kr_hsa_in_flight(void)
{
    return atomic_load(&under_way) > 0;
}

void kr_hsa_flight_rest(uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec += (long)(ns % 1000000000u);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&sleepers, 1);
    if (kr_hsa_in_flight())
        pthread_cond_timedwait(&landed, &lock, &until);
    atomic_fetch_sub(&sleepers, 1);
    pthread_mutex_unlock(&lock);
}
