// SPDX-License-Identifier: MIT
// kreplay's own two kernels on the GPU, against the host: comparisons and copies of many sizes and alignments. A program of its
// own, since under compute-sanitizer, which is to look at them, the rest of kreplay steps aside.
#include "cuda/blocks.h"
#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES   100000u
#define REGIONS 40u
#define BOUND   UINT64_C(60000000000)

static struct kr_driver driver;
static struct kr_blocks blocks;
static CUstream stream;
static unsigned random_state = 1;

static unsigned any(unsigned below)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 8) % below;
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    printf("FAILED: %s\n", what);
    exit(1);
}

static void *on_device(size_t bytes)
{
    CUdeviceptr at = 0;
    must(driver.mem_alloc(&at, bytes) == CUDA_SUCCESS, "cuMemAlloc");
    return (void *)(uintptr_t)at;
}

static void move(void *to, const void *from, size_t bytes)
{
    must(driver.memcpy_any((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes) == CUDA_SUCCESS,
         "cuMemcpy");
}

// Regions of both sides at random places that do not overlap; some bytes differ, and one word may be an address looked for.
static void compare(char *device_a, char *device_b, size_t block_bytes, bool address)
{
    static char a[BYTES], b[BYTES];
    static uint8_t changed[REGIONS][BYTES / 16], expected[REGIONS][BYTES / 16];
    const struct kr_range range = {UINT64_C(0x7e0000001000), 64};
    struct kr_comparison list[REGIONS];
    bool found = false;

    for (unsigned i = 0; i < BYTES; i++)
        a[i] = b[i] = (char)any(200);
    for (unsigned i = 0, at = any(16); i < REGIONS; i++) {
        unsigned bytes = any(BYTES / REGIONS - 40);
        at = address ? (at + 7) / 8 * 8 : at; // words are looked at in aligned regions
        list[i] = (struct kr_comparison){device_a + at, device_b + at, bytes, changed[i]};
        memset(changed[i], 9, sizeof changed[i]);
        memset(expected[i], 0, sizeof expected[i]);
        for (unsigned k = any(6); bytes > 0 && k > 0; k--) {
            unsigned where = any(bytes);
            b[at + where] = (char)(a[at + where] + 1);
            expected[i][where / block_bytes] = 1;
        }
        at += bytes + 1 + any(30);
    }
    if (address) { // in the last region that has room for it, on either side
        unsigned i = REGIONS;
        while (list[--i].bytes < 64)
            continue;
        size_t at = ((uintptr_t)list[i].a + 7) / 8 * 8 - (uintptr_t)device_a;
        uint64_t word = range.base + 63;
        memcpy(b + at, &word, sizeof word);
    }
    move(device_a, a, BYTES);
    move(device_b, b, BYTES);
    const struct kr_ranges ranges = {(struct kr_range *)&range, 1};
    must(kr_blocks_compare(&blocks, &driver, stream, BOUND, list, REGIONS, block_bytes, &ranges, &found) == 0,
         "compare");
    must(found == address, "address found");
    for (unsigned i = 0; i < REGIONS; i++) {
        size_t count = (list[i].bytes + block_bytes - 1) / block_bytes;
        // What surrounds the address has changed as a whole; the rest is exact.
        must(address || memcmp(changed[i], expected[i], count) == 0, "blocks that differ");
        must(changed[i][count] == 9, "nothing behind the map");
    }
}

static void copy(char *to, char *from)
{
    static char a[BYTES], b[BYTES];
    struct kr_copy list[REGIONS];

    for (unsigned i = 0; i < BYTES; i++) {
        a[i] = (char)any(256);
        b[i] = (char)any(256);
    }
    move(from, a, BYTES);
    move(to, b, BYTES);
    for (unsigned i = 0, at = any(16); i < REGIONS; i++) {
        unsigned bytes = any(BYTES / REGIONS - 40), shift = any(2) * any(16);
        list[i] = (struct kr_copy){to + at, from + at + shift, bytes};
        memcpy(b + at, a + at + shift, bytes);
        at += bytes + 1 + any(20);
    }
    must(kr_blocks_copy(&blocks, &driver, stream, BOUND, list, REGIONS) == 0, "copy");
    move(a, to, BYTES);
    must(memcmp(a, b, BYTES) == 0, "copied, and nothing beside it");
}

int main(void)
{
    char error[256];
    const char *step = "";
    CUcontext context;
    CUdevice device;
    CUresult (*retain)(CUcontext * context, CUdevice device) = NULL;

    must(kr_driver_open(&driver, error, sizeof error) == 0, "driver");
    *(void **)&retain = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxRetain");
    must(driver.init(0) == CUDA_SUCCESS && driver.device_get(&device, 0) == CUDA_SUCCESS, "a GPU");
    must(retain(&context, device) == CUDA_SUCCESS && driver.ctx_push_current(context) == CUDA_SUCCESS,
         "context");
    must(driver.stream_create(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS, "stream");
    must(kr_blocks_set_up(&blocks, &driver, &step) == CUDA_SUCCESS, step);
    char *a = on_device(BYTES + 64), *b = on_device(BYTES + 64);
    for (unsigned round = 0; round < 60; round++) {
        compare(a + any(3) * 8, b + any(3) * 8, (size_t)16 << any(9), round % 3 == 0);
        compare(a + any(16), b + any(16), 4096, false);
        copy(a + any(16), b + any(16));
    }
    printf("180 comparisons and copies are right\n");
    return 0;
}
