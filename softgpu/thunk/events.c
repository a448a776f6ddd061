// SPDX-License-Identifier: MIT
// Events of the driver interface: what a signal's interrupt raises and what the runtime's threads sleep on.
//
// Rules of the kernel driver that ROCr relies on: setting an event releases every thread that waits at that
// moment; an auto-reset event stays signalled only if nobody was waiting, and then the next wait consumes it.
// A wait is made of links, one an event, so that a set reaches exactly those who wait and wakes nobody else.
// Who knows an event's age when it last looked, as newer runtimes do, misses no set between two waits: the wait ends at
// once when the age is another by then. Age 0 is no age.
#include "softgpu/mem/mem.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MAX_EVENTS 4096 // as many as the kernel driver gives a process

struct link {
    struct waiter *waiter;
    struct link *next;
    bool released;  // the event was set, or found signalled
    bool destroyed; // the event went away while waited for
};

struct waiter {
    pthread_cond_t wake;
};

struct event {
    HsaEvent api; // first: callers hold a pointer to it
    bool manual_reset, signaled;
    uint64_t age; // counts how often it was set, from 1 on
    struct link *waiting;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards all events
static struct event *events[MAX_EVENTS + 1];             // by id; id 0 is never given
static uint32_t next_id = 1;                             // where the search for a free id starts
static struct event *memory_event;                       // the last created of type MEMORY
// Where a signal's completion leaves the event id; kernels that complete signals write here, too.
static _Alignas(4096) uint64_t mailboxes[(MAX_EVENTS + 512) / 512 * 512];

int sg_events_open(void)
{
    return sg_mem_register(mailboxes, sizeof(mailboxes), 0);
}

// Called with the lock held.
static uint32_t free_id(void)
{
    for (uint32_t tried = 0; tried < MAX_EVENTS; tried++) {
        uint32_t id = next_id;
        next_id = next_id == MAX_EVENTS ? 1 : next_id + 1;
        if (!events[id])
            return id;
    }
    return 0;
}

// Called with the lock held.
static void set(struct event *ev)
{
    ev->age++;
    ev->signaled = ev->manual_reset || !ev->waiting;
    for (struct link *l = ev->waiting; l; l = l->next) {
        l->released = true;
        pthread_cond_signal(&l->waiter->wake);
    }
}

// Called with the lock held: the event behind a pointer that a caller passes, NULL if it is none of ours.
static struct event *checked(const HsaEvent *api)
{
    if (!api || api->EventId == 0 || api->EventId > MAX_EVENTS)
        return NULL;
    struct event *ev = events[api->EventId];
    return ev && &ev->api == api ? ev : NULL;
}

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *EventDesc, bool ManualReset, bool IsSignaled,
                                HsaEvent **Event)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!EventDesc || !Event || EventDesc->EventType >= HSA_EVENTTYPE_MAXID)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    struct event *ev = calloc(1, sizeof(*ev));
    if (!ev)
        return HSAKMT_STATUS_NO_MEMORY;

    pthread_mutex_lock(&lock);
    uint32_t id = free_id();
    if (!id) {
        pthread_mutex_unlock(&lock);
        free(ev);
        return HSAKMT_STATUS_OUT_OF_RESOURCES;
    }
    ev->manual_reset = ManualReset;
    ev->signaled = IsSignaled;
    ev->age = 1;
    ev->api.EventId = id;
    ev->api.EventData.EventType = EventDesc->EventType;
    ev->api.EventData.EventData.SyncVar = EventDesc->SyncVar;
    ev->api.EventData.HWData2 = (uint64_t)(uintptr_t)&mailboxes[id];
    ev->api.EventData.HWData3 = id;
    events[id] = ev;
    if (EventDesc->EventType == HSA_EVENTTYPE_MEMORY)
        memory_event = ev;
    pthread_mutex_unlock(&lock);
    *Event = &ev->api;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *Event)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    pthread_mutex_lock(&lock);
    struct event *ev = checked(Event);
    if (ev) {
        events[ev->api.EventId] = NULL;
        if (memory_event == ev)
            memory_event = NULL;
        for (struct link *l = ev->waiting; l; l = l->next) {
            l->destroyed = true;
            pthread_cond_signal(&l->waiter->wake);
        }
    }
    pthread_mutex_unlock(&lock);
    free(ev);
    return ev ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *Event)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    pthread_mutex_lock(&lock);
    struct event *ev = checked(Event);
    if (ev)
        set(ev);
    pthread_mutex_unlock(&lock);
    return ev ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *Event)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    pthread_mutex_lock(&lock);
    struct event *ev = checked(Event);
    if (ev)
        ev->signaled = false;
    pthread_mutex_unlock(&lock);
    return ev ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *Event)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    pthread_mutex_lock(&lock);
    struct event *ev = checked(Event);
    bool signaled = ev && ev->signaled;
    pthread_mutex_unlock(&lock);
    if (!ev)
        return HSAKMT_STATUS_INVALID_HANDLE;
    return signaled ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

