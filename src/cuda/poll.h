// SPDX-License-Identifier: MIT
// Bounded waits. They ask and do not block in the driver, so that a wait can be given up.
#ifndef KR_CUDA_POLL_H
#define KR_CUDA_POLL_H

#include "cuda/driver.h"

#include <stdint.h>

// 0; KREPLAY_TIMEOUT; KREPLAY_DEVICE: the context is broken. With the context current.
int kr_poll_event(const struct kr_driver *driver, CUevent event, uint64_t bound_ns);
int kr_poll_stream(const struct kr_driver *driver, CUstream stream, uint64_t bound_ns);

#endif
