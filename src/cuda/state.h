// SPDX-License-Identifier: MIT
// What the files of the CUDA back end share: the process's state, its GPUs, and how kreplay's own calls are
// kept apart from the program's.
#ifndef KR_CUDA_STATE_H
#define KR_CUDA_STATE_H

#include "cuda/blocks.h"
#include "cuda/cupti.h"
#include "cuda/driver.h"
#include "cuda/kernels.h"
#include "cuda/metrics.h"
#include "cuda/modules.h"
#include "cuda/profiler.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define KR_CUDA_MAX_DEVICES 64
#define KR_CUDA_ROOM_LEFT                                                                                    \
    (UINT64_C(128) << 20)          // bytes of device memory that kreplay leaves to CUPTI, driver and program
#define KR_CUDA_MAX_CALLBACKS 2048 // callback ids of the driver API: 805 in CUPTI 13.0

struct kr_launch;

// One GPU. Fields below `ready` are set up before it becomes true, and used by the writer of the agent's gate.
struct kr_device {
    uint32_t agent; // index of the device, in the driver's order
    CUdevice handle;
    bool pageable_access; // kernels can reach all host memory
    struct kr_metrics metrics;
    _Atomic(CUcontext) context; // the one whose work is replayed: the first that the program used
    _Atomic bool lost;          // that context is gone, and what was captured with it
    _Atomic bool set_up;        // was tried: once
    _Atomic bool ready;         // and has succeeded
    CUstream stream;            // kreplay's own, for copies and comparisons
    CUevent idle;               // everything before a window
    CUevent begin, end;         // around the program's own execution
    struct kr_blocks blocks;
    struct kr_ranges hosts; // host memory that kernels can reach, while a window is open
    bool host_address;      // captured memory holds an address of it, or could not be looked at
    bool host_address_said;
    _Atomic bool second_context; // has work
    _Atomic bool heap_used;      // by kernels: from then on nothing is replayed
    struct kr_profiler profiler;
    bool separate_said;
    bool passing; // a pass has begun in the window: it is no longer asked whether there may be any
    struct kr_launch *submitted; // in the pass going on
};

struct kr_cuda {
    struct kr_driver driver;
    struct kr_cupti cupti;
    struct kr_engine *engine;
    CUpti_SubscriberHandle subscriber;
    pid_t owner;               // the process that loaded us
    uint64_t copy_ns;          // bound of kreplay's own copies and comparisons
    _Atomic bool active;       // false: callbacks do nothing (before the start, at the end)
    _Atomic bool ending;       // the program is: nothing is replayed
    _Atomic unsigned windows;  // open now, or about to be; not counted are those that the end has met
    _Atomic unsigned captures; // streams being captured into graphs
    pthread_mutex_t lock;      // of the once-only steps below
    _Atomic bool prepared;     // the GPUs are known
    struct kr_device devices[KR_CUDA_MAX_DEVICES];
    uint32_t device_count;
    struct kr_modules modules;
    struct kr_kernels kernels;
    const struct kr_call *calls[KR_CUDA_MAX_CALLBACKS]; // by callback id; NULL: not listened to
    _Atomic bool complained[KR_CUDA_MAX_CALLBACKS];     // of this call, once
    _Atomic bool foreign_complained, several_complained;
};

// Depth of kreplay's own work on this thread: callbacks of driver calls made inside are not the program's.
extern _Thread_local unsigned kr_cuda_depth;

// Own work on a GPU: its context is current, and a stream capture of the program's does not forbid our calls.
struct kr_own {
    const struct kr_cuda *cuda;
    CUstreamCaptureMode mode;
    bool pushed;
};
// `device` may be NULL: the current context stays. KREPLAY_DEVICE: nothing to leave.
int kr_own_enter(struct kr_own *own, const struct kr_cuda *cuda, const struct kr_device *device);
void kr_own_leave(struct kr_own *own);

// devices.c
// The GPUs become known to the engine and its tool, once, on the first call of the program that has a
// context.
int kr_cuda_prepare(struct kr_cuda *cuda);
// The GPU of a context; NULL if it cannot be found. The first context of a GPU becomes the one that is
// replayed.
struct kr_device *kr_cuda_device(struct kr_cuda *cuda, CUcontext context);
// Is it the context whose work is replayed? Says so, once, when it is not.
bool kr_cuda_is_ours(struct kr_cuda *cuda, struct kr_device *device, CUcontext context);
// Has the program used one GPU only? Says so, once, when it has not: work that one GPU's stream has for another one's
// memory is not waited for, so nothing is replayed.
bool kr_cuda_is_alone(struct kr_cuda *cuda);
// Stream, events and kernels of kreplay's own, when the program first uses its context: before kernels of its own run, for
// which loading could have to wait. What fails is said, and nothing is replayed then.
void kr_device_set_up(struct kr_cuda *cuda, struct kr_device *device);
// The context is about to be destroyed.
void kr_device_lose(struct kr_cuda *cuda, CUcontext context);

// backend.c
extern const struct kr_backend kr_cuda_backend;

#endif
