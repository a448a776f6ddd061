// SPDX-License-Identifier: MIT
// AMD's public driver interface header, with its functions made visible: they are what this library exports.
// Also what the files of the thunk share about its state.
#ifndef SG_HSAKMT_API_H
#define SG_HSAKMT_API_H

#pragma GCC visibility push(default)
#include <hsakmt.h>
#pragma GCC visibility pop

#include "softgpu/thunk/gpu.h"

#include <stdbool.h>
#include <stdint.h>

// The interface is open and this process is the one that opened it. A forked child has none of the queue
// threads and perhaps locks that nobody will release, so every call of it must return at once when this is
// false.
bool sg_thunk_usable(void);

// What a call that only gives something back returns when the interface is not usable. In a forked child that
// is success: there is nothing of its own to give back, and ROCr's destructors at exit abort on anything
// else.
HSAKMT_STATUS sg_thunk_release_status(void);

// For the preloaded check library: the size that the program asked for of the allocation at `address`.
__attribute__((visibility("default"))) void softgpu_mem_asked(const void *address, uint64_t bytes);

// Node 0 is the CPU node; GPU i is node 1 + i.
#define SG_MAX_GPUS 8
#define SG_CPU_NODE 0u

// Prepares the GPUs that SOFTGPU_DEVICES (1..8, default 1) asks for; later calls do nothing. 0 or -ENOMEM.
// They live until the process ends: queue threads may use them for as long.
int sg_gpus_open(void);
unsigned sg_gpu_count(void);
struct sg_gpu *sg_gpu_of_node(uint32_t node); // NULL for the CPU node and beyond

// Makes what kernels write of events known as memory of the GPUs. 0 or -ENOMEM.
int sg_events_open(void);

// Byte sizes of a GPU's local memory and of the host's memory.
uint64_t sg_gpu_local_bytes(void);
uint64_t sg_host_bytes(void);

// Upper halves of the FLAT apertures, which the topology reports as heap addresses.
#define SG_SHARED_APERTURE  0x1000000000000ull
#define SG_PRIVATE_APERTURE 0x2000000000000ull

#endif
