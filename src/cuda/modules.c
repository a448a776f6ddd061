// SPDX-License-Identifier: MIT
// Owns the lists of cubins and modules. CUPTI shows the cubin without a handle, the driver gives the handle
// without the cubin: they are brought together at the first launch of a kernel of the module, before its
// window opens. A cubin fits a module if it has the kernel and all its variables are found there with their
// sizes.
#include "cuda/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Thread_local struct kr_loads kr_cuda_loads;

static uint64_t digest(const unsigned char *image, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ image[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void kr_modules_loaded(struct kr_cuda *cuda, uint32_t module_id, const void *image, size_t bytes)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_loaded *loaded = calloc(1, sizeof *loaded);

    kr_cuda_loads.count++;
    kr_cuda_loads.last_id = module_id;
    // A cubin that cannot be read is left out: kernels of its module are then not replayed.
    if (!loaded || kr_cubin_parse(image, bytes, &loaded->cubin) != 0) {
        free(loaded);
        return;
    }
    loaded->module_id = module_id;
    loaded->digest = digest(image, bytes);
    pthread_mutex_lock(&modules->lock);
    loaded->next = modules->loaded;
    modules->loaded = loaded;
    pthread_mutex_unlock(&modules->lock);
}

static void free_loaded(struct kr_loaded *loaded)
{
    kr_cubin_free(loaded->cubin);
    free(loaded);
}

// With the lock held.
static void unpin(struct kr_loaded *loaded)
{
    if (--loaded->pins == 0 && loaded->gone)
        free_loaded(loaded);
}

// With the lock held.
static void put_held(struct kr_module *module)
{
    if (--module->uses > 0)
        return;
    if (module->loaded)
        unpin(module->loaded);
    free(module->regions);
    free(module);
}

void kr_modules_put(struct kr_modules *modules, struct kr_module *module)
{
    if (!module)
        return;
    pthread_mutex_lock(&modules->lock);
    put_held(module);
    pthread_mutex_unlock(&modules->lock);
}

struct kr_loaded *kr_modules_pin(struct kr_modules *modules, const struct kr_module *module)
{
    pthread_mutex_lock(&modules->lock);
    struct kr_loaded *loaded = module->loaded;
    if (loaded)
        loaded->pins++;
    pthread_mutex_unlock(&modules->lock);
    return loaded;
}

void kr_modules_unpin(struct kr_modules *modules, struct kr_loaded *loaded)
{
    if (!loaded)
        return;
    pthread_mutex_lock(&modules->lock);
    unpin(loaded);
    pthread_mutex_unlock(&modules->lock);
}

void kr_modules_associate(struct kr_modules *modules, CUmodule handle, uint32_t module_id)
{
    pthread_mutex_lock(&modules->lock);
    for (struct kr_loaded *loaded = modules->loaded; loaded; loaded = loaded->next)
        if (loaded->module_id == module_id)
            loaded->handle = handle;
    pthread_mutex_unlock(&modules->lock);
}

// Without the lock: what was taken off the list.
static void drop_modules(struct kr_cuda *cuda, struct kr_module *module)
{
    while (module) {
        struct kr_module *next = module->next;
        for (size_t i = 0; i < module->region_count; i++)
            kr_inventory_remove(cuda->engine, module->regions[i]);
        kr_kernels_forget(&cuda->kernels, module->handle);
        kr_modules_put(&cuda->modules, module);
        module = next;
    }
}

static void drop_globals(struct kr_cuda *cuda, struct kr_global *global)
{
    while (global) {
        struct kr_global *next = global->next;
        kr_inventory_remove(cuda->engine, global->base);
        free(global);
        global = next;
    }
}

// With the lock held: takes modules of the cubin, or of the handle, off the list.
static struct kr_module *take_modules(struct kr_modules *modules, const struct kr_loaded *loaded,
                                      const void *handle)
{
    struct kr_module *taken = NULL;
    for (struct kr_module **link = &modules->list; *link;) {
        struct kr_module *module = *link;
        if (loaded ? module->loaded != loaded : (const void *)module->handle != handle) {
            link = &module->next;
            continue;
        }
        *link = module->next;
        module->next = taken;
        taken = module;
        if (module->loaded)
            module->loaded->claimed = false;
    }
    return taken;
}

// With the lock held, and `gone` pinned. The program's unload call has taken its module off the list already (kr_modules_forget): one
// that still stands for the cubin belongs to another copy of it, which it gets in exchange.
static void exchange(struct kr_modules *modules, struct kr_loaded *gone)
{
    struct kr_module *module = modules->list;
    struct kr_loaded *copy = modules->loaded;
    while (module && module->loaded != gone)
        module = module->next;
    while (copy && (copy->claimed || copy->digest != gone->digest))
        copy = copy->next;
    if (!module || !copy)
        return;
    copy->claimed = true;
    copy->pins++;
    module->loaded = copy;
    gone->pins--; // the caller has one more
}

void kr_modules_unloading(struct kr_cuda *cuda, uint32_t module_id)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_module *taken = NULL;

    pthread_mutex_lock(&modules->lock);
    struct kr_loaded **link = &modules->loaded;
    while (*link && (*link)->module_id != module_id)
        link = &(*link)->next;
    struct kr_loaded *found = *link;
    if (found) {
        *link = found->next;
        found->gone = true;
        found->pins++;
        exchange(modules, found);
        taken = take_modules(modules, found, NULL);
        unpin(found);
    }
    pthread_mutex_unlock(&modules->lock);
    drop_modules(cuda, taken);
}

