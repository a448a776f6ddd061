// SPDX-License-Identifier: MIT
// Waiting for signals of kreplay's own.
#ifndef KR_HSA_SIGNAL_WAIT_H
#define KR_HSA_SIGNAL_WAIT_H

#include "hsa/state.h"

// Waits until the signal is below 1 or about `timeout_ns` have passed; returns its value.
hsa_signal_value_t kr_hsa_signal_wait(hsa_signal_t signal, uint64_t timeout_ns);

#endif
