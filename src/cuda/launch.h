// SPDX-License-Identifier: MIT
// One launch call of the program's while its window is open: what is needed to launch it again.
#ifndef KR_CUDA_LAUNCH_H
#define KR_CUDA_LAUNCH_H

#include "cuda/state.h"

enum kr_launch_shape { KR_LAUNCH_KERNEL, KR_LAUNCH_EX, KR_LAUNCH_COOPERATIVE, KR_LAUNCH_OTHER };

struct kr_launch {
    struct kr_cuda *cuda;
    struct kr_device *device;
    enum kr_launch_shape shape;
    const void *params; // the call's arguments, which live until it returns
    CUstream stream;
    bool admitted;           // the engine prepares a replay
    bool counted;            // among kr_cuda.windows
    bool failed;             // the program's own launch did not succeed, or its end could not be marked
    bool timed;              // its begin was marked
    unsigned loads;          // kr_cuda_loads.count when the window opened
    struct kr_launch *outer; // of this thread: this one comes from a tool's callback inside its window
    struct kr_kernel *kernel;
    size_t argument;   // of the call, which keeps it from being replayed; SIZE_MAX: none does
    uint64_t start_ns; // of the execution going on
    struct kr_op op;
    struct kr_window window;
};

CUresult kr_launch_again(const struct kr_launch *launch);

// Within the window of this thread's launch: it must not be replayed after all.
void kr_launch_refuse(kreplay_reason reason);
// Has the live execution loaded a module? Its variables are not in the snapshot.
bool kr_launch_has_loaded(void);

#endif
