// SPDX-License-Identifier: MIT
// Owns what graphs bring: streams being captured into them, and nodes.
#include "cuda/callbacks.h"
#include "cuda/params.h"

#include <string.h>

// A graph's kernel runs without a launch call of its own: what it leaves in memory, and where, is known from here on.
static void look_at_kernel(const struct kr_call_site *site, CUfunction function)
{
    struct kr_cuda *cuda = site->cuda;
    struct kr_own own;

    kr_own_enter(&own, cuda, NULL);
    bool ours = kr_cuda_is_ours(cuda, site->device, site->data->context);
    struct kr_kernel *kernel = kr_kernels_get(cuda, site->device, ours, function);
    kr_own_leave(&own);
    if (kernel)
        kr_kernels_put(&cuda->kernels, kernel);
}

static void on_kernel(const struct kr_call_site *site, CUfunction function)
{
    if (!function)
        return; // the driver refuses it
    if (!kr_call_enters(site)) {
        kr_call_let_go(site);
        return;
    }
    kr_call_hold_gate(site);
    if (site->device) {
        look_at_kernel(site, function);
        return;
    }
    kr_call_complain(
        site, "a graph's kernel is not known without a current context; from now on kernels run once and "
              "are not counted");
    kr_call_end_replay(site);
}

static void on_node(const struct kr_call_site *site, const CUgraphNodeParams *node)
{
    if (!node)
        return; // the driver refuses it
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        kr_on_other_memory(site);
    else if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        on_kernel(site, node->kernel.func ? node->kernel.func : (CUfunction)node->kernel.kern);
}

void kr_on_graph_node(const struct kr_call_site *site)
{
    on_node(site, ((const struct kr_graph_node_params *)site->data->functionParams)->node);
}

void kr_on_graph_node_v2(const struct kr_call_site *site)
{
    on_node(site, ((const struct kr_graph_node_v2_params *)site->data->functionParams)->node);
}

void kr_on_graph_set(const struct kr_call_site *site)
{
    on_node(site, ((const struct kr_graph_set_params *)site->data->functionParams)->node);
}

void kr_on_graph_exec_set(const struct kr_call_site *site)
{
    on_node(site, ((const struct kr_graph_exec_set_params *)site->data->functionParams)->node);
}

static void on_kernel_node(const struct kr_call_site *site, const CUDA_KERNEL_NODE_PARAMS *node)
{
    // Older parameters end before the CUkernel.
    bool newer = strstr(site->call->name, "_v2") != NULL;
    if (node)
        on_kernel(site, node->func || !newer ? node->func : (CUfunction)node->kern);
}

void kr_on_graph_kernel(const struct kr_call_site *site)
{
    on_kernel_node(site, ((const struct kr_graph_kernel_params *)site->data->functionParams)->node);
}

void kr_on_graph_kernel_set(const struct kr_call_site *site)
{
    on_kernel_node(site, ((const struct kr_graph_kernel_set_params *)site->data->functionParams)->node);
}

void kr_on_graph_exec_kernel_set(const struct kr_call_site *site)
{
    on_kernel_node(site, ((const struct kr_graph_exec_kernel_set_params *)site->data->functionParams)->node);
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
