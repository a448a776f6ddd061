// SPDX-License-Identifier: MIT
// When the last copy of each of the program's signals ran. The runtime can tell that only for a signal that
// it gave to the copy itself. The caller locks.
#ifndef KR_HSA_COPY_TIMES_H
#define KR_HSA_COPY_TIMES_H

#include "hsa/prototypes.h"

void kr_hsa_copy_times_put(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t time);
bool kr_hsa_copy_times_get(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time);

#endif
