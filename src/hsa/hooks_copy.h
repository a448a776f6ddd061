// SPDX-License-Identifier: MIT
// Hooks on everything by which the program's processor code moves device memory.
#ifndef KR_HSA_HOOKS_COPY_H
#define KR_HSA_HOOKS_COPY_H

#include "hsa/table.h"

void kr_hsa_hooks_copy_install(const struct kr_hsa_table *table);

#endif
