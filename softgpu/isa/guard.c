// SPDX-License-Identifier: MIT
// The signal handler behind guard.h.
#include "softgpu/isa/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

// Initial-exec, so that the handler's access never allocates.
static _Thread_local struct sg_guard *volatile armed __attribute__((tls_model("initial-exec")));

// Who had a signal before. Replaced as a whole, so that a handler that runs at the same time sees one or the
// other.
struct previous {
    struct sigaction slot[2];
    struct sigaction *current;
};
static struct previous before_segv, before_bus;
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool chaining __attribute__((tls_model("initial-exec")));

static void back_to_default(int sig, const siginfo_t *info)
{
    // A real fault repeats on return, a sent signal has to be sent again.
    signal(sig, SIG_DFL);
    if (info->si_code <= 0)
        raise(sig);
}

static void chain(int sig, siginfo_t *info, void *context)
{
    const struct previous *previous = sig == SIGSEGV ? &before_segv : &before_bus;
    const struct sigaction *before = __atomic_load_n(&previous->current, __ATOMIC_ACQUIRE);
    const bool has_handler = before && before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN;
    if (!has_handler || chaining) { // chaining: the one before us hands on to us
        back_to_default(sig, info);
        return;
    }
    // With the signals blocked that it asked for: this handler itself runs with none blocked.
    sigset_t blocked = before->sa_mask, outer;
    if (!(before->sa_flags & SA_NODEFER))
        sigaddset(&blocked, sig);
    pthread_sigmask(SIG_BLOCK, &blocked, &outer);
    chaining = true;
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(sig, info, context);
    else
        before->sa_handler(sig);
    chaining = false;
    pthread_sigmask(SIG_SETMASK, &outer, NULL);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    struct sg_guard *guard = armed;
    if (!guard || info->si_code <= 0) {
        chain(sig, info, context);
        return;
    }
    armed = NULL;
    guard->address = (uint64_t)(uintptr_t)info->si_addr;
    guard->no_address = info->si_code == SI_KERNEL;
    siglongjmp(guard->env, 1);
}

// Makes this file the handler of `sig`. False when it is already. Under install_lock.
static bool take(int sig, struct previous *previous)
{
    struct sigaction now;
    if (sigaction(sig, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault))
        return false;
    struct sigaction *slot =
        previous->current == &previous->slot[0] ? &previous->slot[1] : &previous->slot[0];
    *slot = now;
    __atomic_store_n(&previous->current, slot, __ATOMIC_RELEASE);
    // SA_NODEFER: nothing is blocked in the handler, so that the jump out of it has no mask to restore and
    // launches need no system call to save one.
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(sig, &action, NULL);
    return true;
}

void sg_guard_install(void)
{
    pthread_mutex_lock(&install_lock);
    // Who takes one signal takes both; asking for one halves the system calls.
    if (take(SIGSEGV, &before_segv))
        take(SIGBUS, &before_bus);
    pthread_mutex_unlock(&install_lock);
}

void sg_guard_arm(struct sg_guard *guard)
{
    if (guard)
        chaining = false; // a handler that was chained to may have left by a jump
    armed = guard;
}
