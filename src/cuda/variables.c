// SPDX-License-Identifier: MIT
// Module variables whose address the program asks for, and the end of modules and libraries.
#include "cuda/callbacks.h"
#include "cuda/memory.h"
#include "cuda/params.h"

static void add(const struct kr_call_site *site, const struct kr_global_params *params)
{
    enum kr_memory_kind kind = site->call->kind;
    struct kr_own own;

    if (kr_own_enter(&own, site->cuda, NULL) != 0)
        return;
    if (kr_memory_is_managed(&site->cuda->driver, (uintptr_t)*params->base))
        kind = KR_MEMORY_UNTRACKED;
    kr_own_leave(&own);
    if (kr_modules_add_global(site->cuda, site->device->agent, params->owner, *params->base, *params->bytes,
                              kind) != 0)
        kr_call_blind(site);
}

void kr_on_global(const struct kr_call_site *site)
{
    const struct kr_global_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    if (kr_call_succeeded(site) && params->base && params->bytes &&
        kr_cuda_is_ours(site->cuda, site->device, site->data->context))
        add(site, params);
    kr_call_let_go(site);
}

// cuModuleLoad and its kin begin with where to put the handle. (cuModuleLoadingMode and the like load nothing.)
void kr_on_module_load(const struct kr_call_site *site)
{
    static _Thread_local unsigned loads;
    const struct kr_handle_params *params = site->data->functionParams;
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        loads = kr_cuda_loads.count;
        return;
    }
    if (kr_call_succeeded(site) && kr_cuda_loads.count == loads + 1)
        kr_modules_associate(&site->cuda->modules, *params->result, kr_cuda_loads.last_id);
    kr_call_let_go(site);
}

void kr_on_module_unload(const struct kr_call_site *site)
{
    const struct kr_free_params *params = site->data->functionParams;
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    kr_modules_forget(site->cuda, params->what);
}

void kr_on_library_unload(const struct kr_call_site *site)
{
    const struct kr_free_params *params = site->data->functionParams;
    CUmodule module = NULL;
    struct kr_own own;

    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    kr_modules_forget(site->cuda, params->what);
    if (kr_own_enter(&own, site->cuda, NULL) != 0)
        return;
    if (site->cuda->driver.library_get_module(&module, params->what) == CUDA_SUCCESS && module)
        kr_modules_forget(site->cuda, module);
    kr_own_leave(&own);
}
