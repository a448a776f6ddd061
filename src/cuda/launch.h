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
    bool open;
    bool admitted;  // the engine prepares a replay
    bool failed;    // the program's own launch did not succeed, or its end could not be marked
    unsigned loads; // kr_cuda_loads.count when the window opened
    struct kr_kernel *kernel;
    uint64_t start_ns; // of the execution going on
    struct kr_op op;
    struct kr_window window;
};

CUresult kr_launch_again(const struct kr_launch *launch);

// Has a stream capture begun since this thread's launch was judged? Then it is not replayed after all. With its window's
// gate held, so that none can begin any more.
bool kr_launch_meets_capture(struct kr_cuda *cuda);

#endif
