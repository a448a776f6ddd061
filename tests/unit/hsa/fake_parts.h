// SPDX-License-Identifier: MIT
// The parts of the fake runtime that queues do not need: agents, memory, the executable, extensions.
#ifndef TEST_HSA_FAKE_PARTS_H
#define TEST_HSA_FAKE_PARTS_H

#include "hsa/table.h"

void fake_parts_install(void (*set)(enum kr_hsa_function function, void *address));
void fake_run_kernel(uint64_t object, void *arguments);
void fake_run_vendor(const void *packet);

#endif
