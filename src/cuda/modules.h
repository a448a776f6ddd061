// SPDX-License-Identifier: MIT
// Modules: which cubin each was loaded from, and where its writable variables are, so that they are captured.
#ifndef KR_CUDA_MODULES_H
#define KR_CUDA_MODULES_H

#include "cuda/cubin.h"
#include "cuda/driver.h"
#include "engine/engine.h"

#include <pthread.h>

struct kr_cuda;
struct kr_device;

struct kr_loaded { // a cubin that CUPTI showed
    struct kr_loaded *next;
    struct kr_cubin *cubin;
    uint32_t module_id; // CUPTI's
    uint64_t digest;    // of the image: cubins with the same one can stand for each other
    CUmodule handle;    // of its module, where the load told; else NULL
    bool claimed;       // its module is known
    unsigned pins;      // somebody looks at it without the lock
    bool gone;          // unloaded meanwhile: the last pin frees it
};

struct kr_module {
    struct kr_module *next;
    unsigned uses; // by the list, and by who got it
    CUmodule handle;
    uint32_t agent; // KR_ANY_AGENT: a second context's
    uint64_t code_object_id;
    struct kr_loaded *loaded; // pinned; NULL: none fits
    bool incomplete;          // it has variables that could not be found, or in managed memory
    void **regions;           // in the inventory
    size_t region_count;
};

struct kr_global { // an address that the program asked for
    struct kr_global *next;
    const void *owner; // module or library
    void *base;
};

// CUPTI tells of modules while the driver holds locks of its own: `lock` is therefore never held across a call
// of the driver's (`claiming` is, and nobody takes it in what CUPTI tells).
struct kr_modules {
    pthread_mutex_t lock;     // of the lists
    pthread_mutex_t claiming; // one thread at a time brings modules and cubins together
    struct kr_loaded *loaded;
    struct kr_module *list;
    struct kr_global *globals;
};

// CUPTI shows a cubin that was loaded, or that it will be unloaded.
void kr_modules_loaded(struct kr_cuda *cuda, uint32_t module_id, const void *image, size_t bytes);
void kr_modules_unloading(struct kr_cuda *cuda, uint32_t module_id);

// Cubins that this thread saw loaded so far, and the last one.
struct kr_loads {
    unsigned count;
    uint32_t last_id;
};
extern _Thread_local struct kr_loads kr_cuda_loads;

// The program's call has loaded the module: the cubin that came with it is its own.
void kr_modules_associate(struct kr_modules *modules, CUmodule handle, uint32_t module_id);

// The module; its variables are in the inventory then. `kernel` is one of its kernels; *hint, unless NULL, is the
// cubin that was loaded when the kernel was. A module that is not `ours` is a second context's: its variables are not captured.
// NULL: out of memory. Within kr_own_enter. Given back by kr_modules_put.
struct kr_module *kr_modules_get(struct kr_cuda *cuda, const struct kr_device *device, bool ours,
                                 CUmodule handle, const char *kernel, const uint32_t *hint);
void kr_modules_put(struct kr_modules *modules, struct kr_module *module); // NULL is fine
// The code of the module, which stays while it is pinned: another copy of it may take its place in the module. NULL: none
// is known, and nothing has to be unpinned.
struct kr_loaded *kr_modules_pin(struct kr_modules *modules, const struct kr_module *module);
void kr_modules_unpin(struct kr_modules *modules, struct kr_loaded *loaded);

// The program learned the address of a variable (KREPLAY_NO_MEMORY: it is not captured), or unloads a module or
// library: its variables are forgotten.
int kr_modules_add_global(struct kr_cuda *cuda, uint32_t agent, const void *owner, void *base, size_t bytes,
                          enum kr_memory_kind kind);
bool kr_modules_forget(struct kr_cuda *cuda, const void *owner); // was there any?

void kr_modules_close(struct kr_modules *modules); // frees the lists

#endif
