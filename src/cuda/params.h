// SPDX-License-Identifier: MIT
// Arguments of the driver calls that are listened to, as CUPTI shows them: a struct with the arguments in
// order. (CUDA's own generated_cuda_meta.h has them all, and needs types of interfaces that cuda.h no longer
// shows.)
#ifndef KR_CUDA_PARAMS_H
#define KR_CUDA_PARAMS_H

#include <cuda.h>

// cuMemAlloc_v2, cuMemCreate, cuMemAllocManaged, cuMemAllocAsync, cuMemAllocFromPoolAsync, cuMemAllocHost_v2,
// cuMemHostAlloc: how they begin.
struct kr_alloc_params {
    void **result;
    size_t bytes;
};

struct kr_alloc_pitch_params {
    void **result;
    size_t *pitch;
    size_t width_bytes, height;
    unsigned element_bytes;
};

// cuMemMap, cuMemUnmap, cuMemHostRegister, cuMemHostRegister_v2: how they begin.
struct kr_range_params {
    void *base;
    size_t bytes;
};

// cuArrayCreate_v2, cuArray3DCreate_v2, cuMipmappedArrayCreate: how they begin.
struct kr_handle_params {
    void **result;
};

// cuMemFree_v2, cuMemFreeAsync, cuMemFreeHost, cuMemHostUnregister, cuArrayDestroy,
// cuMipmappedArrayDestroy, cuModuleUnload, cuLibraryUnload: how they begin.
struct kr_free_params {
    void *what;
};

// cuMemHostGetDevicePointer_v2
struct kr_device_pointer_params {
    void **result;
    void *host;
    unsigned flags;
};

// cuPointerSetAttribute
struct kr_pointer_attribute_params {
    const void *value;
    CUpointer_attribute attribute;
    CUdeviceptr address;
};

// cuModuleGetGlobal_v2, cuLibraryGetGlobal. The first two may be NULL.
struct kr_global_params {
    void **base;
    size_t *bytes;
    const void *owner;
    const char *name;
};

// cuGraphAddNode, and with data of the edges cuGraphAddNode_v2
struct kr_graph_node_params {
    CUgraphNode *result;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t dependency_count;
    const CUgraphNodeParams *node;
};

struct kr_graph_node_v2_params {
    CUgraphNode *result;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges;
    size_t dependency_count;
    const CUgraphNodeParams *node;
};

// cuGraphNodeSetParams, cuGraphExecNodeSetParams
struct kr_graph_set_params {
    CUgraphNode which;
    const CUgraphNodeParams *node;
};

struct kr_graph_exec_set_params {
    CUgraphExec graph;
    CUgraphNode which;
    const CUgraphNodeParams *node;
};

// cuGraphAddKernelNode, cuGraphKernelNodeSetParams, cuGraphExecKernelNodeSetParams, and what they became in _v2: only there
// a node's kernel can be a CUkernel.
struct kr_graph_kernel_params {
    CUgraphNode *result;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t dependency_count;
    const CUDA_KERNEL_NODE_PARAMS *node;
};

struct kr_graph_kernel_set_params {
    CUgraphNode which;
    const CUDA_KERNEL_NODE_PARAMS *node;
};

struct kr_graph_exec_kernel_set_params {
    CUgraphExec graph;
    CUgraphNode which;
    const CUDA_KERNEL_NODE_PARAMS *node;
};

// cuGreenCtxCreate
struct kr_green_params {
    CUgreenCtx *result;
    CUdevResourceDesc resources;
    CUdevice device;
    unsigned flags;
};

// cuCtxEnablePeerAccess
struct kr_peer_params {
    CUcontext peer;
    unsigned flags;
};

// cuLaunchKernel, and without `extra` cuLaunchCooperativeKernel
struct kr_launch_params {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **arguments, **extra;
};

// cuLaunchKernelEx
struct kr_launch_ex_params {
    const CUlaunchConfig *config;
    CUfunction function;
    void **arguments, **extra;
};

// cuGraphLaunch
struct kr_launch_graph_params {
    CUgraphExec graph;
    CUstream stream;
};

#endif
