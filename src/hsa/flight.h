// SPDX-License-Identifier: MIT
// How many dispatches kreplay has taken from the program and not finished, on all GPUs.
#ifndef KR_HSA_FLIGHT_H
#define KR_HSA_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

void kr_hsa_flight_begin(void);
void kr_hsa_flight_end(void);
bool kr_hsa_in_flight(void);

// Sleeps until none is under way, at most for about `ns` nanoseconds. It may return early.
void kr_hsa_flight_rest(uint64_t ns);

#endif
