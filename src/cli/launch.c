// SPDX-License-Identifier: MIT
// Running the program.
#include "cli/launch.h"

#include "cli/gpu_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const int held_signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGCHLD};

static void held_set(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof(held_signals) / sizeof(held_signals[0]); i++)
        sigaddset(set, held_signals[i]);
}

// What the program gets; set by kr_launch_prepare in this process, inherited by the child.
static sigset_t original_mask;
static struct sigaction original_child_action;

static volatile sig_atomic_t asked_to_end; // a held signal but SIGCHLD came

// Held from before the fork: no signal may find a program without somebody who passes it on. A parent that
// ignores SIGCHLD hands that down; the kernel would then throw the program's status away and tell nobody.
static void hold_signals(void)
{
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    sigset_t held;
    held_set(&held);
    sigprocmask(SIG_BLOCK, &held, &original_mask);
    sigaction(SIGCHLD, &normal, &original_child_action);
}

static void let_signals_go(void)
{
    sigaction(SIGCHLD, &original_child_action, NULL);
    sigprocmask(SIG_SETMASK, &original_mask, NULL);
}

bool kr_launch_asked_to_end(void)
{
    return asked_to_end != 0;
}

// ---- The child. Variables come as "name=value" with their final zero; the end of the pipe without the word
// "go" means that there is nothing to start.

static int read_setting(int fd, char **text)
{
    size_t length = 0, room = 256;
    char *buffer = malloc(room), byte;
    ssize_t got = 0;
    while (buffer && (got = read(fd, &byte, 1)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        if (length == room) {
            char *larger = realloc(buffer, room *= 2);
            if (!larger)
                break;
            buffer = larger;
        }
        buffer[length++] = byte;
        if (byte == '\0') {
            *text = buffer;
            return 0;
        }
    }
    free(buffer);
    return -1;
}

static _Noreturn void run_child(int go, int failure, const char *path, char **argv)
{
    char *setting;
    for (;;) {
        if (read_setting(go, &setting))
            _exit(0);
        if (strcmp(setting, "go") == 0)
            break;
        putenv(setting); // it now belongs to the environment
    }
    close(go);
    let_signals_go();
    execve(path, argv, environ);
    int cause = errno;
    ssize_t written = write(failure, &cause, sizeof(cause));
    _exit(written == sizeof(cause) ? 127 : 126);
}

// ---- The parent

int kr_launch_prepare(struct kr_launch *launch, const char *path, char **argv)
{
    int go[2], failure[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(failure, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return -1;
    }
    hold_signals();
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(failure[0]);
        run_child(go[0], failure[1], path, argv);
    }
    int cause = errno;
    close(go[0]);
    close(failure[1]);
    *launch = (struct kr_launch){.pid = pid, .go = go[1], .failure = failure[0]};
    if (pid > 0)
        return 0;
    close(go[1]);
    close(failure[0]);
    let_signals_go();
    errno = cause;
    return -1;
}

static int send_text(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text += written;
        bytes -= (size_t)written;
    }
    return 0;
}

int kr_launch_setenv(struct kr_launch *launch, const char *name, const char *value)
{
    if (send_text(launch->go, name, strlen(name)) || send_text(launch->go, "=", 1))
        return -1;
    return send_text(launch->go, value, strlen(value) + 1);
}

int kr_launch_start(struct kr_launch *launch)
{
    int cause = 0;
    if (send_text(launch->go, "go", sizeof("go")) != 0)
        cause = errno;
    close(launch->go);
    // The end of the pipe without a word: exec closed it, the program runs.
    ssize_t got;
    int reported;
    do {
        got = read(launch->failure, &reported, sizeof(reported));
    } while (got < 0 && errno == EINTR);
    close(launch->failure);
    if (got == sizeof(reported))
        cause = reported;
    if (!cause)
        return 0;
    waitpid(launch->pid, NULL, 0);
    let_signals_go();
    errno = cause;
    return -1;
}

void kr_launch_cancel(struct kr_launch *launch)
{
    close(launch->go);
    close(launch->failure);
    waitpid(launch->pid, NULL, 0);
    let_signals_go();
}

// SI_KERNEL: from the terminal, which sent it to the program as well.
static void pass_on(pid_t pid, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo != SIGCHLD && info->ssi_code != SI_KERNEL)
        kill(pid, (int)info->ssi_signo);
}

// Reads what came and passes it on while the program runs.
static void take_signals(int fd, pid_t pid)
{
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof(info)) == sizeof(info)) {
        asked_to_end |= info.ssi_signo != SIGCHLD;
        if (pid)
            pass_on(pid, &info);
    }
}

static void when_writing(int number)
{
    static const char text[] =
        "kreplay: the program has ended, its files are being written; a second signal ends that\n";
    (void)number;
    asked_to_end = 1;
    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)written; // nobody to tell
}

// A signal that is sent to both, as batch systems do, may come to kreplay when it has only files left to
// write. It must not cost them. The second signal does what it does to everybody.
static void survive_one_signal(void)
{
    const struct sigaction once = {.sa_handler = when_writing, .sa_flags = SA_RESETHAND | SA_RESTART};
    for (size_t i = 0; i < sizeof(held_signals) / sizeof(held_signals[0]); i++) {
        struct sigaction before;
        if (held_signals[i] != SIGCHLD && sigaction(held_signals[i], NULL, &before) == 0 &&
            before.sa_handler == SIG_DFL)
            sigaction(held_signals[i], &once, NULL);
    }
}

int kr_launch_wait(struct kr_launch *launch, struct kr_gpu_watch *watch, int *status)
{
    sigset_t held;
    held_set(&held);
    if (watch)
        watch->root = launch->pid;
    int signals = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
    pid_t got = 0; // 0: the program still runs
    while (signals >= 0 && (got = waitpid(launch->pid, status, WNOHANG)) == 0) {
        struct pollfd wait_for[] = {{.fd = signals, .events = POLLIN},
                                    {.fd = watch ? watch->fd : -1, .events = POLLIN}};
        if (poll(wait_for, 2, -1) < 0 && errno != EINTR)
            break;
        take_signals(signals, launch->pid);
        if (watch)
            kr_gpu_watch_read(watch);
    }
    // Without signalfd or poll there is still a plain wait.
    while (got == 0 && (got = waitpid(launch->pid, status, 0)) < 0 && errno == EINTR)
        got = 0;
    int cause = errno;
    if (watch)
        kr_gpu_watch_read(watch);
    if (signals >= 0) {
        take_signals(signals, 0); // what was meant for the program does not reach kreplay
        close(signals);
    }
    survive_one_signal();
    let_signals_go();
    errno = cause;
    return got < 0 ? -1 : 0;
}
