// SPDX-License-Identifier: MIT
// Kernels by their function handle: name, id, where pointers can be among their arguments, and why a kernel
// must not be repeated.
#ifndef KR_CUDA_KERNELS_H
#define KR_CUDA_KERNELS_H

#include "cuda/driver.h"
#include "kreplay/kreplay.h"

#include <pthread.h>

struct kr_cuda;
struct kr_device;

struct kr_param {
    size_t offset, bytes; // in the packed argument buffer
};

struct kr_kernel {
    struct kr_kernel *next;
    const void *key; // the handle that the program launches, or the name of what is no kernel
    uint32_t
        agent; // a handle can be good for several GPUs, with variables on each; KR_ANY_AGENT: for a second context
    CUmodule module;
    unsigned uses; // by the table, and by launches under way
    uint64_t id;
    char *name; // mangled
    kreplay_reason unsafe;
    char *why; // the same in words; NULL: no more is to be said
    bool heap; // changes the device's heap, which no inventory knows
    struct kr_param *params;
    size_t param_count;
    uint32_t static_shared_bytes, local_bytes, registers;
    _Atomic bool why_said; // or that an argument of it points where replay cannot follow
};

#define KR_KERNEL_BUCKETS 1024

struct kr_kernels {
    pthread_mutex_t lock; // never held across a call of the driver's (modules.h)
    struct kr_kernel *buckets[KR_KERNEL_BUCKETS];
};

// The kernel of a handle as launch calls take it (CUfunction, or CUkernel in its place). When it is new, it
// is loaded, so that the launch itself will not allocate; its module's variables are captured from here on. If it uses the
// device's heap, nothing is replayed on the GPU from here on. NULL: the handle is not valid, or out of memory. Within
// kr_own_enter, as a reader of the GPU's gate.
// `ours`: the current context is the one that is replayed. Of another one's kernel only the name is learned: its module's
// variables are out of reach.
struct kr_kernel *kr_kernels_get(struct kr_cuda *cuda, struct kr_device *device, bool ours,
                                 CUfunction handle);
// Stands for work that is no single kernel. `name` is its key: a string constant.
struct kr_kernel *kr_kernels_pseudo(struct kr_cuda *cuda, const struct kr_device *device, const char *name,
                                    kreplay_reason unsafe);
// Gives back what either of them returned: it may have been forgotten meanwhile.
void kr_kernels_put(struct kr_kernels *kernels, struct kr_kernel *kernel);
void kr_kernels_forget(struct kr_kernels *kernels, CUmodule module);
void kr_kernels_close(struct kr_kernels *kernels); // frees the table

#endif