enum fit { NO_FIT, FITS, FITS_IN_PART };

struct match {
    struct kr_loaded *loaded;
    enum fit fit;
    void **places; // of the cubin's variables; NULL = not found
    size_t found;
};

// Every variable that the driver knows by name must agree.
static void try_fit(const struct kr_driver *driver, CUmodule handle, struct match *match)
{
    const struct kr_cubin *cubin = match->loaded->cubin;
    match->fit = FITS;
    for (size_t i = 0; i < cubin->variable_count; i++) {
        CUdeviceptr at = 0;
        size_t bytes = 0;
        if (driver->module_get_global(&at, &bytes, handle, cubin->variables[i].name) != CUDA_SUCCESS) {
            if (!cubin->variables[i].constant)
                match->fit = FITS_IN_PART;
            continue;
        }
        if (bytes != cubin->variables[i].bytes) {
            match->fit = NO_FIT;
            return;
        }
        match->places[i] = (void *)(uintptr_t)at;
        match->found++;
    }
}

// Cubins with the kernel whose module is not known, pinned; the one that is surely meant alone. *out is to be freed.
static size_t pin_candidates(struct kr_modules *modules, CUmodule handle, const char *kernel,
                             const uint32_t *hint, struct kr_loaded ***out)
{
    size_t count = 0, found = 0;
    pthread_mutex_lock(&modules->lock);
    for (struct kr_loaded *loaded = modules->loaded; loaded; loaded = loaded->next)
        count++;
    *out = calloc(count + 1, sizeof **out);
    for (struct kr_loaded *loaded = modules->loaded; *out && loaded; loaded = loaded->next) {
        if (loaded->claimed || (loaded->handle && loaded->handle != handle) ||
            !kr_cubin_find(loaded->cubin, kernel))
            continue;
        bool sure = loaded->handle || (hint && loaded->module_id == *hint);
        if (sure) {
            while (found > 0)
                unpin((*out)[--found]);
        }
        loaded->pins++;
        (*out)[found++] = loaded;
        if (sure)
            break;
    }
    pthread_mutex_unlock(&modules->lock);
    return found;
}

// Among several that fit, the one with the most variables found is meant.
static struct match best_match(const struct kr_driver *driver, CUmodule handle, struct kr_loaded **candidates,
                               size_t count)
{
    struct match best = {0};
    for (size_t i = 0; i < count; i++) {
        struct match match = {.loaded = candidates[i]};
        match.places = calloc(match.loaded->cubin->variable_count + 1, sizeof *match.places);
        if (!match.places)
            break;
        try_fit(driver, handle, &match);
        if (match.fit == NO_FIT || (best.loaded && match.found <= best.found)) {
            free(match.places);
            continue;
        }
        free(best.places);
        best = match;
    }
    return best;
}

// The variables of the cubin become regions of the inventory. False: some of them did not.
static bool add_regions(struct kr_cuda *cuda, struct kr_module *module, struct match *match)
{
    bool all = true;
    module->regions = match->places;
    for (size_t i = 0; i < match->loaded->cubin->variable_count; i++) {
        void *place = match->places[i];
        if (!place)
            continue;
        if (kr_inventory_add(cuda->engine, module->agent, place, match->loaded->cubin->variables[i].bytes,
                             KR_MEMORY_MODULE) == 0)
            module->regions[module->region_count++] = place; // the list is the places, closed up
        else
            all = false;
    }
    return all;
}

static void publish(struct kr_modules *modules, struct kr_module *module)
{
    pthread_mutex_lock(&modules->lock);
    module->next = modules->list;
    modules->list = module;
    pthread_mutex_unlock(&modules->lock);
}

