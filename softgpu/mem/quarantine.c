// SPDX-License-Identifier: MIT
// A ring of inaccessible ranges: the oldest goes when one too many comes. Address space costs nothing; the number of
// mappings of a process is limited, by default to 65530.
#include "softgpu/mem/quarantine.h"

#include <pthread.h>
#include <sys/mman.h>

enum { MOST_RANGES = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // guards the rest
static struct {
    void *base;
    uint64_t bytes;
} ring[MOST_RANGES];
static unsigned next;

void sg_quarantine(void *base, uint64_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(base, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
        munmap(base, bytes);
        return;
    }
    pthread_mutex_lock(&lock);
    if (ring[next].base)
        munmap(ring[next].base, ring[next].bytes);
    ring[next].base = base;
    ring[next].bytes = bytes;
    next = (next + 1) % MOST_RANGES;
    pthread_mutex_unlock(&lock);
}
