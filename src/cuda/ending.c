// SPDX-License-Identifier: MIT
// Owns the way out. Other threads may be anywhere, in the driver and in here: nothing is freed, and no call of the driver's or
// CUPTI's is made, which could wait for a kernel that never ends.
#include "cuda/ending.h"

#include "engine/clock.h"

#include <time.h>
#include <unistd.h>

static bool windows_end(const struct kr_cuda *cuda, uint64_t bound_ns)
{
    const uint64_t begin = kr_clock_ns();
    while (cuda->windows > 0) {
        if (kr_clock_ns() - begin > bound_ns)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}

bool kr_cuda_end(struct kr_cuda *cuda, uint64_t bound_ns)
{
    if (getpid() != cuda->owner) { // a fork child: the log is not its
        cuda->active = false;
        return false;
    }
    // Until the last window is over, calls of other threads still have to stay out of it.
    cuda->ending = true;
    bool over = windows_end(cuda, bound_ns);
    cuda->active = false;
    return over;
}
