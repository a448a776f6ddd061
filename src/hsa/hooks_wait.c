// SPDX-License-Identifier: MIT
// A program that waits actively keeps a processor busy until its kernel is done. Without kreplay that is some
// microseconds, with it there are windows to be run first, by threads that need a processor: on a full machine each
// of them would get it only at the end of a time slice. So while dispatches are under way, such a wait sleeps until
// they are over, looks at its signal now and then, and becomes what the program asked for only then.
#include "hsa/hooks_wait.h"

#include "engine/clock.h"
#include "hsa/flight.h"
#include "hsa/worker.h"

static bool is_met(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compared)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == compared;
    case HSA_SIGNAL_CONDITION_NE:
        return value != compared;
    case HSA_SIGNAL_CONDITION_LT:
        return value < compared;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= compared;
    }
    return true; // the runtime knows what to say
}

// How long to sleep before the signal is looked at: something else than the dispatches under way may bring it about.
static uint64_t slice_after(uint64_t waited_ns)
{
    enum { LEAST_NS = 100000, MOST_NS = 1000000, FRACTION = 16 };
    uint64_t slice = waited_ns / FRACTION;
    return slice < LEAST_NS ? LEAST_NS : slice > MOST_NS ? MOST_NS : slice;
}

// Returns what is left of `timeout` (ticks of the runtime's clock).
static uint64_t rest(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compared,
                     uint64_t timeout)
{
    const double ticks_per_ns = (double)kr_hsa.timestamp_hz * 1e-9;
    const uint64_t begin = kr_clock_ns();
    for (;;) {
        uint64_t waited = kr_clock_ns() - begin;
        uint64_t ticks = (uint64_t)((double)waited * ticks_per_ns);
        uint64_t left = timeout == UINT64_MAX ? timeout : ticks < timeout ? timeout - ticks : 0;
        if (left == 0 || !kr_hsa_in_flight() ||
            is_met(condition, kr_hsa.api.hsa_signal_load_scacquire(signal), compared))
            return left;
        uint64_t slice = slice_after(waited);
        if ((double)left / ticks_per_ns < (double)slice)
            slice = (uint64_t)((double)left / ticks_per_ns) + 1;
        kr_hsa_flight_rest(slice);
    }
}

static bool should_rest(hsa_signal_t signal, hsa_wait_state_t state)
{
    return state == HSA_WAIT_STATE_ACTIVE && signal.handle && atomic_load(&kr_hsa.active) &&
           atomic_load(&kr_hsa.started) && !kr_hsa_worker_self();
}

static hsa_signal_value_t wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                         hsa_signal_value_t compared, uint64_t timeout,
                                         hsa_wait_state_t state)
{
    if (should_rest(signal, state))
        timeout = rest(signal, condition, compared, timeout);
    return kr_hsa.api.hsa_signal_wait_scacquire(signal, condition, compared, timeout, state);
}

static hsa_signal_value_t wait_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                       hsa_signal_value_t compared, uint64_t timeout, hsa_wait_state_t state)
{
    if (should_rest(signal, state))
        timeout = rest(signal, condition, compared, timeout);
    return kr_hsa.api.hsa_signal_wait_relaxed(signal, condition, compared, timeout, state);
}

void kr_hsa_hooks_wait_install(const struct kr_hsa_table *table)
{
    kr_hsa_table_hook(table, KR_FN_hsa_signal_wait_scacquire, (void *)wait_scacquire);
    kr_hsa_table_hook(table, KR_FN_hsa_signal_wait_relaxed, (void *)wait_relaxed);
}
