// SPDX-License-Identifier: MIT
#include "tool/process.h"
#include "engine/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t unix_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Milliseconds above the 22 bits that a pid can have: unique on one machine and positive as a signed number.
static uint64_t make_run_id(uint64_t now_unix_ns, uint32_t pid)
{
    return ((now_unix_ns / 1000000u) << 22 | (pid & 0x3fffffu)) & INT64_MAX;
}

// Plain characters stand for themselves in a shell.
static bool is_plain(const char *argument)
{
    if (*argument == '\0')
        return false;
    for (; *argument != '\0'; argument++)
        if (!isalnum((unsigned char)*argument) && strchr("_-+=.,/:@%", *argument) == NULL)
            return false;
    return true;
}

static char *quote_argument(char *to, const char *argument)
{
    if (is_plain(argument))
        return stpcpy(to, argument);
    *to++ = '\'';
    for (; *argument != '\0'; argument++) {
        if (*argument == '\'')
            to = stpcpy(to, "'\\'"); // ends the quotes, an escaped quote; the one below begins them again
        *to++ = *argument;
    }
    *to++ = '\'';
    *to = '\0';
    return to;
}

char *kr_process_quote(const char *arguments, size_t bytes)
{
    // A character becomes four at most; each argument gets quotes and a blank instead of its NUL.
    char *quoted = malloc(4 * bytes + 4);
    char *copy = malloc(bytes + 1);
    if (quoted == NULL || copy == NULL) {
        free(quoted);
        free(copy);
        return NULL;
    }
    memcpy(copy, arguments, bytes);
    copy[bytes] = '\0'; // the last argument may be cut
    char *to = quoted;
    *to = '\0';
    for (size_t at = 0; at < bytes; at += strlen(copy + at) + 1) {
        if (at != 0)
            *to++ = ' ';
        to = quote_argument(to, copy + at);
    }
    free(copy);
    return quoted;
}

// All of /proc/self/cmdline; *bytes = 0 when it cannot be read. NULL: out of memory.
static char *read_arguments(size_t *bytes)
{
    size_t capacity = 4096;
    char *text = malloc(capacity);
    *bytes = 0;
    if (text == NULL)
        return NULL;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    while (fd >= 0) {
        if (*bytes == capacity) {
            char *grown = realloc(text, 2 * capacity);
            if (grown == NULL)
                break; // what there is will do
            text = grown;
            capacity *= 2;
        }
        ssize_t got = read(fd, text + *bytes, capacity - *bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *bytes += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    return text;
}

int kr_process_describe(uint64_t run_id, kr_log_process *out)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    size_t bytes;
    char *arguments = read_arguments(&bytes);
    char *command = arguments == NULL ? NULL : kr_process_quote(arguments, bytes);
    free(arguments);
    char *hostname = strdup(host);
    if (command == NULL || hostname == NULL) {
        free(command);
        free(hostname);
        return KREPLAY_NO_MEMORY;
    }
    uint32_t pid = (uint32_t)getpid();
    uint64_t now_unix_ns = unix_ns();
    *out = (kr_log_process){
        .run_id = run_id != 0 ? run_id : make_run_id(now_unix_ns, pid),
        .pid = pid,
        .ppid = (uint32_t)getppid(),
        .start_ns = kr_clock_ns(),
        .start_unix_ns = now_unix_ns,
        .hostname = hostname,
        .command = command,
    };
    return KREPLAY_OK;
}

void kr_process_free(kr_log_process *process)
{
    free((void *)process->hostname);
    free((void *)process->command);
    *process = (kr_log_process){0};
}