// The absolute time at which a wait of `ms` ends.
static struct timespec deadline_after(HSAuint32 ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

// Called with the lock held. True when the wait is over; *status says how.
static bool is_over(const struct link *links, HSAuint32 n, bool all, HSAKMT_STATUS *status)
{
    HSAuint32 released = 0;
    for (HSAuint32 i = 0; i < n; i++) {
        if (links[i].destroyed) {
            *status = HSAKMT_STATUS_WAIT_FAILURE;
            return true;
        }
        released += links[i].released;
    }
    *status = HSAKMT_STATUS_SUCCESS;
    return all ? released == n : released > 0;
}

// Called with the lock held. Takes what is signalled already, or was set since `age` was read; auto-reset events are
// consumed by it.
static void take_signaled(struct event *ev, struct link *link, uint64_t age)
{
    link->released = ev->signaled || (age && age != ev->age);
    if (ev->signaled)
        ev->signaled = ev->manual_reset;
}

// Called with the lock held.
static void unlink_from(struct event *ev, const struct link *link)
{
    struct link **at = &ev->waiting;
    while (*at && *at != link)
        at = &(*at)->next;
    if (*at)
        *at = link->next;
}

// Called with the lock held and all events checked; sleeps until the wait is over or time runs out.
static HSAKMT_STATUS sleep_on(struct waiter *self, struct link *links, HSAuint32 n, bool all, HSAuint32 ms)
{
    HSAKMT_STATUS status;
    struct timespec deadline = deadline_after(ms);
    int rc = 0;
    while (!is_over(links, n, all, &status)) {
        if (rc == ETIMEDOUT || ms == HSA_EVENTTIMEOUT_IMMEDIATE)
            return HSAKMT_STATUS_WAIT_TIMEOUT;
        if (ms == HSA_EVENTTIMEOUT_INFINITE)
            pthread_cond_wait(&self->wake, &lock);
        else
            rc = pthread_cond_timedwait(&self->wake, &lock, &deadline);
    }
    return status;
}

// `links` has room for n, and so has `ages` if it is not NULL: ages known before, then those at the end. The events
// were destroyed in between where link.destroyed says so, and must not be touched.
static HSAKMT_STATUS wait_on(HsaEvent *const *list, struct link *links, HSAuint32 n, bool all, HSAuint32 ms,
                             uint64_t *ages)
{
    struct waiter self;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&self.wake, &attr);
    pthread_condattr_destroy(&attr);

    HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_HANDLE;
    pthread_mutex_lock(&lock);
    for (HSAuint32 i = 0; i < n; i++) {
        if (!checked(list[i]))
            goto out;
    }
    for (HSAuint32 i = 0; i < n; i++) {
        struct event *ev = checked(list[i]);
        links[i] = (struct link){.waiter = &self, .next = ev->waiting};
        take_signaled(ev, &links[i], ages ? ages[i] : 0);
        ev->waiting = &links[i];
    }
    status = sleep_on(&self, links, n, all, ms);
    for (HSAuint32 i = 0; i < n; i++) {
        if (links[i].destroyed)
            continue;
        struct event *ev = checked(list[i]);
        unlink_from(ev, &links[i]);
        if (ages && ages[i])
            ages[i] = ev->age;
    }
out:
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&self.wake);
    return status;
}

// Not in the headers before release 5.6.
#pragma GCC visibility push(default)
HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *Event, HSAuint32 Milliseconds, uint64_t *event_age);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *Events[], HSAuint32 NumEvents, bool WaitOnAll,
                                             HSAuint32 Milliseconds, uint64_t *event_age);
#pragma GCC visibility pop

HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *Event, HSAuint32 Milliseconds, uint64_t *event_age)
{
    struct link link;
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return wait_on(&Event, &link, 1, true, Milliseconds, event_age);
}

HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *Event, HSAuint32 Milliseconds)
{
    return hsaKmtWaitOnEvent_Ext(Event, Milliseconds, NULL);
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *Events[], HSAuint32 NumEvents, bool WaitOnAll,
                                             HSAuint32 Milliseconds, uint64_t *event_age)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!Events || !NumEvents)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    struct link *links = calloc(NumEvents, sizeof(*links));
    if (!links)
        return HSAKMT_STATUS_NO_MEMORY;
    HSAKMT_STATUS status = wait_on(Events, links, NumEvents, WaitOnAll, Milliseconds, event_age);
    free(links);
    return status;
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *Events[], HSAuint32 NumEvents, bool WaitOnAll,
                                         HSAuint32 Milliseconds)
{
    return hsaKmtWaitOnMultipleEvents_Ext(Events, NumEvents, WaitOnAll, Milliseconds, NULL);
}

void sg_event_raise(uint32_t event_id)
{
    if (event_id == 0 || event_id > MAX_EVENTS)
        return;
    pthread_mutex_lock(&lock);
    if (events[event_id])
        set(events[event_id]);
    pthread_mutex_unlock(&lock);
}

int sg_event_memory_fault(const struct sg_gpu *gpu, uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct event *ev = memory_event;
    if (ev) {
        ev->api.EventData.EventData.MemoryAccessFault =
            (HsaMemoryAccessFault){.NodeId = gpu->node_id,
                                   .VirtualAddress = address,
                                   .Failure = {.NotPresent = 1},
                                   .Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS};
        set(ev);
    }
    pthread_mutex_unlock(&lock);
    return ev ? 0 : -1;
}
