// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a GPU's memory that begins with AQL packets. Each packet must be executed, wait, or end in
// an error with a text; a launch must have sizes that the interpreter may trust. The memory is a small arena at a low address,
// so short numbers are good addresses of signals, kernel objects and PM4, and nothing else can be hit.
#include "softgpu/cp/aql.h"
#include "softgpu/isa/isa.h"
#include "softgpu/mem/mem.h"
#include "softgpu/perf/perf.h"
#include "softgpu/thunk/gpu.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>

enum { ARENA_BYTES = 8192, PACKET_BYTES = 64, PACKETS = 4 };
static uint8_t *const arena = (uint8_t *)0x10000; // the lowest that Linux maps for everybody

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// In place of libc's: the copies by which the command processor reaches memory, and its sleep between two polls.
static ssize_t copy(void *to, const void *from, const struct iovec *remote)
{
    const uintptr_t address = (uintptr_t)remote->iov_base;
    if (address < (uintptr_t)arena || address - (uintptr_t)arena > ARENA_BYTES ||
        remote->iov_len > ARENA_BYTES - (address - (uintptr_t)arena)) {
        errno = EFAULT;
        return -1;
    }
    memmove(to, from, remote->iov_len);
    return (ssize_t)remote->iov_len;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
                         const struct iovec *remote, unsigned long n_remote, unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    return copy(local->iov_base, remote->iov_base, remote);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
                          const struct iovec *remote, unsigned long n_remote, unsigned long flags)
{
    (void)pid, (void)n_local, (void)n_remote, (void)flags;
    return copy(remote->iov_base, local->iov_base, remote);
}

int nanosleep(const struct timespec *requested, struct timespec *remaining)
{
    (void)requested, (void)remaining;
    return 0;
}

// The interpreter and the GPU around the command processor.
int sg_isa_launch(const struct sg_launch *launch, struct sg_counts *counts, struct sg_fault *fault)
{
    (void)counts, (void)fault;
    uint64_t items = 1;
    for (unsigned i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->workgroup[i])
            abort();
        items *= launch->workgroup[i];
    }
    if (items > 1024 || launch->group_segment_bytes > 65536 || !launch->kernel_name)
        abort();
    return 0;
}

void sg_isa_invalidate(uint64_t base, uint64_t bytes)
{
    (void)base, (void)bytes;
}

void sg_event_raise(uint32_t event_id)
{
    (void)event_id;
}

uint64_t sg_gpu_clock(void)
{
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void *mapped;
    if (!mapped) {
        mapped = mmap(arena, ARENA_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (mapped != arena || sg_mem_register(mapped, ARENA_BYTES, 0))
            abort(); // cannot fuzz here
    }
    if (size > ARENA_BYTES)
        return 0;
    memset(arena, 0, ARENA_BYTES);
    memcpy(arena, data, size);

    struct sg_gpu gpu = {.node_id = 1, .perf = sg_perf_create()};
    amd_queue_t queue = {0};
    struct sg_aql aql = {.gpu = &gpu, .amd_queue = &queue};
    if (!gpu.perf)
        return 0;
    for (uint64_t id = 0; id < PACKETS; id++) {
        struct sg_aql_error error = {.code = 0};
        const enum sg_aql_result result = sg_aql_execute(&aql, arena + id * PACKET_BYTES, id, &error);
        if (result == SG_AQL_FAILED && (!error.code || !error.text[0]))
            abort();
    }
    sg_perf_destroy(gpu.perf);
    return 0;
}
