// SPDX-License-Identifier: MIT
// Signal completion. The order matters: as soon as the value changes the host may destroy or reuse the
// signal, so its mailbox and event id are read before, and its memory is not touched after.
#include "softgpu/cp/signal.h"
#include "softgpu/thunk/gpu.h"

#include <sys/uio.h>
#include <unistd.h>

static amd_signal_t *signal_of(hsa_signal_t signal)
{
    return (amd_signal_t *)(uintptr_t)signal.handle;
}

// The interrupt of a signal: the event's id goes to the mailbox, then the event is raised. Busy-wait signals
// have none.
static void interrupt(uint64_t mailbox, uint32_t event_id)
{
    if (!mailbox)
        return;
    __atomic_store_n((uint64_t *)(uintptr_t)mailbox, event_id, __ATOMIC_RELEASE);
    sg_event_raise(event_id);
}

// By a copy that the kernel makes, which fails instead of faulting.
static bool read_memory(uint64_t address, void *to, size_t bytes)
{
    static _Thread_local pid_t self; // no thread of ours survives a fork
    if (!self)
        self = getpid();
    const struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv(self, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool sg_signal_is_there(hsa_signal_t signal)
{
    amd_signal_t copy;
    uint64_t mail;
    if (!signal.handle)
        return true;
    if (signal.handle % _Alignof(amd_signal_t) || !read_memory(signal.handle, &copy, sizeof(copy)))
        return false;
    const uint64_t mailbox = copy.event_mailbox_ptr;
    return !mailbox || (mailbox % sizeof(mail) == 0 && read_memory(mailbox, &mail, sizeof(mail)));
}

int64_t sg_signal_load(hsa_signal_t signal)
{
    return __atomic_load_n(&signal_of(signal)->value, __ATOMIC_ACQUIRE);
}

void sg_signal_store(hsa_signal_t signal, int64_t value)
{
    if (!signal.handle)
        return;
    amd_signal_t *s = signal_of(signal);
    uint64_t mailbox = s->event_mailbox_ptr;
    uint32_t event_id = s->event_id;
    __atomic_store_n(&s->value, value, __ATOMIC_RELEASE);
    interrupt(mailbox, event_id);
}

void sg_signal_complete(hsa_signal_t signal, uint64_t start_ts, uint64_t end_ts)
{
    if (!signal.handle)
        return;
    amd_signal_t *s = signal_of(signal);
    uint64_t mailbox = s->event_mailbox_ptr;
    uint32_t event_id = s->event_id;
    s->start_ts = start_ts;
    s->end_ts = end_ts;
    __atomic_fetch_sub(&s->value, 1, __ATOMIC_SEQ_CST);
    interrupt(mailbox, event_id);
}
