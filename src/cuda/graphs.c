// SPDX-License-Identifier: MIT
// Owns what graphs bring: streams being captured into them, and nodes.
#include "cuda/callbacks.h"
#include "cuda/params.h"

static bool allocates(const CUgraphNodeParams *params)
{
    return params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
}

void kr_on_graph_node(const struct kr_call_site *site)
{
    const struct kr_graph_node_params *params = site->data->functionParams;
    if (allocates(params->node))
        kr_on_other_memory(site);
}

void kr_on_graph_node_v2(const struct kr_call_site *site)
{
    const struct kr_graph_node_v2_params *params = site->data->functionParams;
    if (allocates(params->node))
        kr_on_other_memory(site);
}

// Counted before the capture begins and after it has ended, within the gate: no window is open then.
void kr_on_capture_begin(const struct kr_call_site *site)
{
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        site->cuda->captures++;
        return;
    }
    if (!kr_call_succeeded(site))
        site->cuda->captures--;
    kr_call_let_go(site);
}

void kr_on_capture_end(const struct kr_call_site *site)
{
    if (kr_call_enters(site)) {
        kr_call_hold_gate(site);
        return;
    }
    // An end that reports an invalidated capture ends it all the same.
    CUresult result = *(const CUresult *)site->data->functionReturnValue;
    if ((result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
         result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) &&
        site->cuda->captures > 0)
        site->cuda->captures--;
    kr_call_let_go(site);
}
