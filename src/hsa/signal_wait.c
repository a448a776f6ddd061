// SPDX-License-Identifier: MIT
// How kreplay waits for what it has submitted. The runtime's wait keeps a processor busy for its first 200
// us, also where another thread has to do the work that is waited for (copies by the host, the software GPU,
// any machine that is full). Most waits of a window are shorter than that. So the processor is offered to
// others first, then there are naps of a fraction of the time waited already, and only a long wait is left to
// the runtime, whose interrupt is exact.
#include "hsa/signal_wait.h"

#include <sched.h>
#include <time.h>

#include "engine/clock.h"

static const uint64_t YIELD_NS = 100000, NAP_NS = 3000000;
enum { NAP_FRACTION = 16 };

hsa_signal_value_t kr_hsa_signal_wait(hsa_signal_t signal, uint64_t timeout_ns)
{
    const uint64_t begin = kr_clock_ns();
    for (;;) {
        hsa_signal_value_t value = kr_hsa.api.hsa_signal_load_scacquire(signal);
        uint64_t waited = kr_clock_ns() - begin;
        if (value < 1 || waited >= timeout_ns)
            return value;
        if (waited < YIELD_NS) {
            sched_yield();
        } else if (waited < NAP_NS) {
            nanosleep(&(struct timespec){.tv_nsec = (long)(waited / NAP_FRACTION)}, NULL);
        } else {
            uint64_t ticks = (uint64_t)((double)(timeout_ns - waited) * 1e-9 * (double)kr_hsa.timestamp_hz);
            return kr_hsa.api.hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks,
                                                        HSA_WAIT_STATE_BLOCKED);
        }
    }
}
