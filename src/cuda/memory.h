// SPDX-License-Identifier: MIT
// Which memory an address among a kernel's arguments is in.
#ifndef KR_CUDA_MEMORY_H
#define KR_CUDA_MEMORY_H

#include "cuda/state.h"

// Why a kernel that can reach this address must not be replayed; NONE if it is captured memory or no address
// at all. Within kr_own_enter.
kreplay_reason kr_memory_judge(struct kr_cuda *cuda, const struct kr_device *device, uint64_t address);

// Within kr_own_enter.
bool kr_memory_is_managed(const struct kr_driver *driver, uint64_t address);

// The host memory that kernels can reach becomes device->hosts. KREPLAY_NO_MEMORY. No allocation may happen
// meanwhile.
int kr_memory_list_hosts(struct kr_cuda *cuda, struct kr_device *device);

// Before the program allocates: buffers of kreplay's give way if less than that, and what the driver needs, is free. As a
// reader of the GPU's gate. `device` may be NULL: nothing is known of the GPU.
void kr_memory_make_way(struct kr_cuda *cuda, struct kr_device *device, size_t bytes);

#endif
