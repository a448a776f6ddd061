// SPDX-License-Identifier: MIT
// The command processor's side of HSA signals, in the layout of amd_signal_t. A handle of 0 is "no signal".
#ifndef SG_SIGNAL_H
#define SG_SIGNAL_H

#include <hsa/amd_hsa_signal.h>
#include <stdbool.h>
#include <stdint.h>

// Whether a handle from a packet is one that the calls below may be given: no signal, or an aligned one in memory, with a
// mailbox in memory if it has any.
bool sg_signal_is_there(hsa_signal_t signal);

int64_t sg_signal_load(hsa_signal_t signal);

// Stores a value and interrupts whoever sleeps on the signal.
void sg_signal_store(hsa_signal_t signal, int64_t value);

// Completes a packet: writes its times (GPU clock ticks), decrements the value, then interrupts.
void sg_signal_complete(hsa_signal_t signal, uint64_t start_ts, uint64_t end_ts);

#endif
