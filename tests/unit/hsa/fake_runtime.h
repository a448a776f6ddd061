// SPDX-License-Identifier: MIT
// An HSA runtime in plain C, as far as kreplay uses one: one host and one GPU agent, queues that a thread
// each works off, signals, pools, copies, one executable, the loader and profiling extensions. Kernels are C
// functions. The GPU's memory is the host's; whoever asks learns the owner of an address from pointer_info.
#ifndef TEST_HSA_FAKE_RUNTIME_H
#define TEST_HSA_FAKE_RUNTIME_H

#include "hsa/table.h"

typedef void (*fake_kernel)(void *arguments);

struct fake_runtime {
    void *root[4];
    void *core[130], *ext[60];
    // Switches
    bool no_counter_library;
    bool two_gpus;          // the second has no kernels
    _Atomic bool no_queues; // hsa_queue_create fails
    uint32_t
        largest_watched; // hsa_amd_queue_intercept_create refuses larger ones; 0 = all, UINT32_MAX = none
    _Atomic bool no_stopping; // hsa_queue_inactivate fails
    _Atomic bool slow_copies; // asynchronous copies that start now end when it is false again
    _Atomic unsigned
        stop_kernels; // queues that are being stopped: a kernel that waits gives up, as if stopped
    // What happened
    _Atomic unsigned ring_overflows; // packets that did not fit: ROCr would have ended the process
    _Atomic unsigned kernel_runs, counter_starts, counter_stops, async_copies, queues_created, queues_stopped,
        queues_destroyed, handlers_run, stops_refused, active_waits;
};
extern struct fake_runtime fake;

// Fills the table (layout of ROCm 5.2) and returns its root. Everything is as after a start of the process.
void *fake_start(void);
// The table as the program sees it: kreplay's hooks, where there are.
struct kr_hsa_api fake_program_api(void);

extern const hsa_agent_t fake_gpu, fake_cpu, fake_second_gpu;
extern const hsa_amd_memory_pool_t fake_device_pool, fake_host_pool, fake_kernarg_pool;

// The kernel objects of the one executable; registered by fake_load through the program's
// hsa_executable_freeze.
enum { FAKE_MAX_KERNELS = 8 };
uint64_t fake_kernel_object(unsigned index);
// One code object with these kernels and `data` (96 bytes) as its writable sections.
struct fake_kernel_info {
    const char *name; // with .kd
    fake_kernel function;
    uint32_t kernarg_bytes;
    bool prints; // has a hidden host-call buffer
};
void fake_load(const struct fake_kernel_info *kernels, unsigned count, void *data);

// What a program does with a queue of its own: one packet, then the doorbell.
void fake_submit(hsa_queue_t *queue, const void *packet);

// In a kernel: it ends with an error of its queue, which is told to the queue's callback on the runtime's one
// event thread. As in ROCr, destroying any queue waits for that thread.
void fake_fault(void);
// Something else that the program has that thread do.
void fake_event(void (*handler)(void *arg), void *arg);

int64_t fake_value(hsa_signal_t signal);
hsa_signal_t fake_signal(int64_t value);
void *fake_keep(void *object);            // of the program's, which does not free it
bool fake_wait_zero(hsa_signal_t signal); // within 20 s

#endif
