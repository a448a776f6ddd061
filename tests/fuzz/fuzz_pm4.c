// SPDX-License-Identifier: MIT
// libFuzzer target: any dwords as PM4. The stream must end in success or in an error with a text; crashes,
// hangs and sanitizer reports are findings. The GPU's address space is a small arena from address 0 that also
// holds the stream, so small numbers are good addresses, streams can call and rewrite themselves, and nothing
// else can be hit.
#include "softgpu/cp/pm4.h"
#include "softgpu/perf/perf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

static uint8_t arena[8192];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_arena(const struct iovec *remote)
{
    uintptr_t address = (uintptr_t)remote->iov_base;

    return address <= sizeof(arena) && remote->iov_len <= sizeof(arena) - address;
}

// In place of libc's: the copies by which the interpreter reaches memory, and its sleep between two polls.
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                         const struct iovec *remote, unsigned long n_remote, unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    if (!in_arena(remote)) {
        errno = EFAULT;
        return -1;
    }
    memcpy(local->iov_base, arena + (uintptr_t)remote->iov_base, remote->iov_len);
    return (ssize_t)remote->iov_len;
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote, unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    if (!in_arena(remote)) {
        errno = EFAULT;
        return -1;
    }
    memcpy(arena + (uintptr_t)remote->iov_base, local->iov_base, remote->iov_len);
    return (ssize_t)remote->iov_len;
}

int nanosleep(const struct timespec *requested, struct timespec *remaining)
{
    (void)requested, (void)remaining;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sg_pm4_queue queue = {0};
    char error[128] = "";
    struct sg_perf *perf;

    if (size > sizeof(arena))
        return 0;
    perf = sg_perf_create();
    if (!perf)
        return 0;
    memset(arena, 0, sizeof(arena));
    memcpy(arena, data, size);
    if (sg_pm4_run(perf, &queue, NULL, size / sizeof(uint32_t), error, sizeof(error)) != 0 &&
        error[0] == '\0')
        abort();
    sg_perf_destroy(perf);
    return 0;
}
