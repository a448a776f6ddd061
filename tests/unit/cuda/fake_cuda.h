// SPDX-License-Identifier: MIT
// A CUDA driver and a CUPTI in plain C. Device memory is host memory; a kernel is a C function that gets the
// argument array; a launch runs it at once. Calls of the "program" go through fake_* below, which give the
// callbacks that CUPTI would give. One at a time.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "cuda/callbacks.h"
#include "cuda/params.h"

#define FAKE_VARIABLES 4
#define FAKE_PASSES    16
#define FAKE_GPUS      2 // at most

struct fake_module {
    const char *variables[FAKE_VARIABLES]; // as in its cubin, 8 bytes each
    uint64_t memory[FAKE_VARIABLES];
};

struct fake_kernel {
    const char *name;
    void (*run)(void **arguments);
    size_t param_bytes[9]; // ends at 0
    struct fake_module *module;
};

struct fake_cuda {
    struct kr_cuda cuda;
    // The device.
    unsigned launches;                 // of the program's kernels, by whomever
    unsigned compares, scatters, rows; // of kreplay's own kernels, and the grid of the last launch
    bool stuck;                        // events are never reached
    void (*waiting)(CUevent event);    // called when a question about an event is answered so
    unsigned blocked;                  // calls meanwhile that would wait for them
    bool slow;                         // kreplay's own stream never ends
    bool broken;                       // the context is: every question about work fails
    bool no_compiler;                  // of PTX
    bool no_begin;                     // the event before a launch cannot be recorded
    int gpus;                          // that the driver has: 1 unless set before the first call
    CUcontext context;                 // the program's current one, NULL = none: that of GPU 0 unless set
    size_t free_bytes;                 // 0 = much
    unsigned freed;                    // device memory of kreplay's that it gave back
    uint64_t entered;                  // correlationData after the start of the last call
    bool no_events, no_async;          // events cannot be recorded, asynchronous copies are refused
    void (*asked)(void);               // called inside questions about kernels and variables
    void (*wanted)(void);              // called inside the tool's CONFIG callback
    void (*passing)(void);             // and inside PASS enter
    bool unwanted;                     // the tool filters all dispatches
    unsigned context_events;           // recorded: each invalidates a capture that goes on
    CUstream capturing;
    // CUPTI.
    CUptiResult start_result, decode_result, evaluate_result;
    bool wrong_number, dropped, undefined; // of the pass, ranges, a count
    bool no_joint, merges;                 // it refuses to plan groups side by side, or mixes them up
    bool started, configured, sized;       // the session is ...
    size_t passes, next_pass;              // by its configuration
    unsigned runs[FAKE_PASSES];            // of each pass
    unsigned ranges, starts, sessions;
    int hosts; // objects that are open
    // What kreplay told.
    kreplay_outcome outcome[64];
    kreplay_pass_record pass[64][16];
    kreplay_value value[64][16][8];
    char kernel[64][64];
    size_t pass_count[64], record_count;
    uint64_t start_ns[64], end_ns[64];
    char said[4096];
    // What the tool wants.
    const char *const *names[4]; // groups
    size_t name_count[4], group_count;
    kreplay_group *groups[FAKE_GPUS][4];
};
extern struct fake_cuda fake;

// Two groups: {"sm__runs.sum"}, and {"sm__runs.sum", "sm__share.ratio", "sm__runs.max"}, which takes three
// executions.
void fake_start(void);
void fake_stop(void);
int fake_tear_down(void **state); // the same as cmocka's fixture

CUcontext fake_context(unsigned which); // of GPU 0, of GPU 1; 2 = a second one of GPU 0

// The program's calls.
CUresult fake_launch(struct fake_kernel *kernel, CUstream stream, void **arguments);
CUresult fake_launch_ex(struct fake_kernel *kernel, void **arguments, CUlaunchAttribute *attributes,
                        unsigned count);
CUresult fake_launch_packed(struct fake_kernel *kernel, void *buffer, size_t bytes);
void fake_launch_graph(void);
void *fake_alloc(const char *function, size_t bytes); // by the name of the driver's call
void *fake_alloc_pitch(size_t width_bytes, size_t height, size_t *pitch);
void fake_free(const char *function, void *memory);
void fake_call(const char *function, void *params, CUresult result); // any other
void fake_exit(const char *function, void *params, CUresult result); // whose start was not seen
CUresult fake_launch_by(const char *function, struct fake_kernel *kernel, void **arguments);
void fake_load(const unsigned char *cubin, size_t bytes, uint32_t id);
void fake_unload(uint32_t id);
void fake_lose_context(void); // the current one ends
void fake_load_module(struct fake_module *module, const unsigned char *cubin, size_t bytes, uint32_t id);

// fake_cupti.c
void fake_cupti_fill(struct kr_cupti *cupti);
CUpti_CallbackId fake_callback_id(const char *function);
void fake_cupti_launch(void); // a kernel runs

#endif