// Finds the cubin of the module, puts its variables into the inventory, and publishes the module.
static void claim(struct kr_cuda *cuda, struct kr_module *module, const char *kernel, const uint32_t *hint)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_loaded **candidates;
    size_t count = pin_candidates(modules, module->handle, kernel, hint, &candidates);
    struct match match = best_match(&cuda->driver, module->handle, candidates, count);

    module->incomplete = !match.loaded || match.fit != FITS || match.loaded->cubin->managed;
    if (match.loaded && !add_regions(cuda, module, &match))
        module->incomplete = true;
    pthread_mutex_lock(&modules->lock);
    if (match.loaded && !match.loaded->gone) {
        match.loaded->claimed = true;
        match.loaded->pins++;
        module->loaded = match.loaded;
    }
    module->next = modules->list;
    modules->list = module;
    for (size_t i = 0; i < count; i++)
        unpin(candidates[i]);
    pthread_mutex_unlock(&modules->lock);
    free(candidates);
}

static void announce(struct kr_cuda *cuda, uint32_t agent, struct kr_module *module)
{
    char uri[64];
    snprintf(uri, sizeof uri, "cuda-module://%" PRIuPTR, (uintptr_t)module->handle);
    module->code_object_id = kr_engine_new_id(cuda->engine, KR_ID_CODE_OBJECT);
    kr_engine_code_object(cuda->engine, &(kreplay_code_object){
                                            .size = sizeof(kreplay_code_object),
                                            .code_object_id = module->code_object_id,
                                            .agent_id = agent,
                                            .uri = uri,
                                        });
}

static struct kr_module *find(struct kr_modules *modules, CUmodule handle, uint32_t agent)
{
    pthread_mutex_lock(&modules->lock);
    struct kr_module *module = modules->list;
    while (module && (module->handle != handle || module->agent != agent))
        module = module->next;
    if (module)
        module->uses++;
    pthread_mutex_unlock(&modules->lock);
    return module;
}

static struct kr_module *make(struct kr_cuda *cuda, const struct kr_device *device, bool ours,
                              CUmodule handle, const char *kernel, const uint32_t *hint)
{
    struct kr_module *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->handle = handle;
    module->agent = ours ? device->agent : KR_ANY_AGENT;
    module->uses = 2; // the list's and the caller's
    announce(cuda, device->agent, module);
    if (handle && ours)
        claim(cuda, module, kernel, hint);
    else
        publish(&cuda->modules, module);
    return module;
}

struct kr_module *kr_modules_get(struct kr_cuda *cuda, const struct kr_device *device, bool ours,
                                 CUmodule handle, const char *kernel, const uint32_t *hint)
{
    struct kr_modules *modules = &cuda->modules;
    const uint32_t agent = ours ? device->agent : KR_ANY_AGENT;
    struct kr_module *module = find(modules, handle, agent);

    if (module)
        return module;
    pthread_mutex_lock(&modules->claiming);
    module = find(modules, handle, agent);
    if (!module)
        module = make(cuda, device, ours, handle, kernel, hint);
    pthread_mutex_unlock(&modules->claiming);
    return module;
}

int kr_modules_add_global(struct kr_cuda *cuda, uint32_t agent, const void *owner, void *base, size_t bytes,
                          enum kr_memory_kind kind)
{
    struct kr_modules *modules = &cuda->modules;
    if (kr_inventory_add(cuda->engine, agent, base, bytes, kind) != 0)
        return KREPLAY_NO_MEMORY;
    pthread_mutex_lock(&modules->lock);
    struct kr_global *global = modules->globals;
    while (global && (global->owner != owner || global->base != base))
        global = global->next;
    // Some programs ask before each use.
    if (!global && (global = malloc(sizeof *global))) {
        *global = (struct kr_global){modules->globals, owner, base};
        modules->globals = global;
    }
    pthread_mutex_unlock(&modules->lock);
    return global ? 0 : KREPLAY_NO_MEMORY;
}

bool kr_modules_forget(struct kr_cuda *cuda, const void *owner)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_global *globals = NULL;

    pthread_mutex_lock(&modules->lock);
    struct kr_module *taken = take_modules(modules, NULL, owner);
    for (struct kr_global **link = &modules->globals; *link;) {
        struct kr_global *global = *link;
        if (global->owner != owner) {
            link = &global->next;
            continue;
        }
        *link = global->next;
        global->next = globals;
        globals = global;
    }
    pthread_mutex_unlock(&modules->lock);
    bool any = taken || globals;
    drop_modules(cuda, taken);
    drop_globals(cuda, globals);
    return any;
}

void kr_modules_close(struct kr_modules *modules)
{
    while (modules->list) {
        struct kr_module *next = modules->list->next;
        free(modules->list->regions);
        free(modules->list);
        modules->list = next;
    }
    while (modules->loaded) {
        struct kr_loaded *next = modules->loaded->next;
        free_loaded(modules->loaded);
        modules->loaded = next;
    }
    while (modules->globals) {
        struct kr_global *next = modules->globals->next;
        free(modules->globals);
        modules->globals = next;
    }
}
