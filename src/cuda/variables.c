// SPDX-License-Identifier: MIT
// Module variables whose address the program asks for, and the end of modules and libraries.
#include "cuda/callbacks.h"
#include "cuda/memory.h"
#include "cuda/params.h"

// The program may ask for the address alone: the size is asked for again.
typedef CUresult size_question(const struct kr_driver *driver, size_t *bytes,
                               const struct kr_global_params *params);

static CUresult ask_module(const struct kr_driver *driver, size_t *bytes,
                           const struct kr_global_params *params)
{
    CUdeviceptr at;
    return driver->module_get_global(&at, bytes, (CUmodule)(uintptr_t)params->owner, params->name);
}

static CUresult ask_library(const struct kr_driver *driver, size_t *bytes,
                            const struct kr_global_params *params)
{
    CUdeviceptr at;
    return driver->library_get_global(&at, bytes, (CUlibrary)(uintptr_t)params->owner, params->name);
}

static void add(const struct kr_call_site *site, const struct kr_global_params *params, size_question *ask)
{
    const struct kr_driver *driver = &site->cuda->driver;
    enum kr_memory_kind kind = site->call->kind;
    size_t bytes = params->bytes ? *params->bytes : 0;
    struct kr_own own;

    kr_own_enter(&own, site->cuda, NULL);
    bool sized = params->bytes || ask(driver, &bytes, params) == CUDA_SUCCESS;
    if (kr_memory_is_managed(driver, (uintptr_t)*params->base))
        kind = KR_MEMORY_UNTRACKED;
    kr_own_leave(&own);
    int status = sized ? kr_modules_add_global(site->cuda, site->device->agent, params->owner, *params->base,
                                               bytes, kind)
                       : KREPLAY_DEVICE;
    if (status != 0)
        kr_call_blind(site, status);
}

static void on_global(const struct kr_call_site *site, size_question *ask)
{
    const struct kr_global_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site) && params->base && *params->base &&
        kr_cuda_is_ours(site->cuda, site->device, site->data->context))
        add(site, params, ask);
    kr_call_let_go(site);
}

void kr_on_global(const struct kr_call_site *site)
{
    on_global(site, ask_module);
}

void kr_on_library_global(const struct kr_call_site *site)
{
    on_global(site, ask_library);
}

// cuModuleLoad and its kin begin with where to put the handle.
void kr_on_module_load(const struct kr_call_site *site)
{
    static _Thread_local unsigned loads;
    const struct kr_handle_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        kr_memory_make_way(site->cuda, site->device, 0);
        loads = kr_cuda_loads.count;
        return;
    }
    if (kr_call_succeeded(site) && kr_cuda_loads.count == loads + 1)
        kr_modules_associate(&site->cuda->modules, *params->result, kr_cuda_loads.last_id);
    kr_call_let_go(site);
}

static _Thread_local bool forgotten; // something, when the unload call going on began

// One that fails, as it does while a stream is captured, leaves variables that nobody knows of any more.
static void let_go_of_unload(const struct kr_call_site *site)
{
    if (forgotten && !kr_call_succeeded(site))
        kr_call_blind(site, KREPLAY_DEVICE);
    kr_call_let_go(site);
}

void kr_on_module_unload(const struct kr_call_site *site)
{
    const struct kr_free_params *params = site->data->functionParams;
    if (!kr_call_enters(site)) {
        let_go_of_unload(site);
        return;
    }
    kr_call_hold_gate(site);
    forgotten = kr_modules_forget(site->cuda, params->what);
}

void kr_on_library_unload(const struct kr_call_site *site)
{
    const struct kr_free_params *params = site->data->functionParams;
    CUmodule module = NULL;
    struct kr_own own;

    if (!kr_call_enters(site)) {
        let_go_of_unload(site);
        return;
    }
    kr_call_hold_gate(site);
    forgotten = kr_modules_forget(site->cuda, params->what);
    kr_own_enter(&own, site->cuda, NULL);
    if (site->cuda->driver.library_get_module(&module, params->what) == CUDA_SUCCESS && module)
        forgotten |= kr_modules_forget(site->cuda, module);
    kr_own_leave(&own);
}
