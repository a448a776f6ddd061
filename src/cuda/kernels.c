// SPDX-License-Identifier: MIT
// Owns the table of kernels.
#include "cuda/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kr_kernel **bucket_of(struct kr_kernels *kernels, const void *key)
{
    uint64_t hash = (uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    return &kernels->buckets[hash >> 54];
}

static void free_kernel(struct kr_kernel *kernel)
{
    free(kernel->params);
    free(kernel->why);
    free(kernel->name);
    free(kernel);
}

// With the lock held.
static void put_held(struct kr_kernel *kernel)
{
    if (--kernel->uses == 0)
        free_kernel(kernel);
}

void kr_kernels_put(struct kr_kernels *kernels, struct kr_kernel *kernel)
{
    pthread_mutex_lock(&kernels->lock);
    put_held(kernel);
    pthread_mutex_unlock(&kernels->lock);
}

static uint32_t attribute(const struct kr_driver *driver, CUfunction function, CUfunction_attribute which)
{
    int value = 0;
    if (driver->func_get_attribute(&value, which, function) != CUDA_SUCCESS || value < 0)
        return 0;
    return (uint32_t)value;
}

static int learn_params(const struct kr_driver *driver, CUfunction function, struct kr_kernel *kernel)
{
    struct kr_param param;
    size_t capacity = 0;
    while (driver->func_get_param_info(function, kernel->param_count, &param.offset, &param.bytes) ==
           CUDA_SUCCESS) {
        if (kernel->param_count == capacity) {
            capacity = capacity ? capacity * 2 : 8;
            struct kr_param *larger = realloc(kernel->params, capacity * sizeof *larger);
            if (!larger)
                return KREPLAY_NO_MEMORY;
            kernel->params = larger;
        }
        kernel->params[kernel->param_count++] = param;
    }
    return 0;
}

static char *words(const char *format, const char *name)
{
    char *text = NULL;
    return asprintf(&text, format, name) < 0 ? NULL : text;
}

static void judge_code(const struct kr_loaded *code, bool incomplete, struct kr_kernel *kernel)
{
    const struct kr_cubin_kernel *found = code ? kr_cubin_find(code->cubin, kernel->name) : NULL;

    if (!found) {
        kernel->unsafe = KREPLAY_REASON_UNTRACKED_MEMORY;
        kernel->why = words("the machine code of its module was not seen", NULL);
        return;
    }
    kernel->heap = found->heap;
    if (found->calls) {
        kernel->unsafe = KREPLAY_REASON_UNSAFE_KERNEL;
        kernel->why = words("it calls %s", found->calls);
    } else if (incomplete) {
        kernel->unsafe = KREPLAY_REASON_UNTRACKED_MEMORY;
        kernel->why = words(
            "its module has variables in managed memory, or such as the driver does not know by name", NULL);
    }
}

// Why the kernel must not be repeated. That a second context's must not is said once for all.
static void judge(struct kr_cuda *cuda, const struct kr_module *module, bool ours, struct kr_kernel *kernel)
{
    if (!ours) {
        kernel->unsafe = KREPLAY_REASON_UNTRACKED_MEMORY;
        return;
    }
    struct kr_loaded *code = kr_modules_pin(&cuda->modules, module);
    judge_code(code, module->incomplete, kernel);
    kr_modules_unpin(&cuda->modules, code);
}

static void learn_sizes(const struct kr_driver *driver, CUfunction function, struct kr_kernel *kernel)
{
    kernel->static_shared_bytes = attribute(driver, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    kernel->local_bytes = attribute(driver, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    kernel->registers = attribute(driver, function, CU_FUNC_ATTRIBUTE_NUM_REGS);
}

static void announce(struct kr_cuda *cuda, const struct kr_device *device, const struct kr_module *module,
                     struct kr_kernel *kernel)
{
    kernel->id = kr_engine_new_id(cuda->engine, KR_ID_KERNEL);
    kreplay_kernel record = {
        .size = sizeof record,
        .kernel_id = kernel->id,
        .code_object_id = module->code_object_id,
        .agent_id = device->agent,
        .name = kernel->name,
        .arch_vgprs = kernel->registers,
        .group_segment_bytes = kernel->static_shared_bytes,
        .private_segment_bytes = kernel->local_bytes,
    };
    if (kernel->param_count > 0) {
        const struct kr_param *last = &kernel->params[kernel->param_count - 1];
        record.kernarg_bytes = (uint32_t)(last->offset + last->bytes);
    }
    kr_engine_kernel(cuda->engine, &record);
}

// With the lock held.
static struct kr_kernel *add(struct kr_kernels *kernels, struct kr_kernel *kernel)
{
    struct kr_kernel **bucket = bucket_of(kernels, kernel->key);
    kernel->next = *bucket;
    *bucket = kernel;
    return kernel;
}

// With the lock held.
static struct kr_kernel *find_held(struct kr_kernels *kernels, const void *key, uint32_t agent)
{
    struct kr_kernel *kernel = *bucket_of(kernels, key);
    while (kernel && (kernel->key != key || kernel->agent != agent))
        kernel = kernel->next;
    return kernel;
}

static struct kr_kernel *find(struct kr_kernels *kernels, const void *key, uint32_t agent)
{
    pthread_mutex_lock(&kernels->lock);
    struct kr_kernel *kernel = find_held(kernels, key, agent);
    if (kernel)
        kernel->uses++;
    pthread_mutex_unlock(&kernels->lock);
    return kernel;
}

static struct kr_kernel *make(const void *key, uint32_t agent, const char *name)
{
    struct kr_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel && !(kernel->name = strdup(name))) {
        free(kernel);
        return NULL;
    }
    if (kernel) {
        kernel->key = key;
        kernel->agent = agent;
    }
    return kernel;
}

// Two threads may both find a kernel to be new: the second one's work is thrown away.
static struct kr_kernel *publish(struct kr_cuda *cuda, const struct kr_device *device,
                                 const struct kr_module *module, struct kr_kernel *kernel)
{
    struct kr_kernels *kernels = &cuda->kernels;
    pthread_mutex_lock(&kernels->lock);
    struct kr_kernel *known = find_held(kernels, kernel->key, kernel->agent);
    if (known) {
        free_kernel(kernel);
    } else {
        announce(cuda, device, module, kernel);
        known = add(kernels, kernel);
        known->uses++;
    }
    known->uses++;
    pthread_mutex_unlock(&kernels->lock);
    return known;
}

// The function behind a handle, and its module.
static bool resolve(const struct kr_driver *driver, CUfunction handle, CUfunction *function, CUmodule *module)
{
    *function = handle;
    if (driver->func_get_module(module, handle) == CUDA_SUCCESS)
        return true;
    return driver->kernel_get_function(function, (CUkernel)handle) == CUDA_SUCCESS &&
           driver->func_get_module(module, *function) == CUDA_SUCCESS;
}

// A kernel that is new.
static struct kr_kernel *learn(struct kr_cuda *cuda, struct kr_device *device, bool ours, CUfunction handle)
{
    const struct kr_driver *driver = &cuda->driver;
    struct kr_kernel *kernel;
    unsigned loads = kr_cuda_loads.count;
    CUfunction function = NULL;
    CUmodule handle_of_module = NULL;
    const char *name = NULL;

    kr_memory_make_way(cuda, device, 0); // loading takes some
    if (!resolve(driver, handle, &function, &handle_of_module) ||
        driver->func_load(function) != CUDA_SUCCESS || driver->func_get_name(&name, function) != CUDA_SUCCESS)
        return NULL;
    kernel = make(handle, ours ? device->agent : KR_ANY_AGENT, name);
    if (!kernel)
        return NULL;
    kernel->module = handle_of_module;
    learn_sizes(driver, function, kernel);
    struct kr_module *module =
        kr_modules_get(cuda, device, ours, handle_of_module, kernel->name,
                       kr_cuda_loads.count == loads + 1 ? &kr_cuda_loads.last_id : NULL);
    if (module && learn_params(driver, function, kernel) == 0) {
        judge(cuda, module, ours, kernel);
        kernel = publish(cuda, device, module, kernel);
    } else {
        free_kernel(kernel);
        kernel = NULL;
    }
    kr_modules_put(&cuda->modules, module);
    return kernel;
}

// What a kernel puts on the device's heap is in no inventory, and any later kernel may change it.
static void watch_heap(struct kr_cuda *cuda, struct kr_device *device, const struct kr_kernel *kernel)
{
    if (!kernel->heap || atomic_exchange(&device->heap_used, true))
        return;
    kr_engine_message(
        cuda->engine,
        "kernel %s uses malloc or free on GPU %u: what lies on that heap cannot be captured; from now on "
        "kernels run once there and are not counted",
        kernel->name, device->agent);
    kr_engine_blind(cuda->engine, device->agent, KREPLAY_REASON_UNTRACKED_MEMORY);
}

struct kr_kernel *kr_kernels_get(struct kr_cuda *cuda, struct kr_device *device, bool ours, CUfunction handle)
{
    struct kr_kernel *kernel = find(&cuda->kernels, handle, ours ? device->agent : KR_ANY_AGENT);
    if (!kernel)
        kernel = learn(cuda, device, ours, handle);
    if (kernel)
        watch_heap(cuda, device, kernel);
    return kernel;
}

struct kr_kernel *kr_kernels_pseudo(struct kr_cuda *cuda, const struct kr_device *device, const char *name,
                                    kreplay_reason unsafe)
{
    struct kr_kernel *kernel = find(&cuda->kernels, name, device->agent);
    if (kernel)
        return kernel;
    struct kr_module *module = kr_modules_get(cuda, device, true, NULL, name, NULL);
    kernel = module ? make(name, device->agent, name) : NULL;
    if (kernel) {
        kernel->unsafe = unsafe;
        kernel = publish(cuda, device, module, kernel);
    }
    kr_modules_put(&cuda->modules, module);
    return kernel;
}

void kr_kernels_forget(struct kr_kernels *kernels, CUmodule module)
{
    pthread_mutex_lock(&kernels->lock);
    for (size_t i = 0; i < KR_KERNEL_BUCKETS; i++) {
        struct kr_kernel **link = &kernels->buckets[i];
        while (*link) {
            struct kr_kernel *kernel = *link;
            if (!kernel->module || kernel->module != module) {
                link = &kernel->next;
                continue;
            }
            *link = kernel->next;
            put_held(kernel);
        }
    }
    pthread_mutex_unlock(&kernels->lock);
}

void kr_kernels_close(struct kr_kernels *kernels)
{
    for (size_t i = 0; i < KR_KERNEL_BUCKETS; i++)
        while (kernels->buckets[i]) {
            struct kr_kernel *kernel = kernels->buckets[i];
            kernels->buckets[i] = kernel->next;
            free_kernel(kernel);
        }
}
