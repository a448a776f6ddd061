// SPDX-License-Identifier: MIT
// Memory that other processes or devices can write. See hooks_shared.c.
#ifndef KR_HSA_HOOKS_SHARED_H
#define KR_HSA_HOOKS_SHARED_H

#include "hsa/table.h"

void kr_hsa_hooks_shared_install(const struct kr_hsa_table *table);

#endif
