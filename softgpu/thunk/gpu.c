// SPDX-License-Identifier: MIT
// The GPU nodes of this process: how many, their counter blocks, memory sizes and clock.
#include "softgpu/mem/mem.h"
#include "softgpu/perf/perf.h"
#include "softgpu/thunk/hsakmt_api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GIB       (1ull << 30)
#define CHECK_GAP 65536 // between allocations, so that a near miss hits none

static struct sg_gpu gpus[SG_MAX_GPUS];
static unsigned gpu_count; // 0 until opened

static unsigned wanted_gpus(void)
{
    const char *text = getenv("SOFTGPU_DEVICES");
    if (!text || !*text)
        return 1;
    char *end = NULL;
    long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > SG_MAX_GPUS) {
        fprintf(stderr, "softgpu: SOFTGPU_DEVICES=%s is not a number from 1 to %d; using 1\n", text,
                SG_MAX_GPUS);
        return 1;
    }
    return (unsigned)n;
}

// Whole or broken seconds.
static uint64_t wanted_timeout_ns(void)
{
    const char *text = getenv("SOFTGPU_TIMEOUT");
    if (!text || !*text)
        return 0;
    char *end = NULL;
    double seconds = strtod(text, &end);
    if (*end || !(seconds > 0 && seconds < 1e9)) {
        fprintf(stderr, "softgpu: SOFTGPU_TIMEOUT=%s is not a number of seconds; kernels are not bounded\n",
                text);
        return 0;
    }
    return (uint64_t)(seconds * 1e9);
}

static bool wants_check(void)
{
    const char *text = getenv("SOFTGPU_CHECK");
    if (!text || !*text)
        return false;
    if (!strcmp(text, "alloc"))
        return true;
    fprintf(stderr, "softgpu: SOFTGPU_CHECK=%s is not \"alloc\"; nothing is checked\n", text);
    return false;
}

// ROCr cuts small allocations out of blocks that it keeps, and one block looks like one allocation from here. This
// setting, which it reads when it is initialised, makes it ask for each.
__attribute__((constructor)) static void separate_allocations(void)
{
    const char *text = getenv("SOFTGPU_CHECK");
    if (text && !strcmp(text, "alloc"))
        setenv("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1", 1);
}

void softgpu_mem_asked(const void *address, uint64_t bytes)
{
    sg_mem_set_asked(address, bytes);
}

int sg_gpus_open(void)
{
    if (gpu_count)
        return 0;
    int rc = sg_events_open();
    if (rc)
        return rc;
    unsigned n = wanted_gpus();
    uint64_t timeout_ns = wanted_timeout_ns();
    bool check = wants_check();
    sg_mem_set_gap(check ? CHECK_GAP : 0);
    for (unsigned i = 0; i < n; i++) {
        struct sg_perf *perf = sg_perf_create();
        if (!perf)
            goto error;
        gpus[i] = (struct sg_gpu){.node_id = 1 + i,
                                  .shared_aperture_hi = SG_SHARED_APERTURE >> 32,
                                  .private_aperture_hi = SG_PRIVATE_APERTURE >> 32,
                                  .perf = perf,
                                  .checks_access = check,
                                  .checks_mapping = check || n > 1, // one GPU alone is given all
                                  .timeout_ns = timeout_ns};
    }
    gpu_count = n;
    for (unsigned i = 0; i < n; i++)
        sg_mem_set_limit(gpus[i].node_id, sg_gpu_local_bytes());
    return 0;

error:
    for (unsigned i = 0; i < n; i++) {
        if (gpus[i].perf)
            sg_perf_destroy(gpus[i].perf);
        gpus[i] = (struct sg_gpu){0};
    }
    return -ENOMEM;
}

unsigned sg_gpu_count(void)
{
    return gpu_count;
}

struct sg_gpu *sg_gpu_of_node(uint32_t node)
{
    return node >= 1 && node <= gpu_count ? &gpus[node - 1] : NULL;
}

uint64_t sg_host_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : GIB;
}

// Half of the host's memory shared by the GPUs, in whole GiB and no more than an MI210 has: a program that
// sizes its buffers by the device's memory then stays within what is really there.
uint64_t sg_gpu_local_bytes(void)
{
    uint64_t bytes = sg_host_bytes() / 2 / (gpu_count ? gpu_count : 1) / GIB * GIB;
    if (bytes < GIB)
        return GIB;
    return bytes > 64 * GIB ? 64 * GIB : bytes;
}

uint64_t sg_gpu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec) / 40;
}
