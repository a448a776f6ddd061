// SPDX-License-Identifier: MIT
// Owns what calls about contexts mean: work that windows cannot know of, and access between GPUs.
#include "cuda/callbacks.h"
#include "cuda/params.h"

void kr_on_load_or_end(const struct kr_call_site *site)
{
    if (kr_call_enters(site))
        kr_call_hold_gate(site);
    else
        kr_call_let_go(site);
}

// A copy that a second context of the GPU makes can be meant for memory of the first one, whose windows wait for the work
// of their own context only.
static void look_for_second_context(const struct kr_call_site *site)
{
    struct kr_device *device = site->device;
    if (!device || device->lost || device->context == site->data->context ||
        atomic_exchange(&device->second_context, true))
        return;
    kr_engine_message(
        site->cuda->engine,
        "%s in a second context of GPU %u: its work is not waited for; from now on kernels run once "
        "there and are not counted",
        site->data->functionName, device->agent);
    kr_engine_blind(site->cuda->engine, device->agent, KREPLAY_REASON_UNTRACKED_MEMORY);
}

void kr_on_submission(const struct kr_call_site *site)
{
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    look_for_second_context(site);
}

// A context of its own for some of the multiprocessors, with the memory of the primary one: its work is not in what one of
// them waits for.
void kr_on_green_context(const struct kr_call_site *site)
{
    const struct kr_green_params *params = site->data->functionParams;
    struct kr_cuda *cuda = site->cuda;
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    kr_call_complain(
        site,
        "work of green contexts cannot be kept apart; from now on kernels run once and are not counted");
    for (uint32_t i = 0; i < cuda->device_count; i++)
        if (cuda->devices[i].handle == params->device)
            kr_engine_blind(cuda->engine, i, KREPLAY_REASON_UNTRACKED_MEMORY);
}

// Of a context that need not have been seen before: programs enable access before they use the other GPU.
static bool device_of_context(const struct kr_cuda *cuda, CUcontext context, CUdevice *device)
{
    CUcontext before;
    struct kr_own own;
    bool known = false;

    kr_own_enter(&own, cuda, NULL);
    if (cuda->driver.ctx_push_current(context) == CUDA_SUCCESS) {
        known = cuda->driver.ctx_get_device(device) == CUDA_SUCCESS;
        cuda->driver.ctx_pop_current(&before);
    }
    kr_own_leave(&own);
    return known;
}

void kr_on_peer_access(const struct kr_call_site *site)
{
    const struct kr_peer_params *params = site->data->functionParams;
    CUdevice peer;
    if (!kr_call_enters(site))
        return;
    if (!device_of_context(site->cuda, params->peer, &peer))
        return; // kernels that point into its memory are declined then
    for (uint32_t i = 0; i < site->cuda->device_count; i++)
        if (site->cuda->devices[i].handle == peer)
            kr_engine_allow_access(site->cuda->engine, i, site->device->agent);
}
