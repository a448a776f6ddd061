// SPDX-License-Identifier: MIT
// Owns the lists of cubins and modules. CUPTI shows the cubin without a handle, the driver gives the handle
// without the cubin: they are brought together at the first launch of a kernel of the module, before its
// window opens. A cubin fits a module if it has the kernel and all its variables are found there with their
// sizes.
#include "cuda/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void kr_modules_loaded(struct kr_cuda *cuda, uint32_t module_id, const void *image, size_t bytes)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_loaded *loaded = calloc(1, sizeof *loaded);

    kr_cuda_loads++;
    // A cubin that cannot be read is left out: kernels of its module are then not replayed.
    if (!loaded || kr_cubin_parse(image, bytes, &loaded->cubin) != 0) {
        free(loaded);
        return;
    }
    loaded->module_id = module_id;
    pthread_mutex_lock(&modules->lock);
    loaded->next = modules->loaded;
    modules->loaded = loaded;
    pthread_mutex_unlock(&modules->lock);
}

// With the lock held.
static void drop_module(struct kr_cuda *cuda, struct kr_module **link)
{
    struct kr_module *module = *link;
    *link = module->next;
    for (size_t i = 0; i < module->region_count; i++)
        kr_inventory_remove(cuda->engine, module->regions[i]);
    kr_kernels_forget(&cuda->kernels, module->handle);
    free(module->regions);
    free(module);
}

void kr_modules_unloading(struct kr_cuda *cuda, uint32_t module_id)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_loaded **link = &modules->loaded, *found;

    pthread_mutex_lock(&modules->lock);
    while (*link && (*link)->module_id != module_id)
        link = &(*link)->next;
    found = *link;
    if (found) {
        struct kr_module **module = &modules->list;
        *link = found->next;
        while (*module && (*module)->loaded != found)
            module = &(*module)->next;
        if (*module)
            drop_module(cuda, module);
        kr_cubin_free(found->cubin);
        free(found);
    }
    pthread_mutex_unlock(&modules->lock);
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

// Among several that fit, the one with the most variables found is meant.
static struct match find_cubin(struct kr_cuda *cuda, CUmodule handle, const char *kernel)
{
    struct match best = {0};
    for (struct kr_loaded *loaded = cuda->modules.loaded; loaded; loaded = loaded->next) {
        struct match match = {.loaded = loaded};
        if (loaded->claimed || !kr_cubin_find(loaded->cubin, kernel))
            continue;
        match.places = calloc(loaded->cubin->variable_count + 1, sizeof *match.places);
        if (!match.places)
            break;
        try_fit(&cuda->driver, handle, &match);
        if (match.fit == NO_FIT || (best.loaded && match.found <= best.found)) {
            free(match.places);
            continue;
        }
        free(best.places);
        best = match;
    }
    return best;
}

// With the lock held: finds the cubin of the module and puts its variables into the inventory.
static void claim(struct kr_cuda *cuda, struct kr_module *module, const char *kernel)
{
    struct match match = find_cubin(cuda, module->handle, kernel);

    module->loaded = match.loaded;
    module->incomplete = !match.loaded || match.fit != FITS || match.loaded->cubin->managed;
    if (!match.loaded)
        return;
    match.loaded->claimed = true;
    module->regions = match.places;
    for (size_t i = 0; i < match.loaded->cubin->variable_count; i++) {
        void *place = match.places[i];
        if (!place)
            continue;
        if (kr_inventory_add(cuda->engine, module->agent, place, match.loaded->cubin->variables[i].bytes,
                             KR_MEMORY_MODULE) == 0)
            module->regions[module->region_count++] = place; // the list is the places, closed up
        else
            module->incomplete = true;
    }
}

static void announce(struct kr_cuda *cuda, struct kr_module *module)
{
    char uri[64];
    snprintf(uri, sizeof uri, "cuda-module://%" PRIuPTR, (uintptr_t)module->handle);
    module->code_object_id = kr_engine_new_id(cuda->engine, KR_ID_CODE_OBJECT);
    kr_engine_code_object(cuda->engine, &(kreplay_code_object){
                                            .size = sizeof(kreplay_code_object),
                                            .code_object_id = module->code_object_id,
                                            .agent_id = module->agent,
                                            .uri = uri,
                                        });
}

struct kr_module *kr_modules_get(struct kr_cuda *cuda, struct kr_device *device, CUmodule handle,
                                 const char *kernel)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_module *module;

    pthread_mutex_lock(&modules->lock);
    for (module = modules->list; module && module->handle != handle; module = module->next)
        continue;
    if (!module && (module = calloc(1, sizeof *module))) {
        module->handle = handle;
        module->agent = device->agent;
        if (handle)
            claim(cuda, module, kernel);
        announce(cuda, module);
        module->next = modules->list;
        modules->list = module;
    }
    pthread_mutex_unlock(&modules->lock);
    return module;
}

void kr_modules_add_global(struct kr_cuda *cuda, uint32_t agent, const void *owner, void *base, size_t bytes)
{
    struct kr_modules *modules = &cuda->modules;
    struct kr_global *global = malloc(sizeof *global);
    if (kr_inventory_add(cuda->engine, agent, base, bytes, KR_MEMORY_MODULE) != 0 || !global) {
        free(global);
        return;
    }
    pthread_mutex_lock(&modules->lock);
    *global = (struct kr_global){modules->globals, owner, base};
    modules->globals = global;
    pthread_mutex_unlock(&modules->lock);
}

void kr_modules_forget(struct kr_cuda *cuda, const void *owner)
{
    struct kr_modules *modules = &cuda->modules;
    pthread_mutex_lock(&modules->lock);
    for (struct kr_module **link = &modules->list; *link;) {
        if ((const void *)(*link)->handle == owner)
            drop_module(cuda, link);
        else
            link = &(*link)->next;
    }
    for (struct kr_global **link = &modules->globals; *link;) {
        struct kr_global *global = *link;
        if (global->owner != owner) {
            link = &global->next;
            continue;
        }
        *link = global->next;
        kr_inventory_remove(cuda->engine, global->base);
        free(global);
    }
    pthread_mutex_unlock(&modules->lock);
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
        kr_cubin_free(modules->loaded->cubin);
        free(modules->loaded);
        modules->loaded = next;
    }
    while (modules->globals) {
        struct kr_global *next = modules->globals->next;
        free(modules->globals);
        modules->globals = next;
    }
}
