// SPDX-License-Identifier: MIT
// What is listened to: driver calls by name, and what each means for replay.
#ifndef KR_CUDA_CALLBACKS_H
#define KR_CUDA_CALLBACKS_H

#include "cuda/state.h"

// A driver call of the program's, seen at its start (CUPTI_API_ENTER) and its end.
struct kr_call_site {
    struct kr_cuda *cuda;
    const struct kr_call *call;
    CUpti_CallbackId cbid;
    const CUpti_CallbackData *data;
    struct kr_device *device; // of the current context; NULL: there is none, and the call can do without
};

struct kr_call {
    const char *name; // of the call; a trailing '*' stands for any end
    void (*on)(const struct kr_call_site *site);
    enum kr_memory_kind kind; // of what it allocates
};

static inline bool kr_call_enters(const struct kr_call_site *site)
{
    return site->data->callbackSite == CUPTI_API_ENTER;
}

// At the end: did the call do what it says?
static inline bool kr_call_succeeded(const struct kr_call_site *site)
{
    return *(const CUresult *)site->data->functionReturnValue == CUDA_SUCCESS;
}

// The gate is held from the start of a call to its end, that of each GPU in use, since a call can reach memory
// of another one (of all GPUs, if it is not known which is meant); correlationData remembers which.
void kr_call_hold_gate(const struct kr_call_site *site);
void kr_call_let_go(const struct kr_call_site *site);

// Says once that the call is one which kreplay cannot replay or capture.
void kr_call_complain(const struct kr_call_site *site, const char *consequence);

// Asks CUPTI for the calls of the table. KREPLAY_UNAVAILABLE: `error` says why.
int kr_callbacks_enable(struct kr_cuda *cuda, char *error, size_t error_bytes);
// CUPTI's callback; userdata is the struct kr_cuda.
void CUPTIAPI kr_cuda_callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                               const void *data);

// From now on nothing is replayed on GPUs in use. With their gates held.
void kr_call_end_replay(const struct kr_call_site *site);
// The inventory could not take memory in: what is not captured would not be put back, so nothing is replayed any
// more.
void kr_call_blind(const struct kr_call_site *site, int status);

// Handlers. All but those of launches and of peer access hold the gate from enter to exit; the exit of a call whose enter
// was not handled is left out.
// allocations.c
void kr_on_alloc(const struct kr_call_site *site); // arguments start with: where to put the address; bytes
void kr_on_alloc_async(const struct kr_call_site *site);
void kr_on_alloc_pitch(const struct kr_call_site *site);
void kr_on_map(const struct kr_call_site *site);     // address; bytes
void kr_on_mapping(const struct kr_call_site *site); // the same, of virtual memory
void kr_on_handle(const struct kr_call_site *site);  // where to put a handle or the address of unknown bytes
void kr_on_free(const struct kr_call_site *site);    // address or handle
void kr_on_unmap(const struct kr_call_site *site);   // address; bytes
void kr_on_device_pointer(const struct kr_call_site *site); // by which the GPU knows host memory
void kr_on_export(const struct kr_call_site *site);         // others can write it
void kr_on_pointer_attribute(const struct kr_call_site *site);
void kr_on_other_memory(const struct kr_call_site *site); // memory that nothing is known about, for good
void kr_on_reservation(const struct kr_call_site *site);  // where to put a handle; bytes
// contexts.c
void kr_on_submission(const struct kr_call_site *site);  // copies, fills and other work of the GPU
void kr_on_load_or_end(const struct kr_call_site *site); // of what windows use: not in the middle of one
void kr_on_green_context(const struct kr_call_site *site);
void kr_on_peer_access(const struct kr_call_site *site);
// variables.c
void kr_on_global(const struct kr_call_site *site);
void kr_on_library_global(const struct kr_call_site *site);
void kr_on_module_load(const struct kr_call_site *site);
void kr_on_module_unload(const struct kr_call_site *site);
void kr_on_library_unload(const struct kr_call_site *site);
// launch.c
void kr_on_launch_kernel(const struct kr_call_site *site);
void kr_on_launch_kernel_ex(const struct kr_call_site *site);
void kr_on_launch_cooperative(const struct kr_call_site *site);
void kr_on_launch_graph(const struct kr_call_site *site);
void kr_on_launch_other(const struct kr_call_site *site);
// graphs.c
void kr_on_graph_node(const struct kr_call_site *site);
void kr_on_graph_node_v2(const struct kr_call_site *site);
void kr_on_graph_set(const struct kr_call_site *site);
void kr_on_graph_exec_set(const struct kr_call_site *site);
void kr_on_graph_kernel(const struct kr_call_site *site);
void kr_on_graph_kernel_set(const struct kr_call_site *site);
void kr_on_graph_exec_kernel_set(const struct kr_call_site *site);
void kr_on_capture_begin(const struct kr_call_site *site);
void kr_on_capture_end(const struct kr_call_site *site);

#endif
