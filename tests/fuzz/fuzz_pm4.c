// SPDX-License-Identifier: MIT
// libFuzzer target: any dwords as PM4. The stream must end in success or in an error with a text; crashes,
// hangs and sanitizer reports are findings. The GPU's address space is a small arena at a low address that also
// holds the stream, so short numbers are good addresses, streams can call and rewrite themselves, and nothing
// else can be hit.
#include "softgpu/cp/pm4.h"
#include "softgpu/perf/perf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

enum { ARENA_BYTES = 8192 };
static uint8_t *const arena = (uint8_t *)0x10000; // the lowest that Linux maps for everybody

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_arena(const struct iovec *remote)
{
    uintptr_t address = (uintptr_t)remote->iov_base;

    return address >= (uintptr_t)arena && address - (uintptr_t)arena <= ARENA_BYTES &&
           remote->iov_len <= ARENA_BYTES - (address - (uintptr_t)arena);
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
    memcpy(local->iov_base, remote->iov_base, remote->iov_len);
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
    memcpy(remote->iov_base, local->iov_base, remote->iov_len);
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
    static void *mapped;

    if (!mapped)
        mapped = mmap(arena, ARENA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped != arena)
        abort(); // cannot fuzz here
    if (size > ARENA_BYTES)
        return 0;
    perf = sg_perf_create();
    if (!perf)
        return 0;
    memset(arena, 0, ARENA_BYTES);
    memcpy(arena, data, size);
    if (sg_pm4_run(perf, &queue, (const void *)arena, size / sizeof(uint32_t), error, sizeof(error)) != 0 &&
        error[0] == '\0')
        abort();
    sg_perf_destroy(perf);
    return 0;
}
