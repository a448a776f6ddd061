// SPDX-License-Identifier: MIT
// The signal handler behind guard.h.
#include "softgpu/isa/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

// Initial-exec, so that the handler's access never allocates.
static _Thread_local struct sg_guard *volatile armed __attribute__((tls_model("initial-exec")));

static struct sigaction before_segv, before_bus;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void chain(int sig, siginfo_t *info, void *context)
{
    const struct sigaction *before = sig == SIGSEGV ? &before_segv : &before_bus;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(sig, info, context);
        return;
    }
    if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(sig);
        return;
    }
    // Back to what the kernel does by itself: a real fault repeats on return, a sent signal has to be sent
    // again.
    sigaction(sig, before, NULL);
    if (info->si_code <= 0)
        raise(sig);
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

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
}

void sg_guard_install(void)
{
    pthread_once(&once, install);
}

void sg_guard_arm(struct sg_guard *guard)
{
    armed = guard;
}
