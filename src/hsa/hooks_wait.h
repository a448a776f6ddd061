// SPDX-License-Identifier: MIT
// Hooks on the program's waits for signals.
#ifndef KR_HSA_HOOKS_WAIT_H
#define KR_HSA_HOOKS_WAIT_H

#include "hsa/table.h"

void kr_hsa_hooks_wait_install(const struct kr_hsa_table *table);

#endif
