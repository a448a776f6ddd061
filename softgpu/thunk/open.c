// SPDX-License-Identifier: MIT
// Opening and closing of the driver interface, its version, clocks, and the settings of a process that a
// software GPU has no use for. Also what makes a forked child inert.
#include "softgpu/thunk/hsakmt_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned open_count; // guarded by open_lock
static int sign = -1;       // the file opened as a sign of use; guarded by open_lock
static atomic_bool usable;
static atomic_bool forked; // set in a child of a process that had opened the interface; never cleared

static void in_forked_child(void)
{
    atomic_store(&forked, true);
    atomic_store(&usable, false);
}

bool sg_thunk_usable(void)
{
    return atomic_load_explicit(&usable, memory_order_acquire);
}

HSAKMT_STATUS sg_thunk_release_status(void)
{
    return atomic_load(&forked) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}

// A user of a real GPU has /dev/kfd open as long as it uses it, which others can see. Here the file "kfd"
// beside this library stands for it. Nothing depends on it: without the file there is no sign.
static int open_sign(void)
{
    static const char name[] = "kfd";
    Dl_info self;
    char path[PATH_MAX];
    if (!dladdr(&open_lock, &self) || !self.dli_fname)
        return -1;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder_length = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    int length = snprintf(path, sizeof(path), "%.*s%s", folder_length, self.dli_fname, name);
    return length < (int)sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static void close_sign(void)
{
    if (sign >= 0)
        close(sign);
    sign = -1;
}

HSAKMT_STATUS hsaKmtOpenKFD(void)
{
    static bool fork_handler; // guarded by open_lock
    if (atomic_load(&forked))
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;

    HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
    pthread_mutex_lock(&open_lock);
    if (open_count) {
        open_count++;
        status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
        goto out;
    }
    if (!fork_handler && pthread_atfork(NULL, NULL, in_forked_child)) {
        status = HSAKMT_STATUS_NO_MEMORY;
        goto out;
    }
    fork_handler = true;
    if (sg_gpus_open()) {
        status = HSAKMT_STATUS_NO_MEMORY;
        goto out;
    }
    open_count = 1;
    sign = open_sign();
    atomic_store_explicit(&usable, true, memory_order_release);
out:
    pthread_mutex_unlock(&open_lock);
    return status;
}

HSAKMT_STATUS hsaKmtCloseKFD(void)
{
    if (!sg_thunk_usable())
        return sg_thunk_release_status();
    HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
    pthread_mutex_lock(&open_lock);
    if (!open_count) {
        status = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    } else if (--open_count == 0) {
        atomic_store_explicit(&usable, false, memory_order_release);
        close_sign();
    }
    pthread_mutex_unlock(&open_lock);
    return status;
}

HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!VersionInfo)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    // The driver of ROCm 5.2. Below 1.3 ROCr would work without interrupts.
    *VersionInfo = (HsaVersionInfo){.KernelInterfaceMajorVersion = 1, .KernelInterfaceMinorVersion = 8};
    return HSAKMT_STATUS_SUCCESS;
}

// Not supported selects ROCr's older way of error reports, through the queue's inactive signal.
HSAKMT_STATUS hsaKmtRuntimeEnable(void *rDebug, bool setupTtmp)
{
    (void)rDebug;
    (void)setupTtmp;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

// The same clocks as the kernel driver: ROCr pairs the GPU counter with its own reading of the boot-time
// clock.
HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 NodeId, HsaClockCounters *Counters)
{
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (NodeId > sg_gpu_count())
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    if (!Counters)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *Counters = (HsaClockCounters){.GPUClockCounter = sg_gpu_clock(),
                                   .CPUClockCounter = nanoseconds(CLOCK_MONOTONIC_RAW),
                                   .SystemClockCounter = nanoseconds(CLOCK_BOOTTIME),
                                   .SystemClockFrequencyHz = 1000000000};
    return HSAKMT_STATUS_SUCCESS;
}

// The command processor handles traps itself; ROCr aborts if its handler is refused.
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 NodeId, void *TrapHandlerBaseAddress,
                                   HSAuint64 TrapHandlerSizeInBytes, void *TrapBufferBaseAddress,
                                   HSAuint64 TrapBufferSizeInBytes)
{
    (void)TrapHandlerBaseAddress;
    (void)TrapHandlerSizeInBytes;
    (void)TrapBufferBaseAddress;
    (void)TrapBufferSizeInBytes;
    if (!sg_thunk_usable())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return sg_gpu_of_node(NodeId) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable)
{
    if (!enable)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *enable = 0;
    return HSAKMT_STATUS_SUCCESS;
}

// Negative asks, 0 switches off; retrying page faults do not exist here.
HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
    return enable > 0 ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}
