// SPDX-License-Identifier: MIT
// HSA's headers as C, and the types of the runtime functions that only hsa_api_trace.h (C++) or newer headers
// than the oldest supported ones declare. Facts: hsa_api_trace.h and hsa_ext_amd.h of ROCR-Runtime, tags
// rocm-5.2.3 to rocm-6.2.4.
#ifndef KR_HSA_PROTOTYPES_H
#define KR_HSA_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

// Passes packets on to the hardware queue. At most one call per callback.
typedef void (*kr_hsa_packet_writer)(const void *packets, uint64_t count);
typedef void (*kr_hsa_intercept_handler)(const void *packets, uint64_t count, uint64_t user_index, void *data,
                                         kr_hsa_packet_writer writer);
typedef void (*kr_hsa_queue_error_fn)(hsa_status_t status, hsa_queue_t *queue, void *data);

typedef hsa_status_t (*kr_hsa_queue_intercept_create_fn)(hsa_agent_t agent, uint32_t size,
                                                         hsa_queue_type32_t type,
                                                         kr_hsa_queue_error_fn callback, void *data,
                                                         uint32_t private_segment_size,
                                                         uint32_t group_segment_size, hsa_queue_t **queue);
typedef hsa_status_t (*kr_hsa_queue_intercept_register_fn)(hsa_queue_t *queue,
                                                           kr_hsa_intercept_handler handler, void *data);

// Since 5.6. engine_id is an enumeration of the runtime's.
typedef hsa_status_t (*kr_hsa_memory_async_copy_on_engine_fn)(void *dst, hsa_agent_t dst_agent,
                                                              const void *src, hsa_agent_t src_agent,
                                                              size_t size, uint32_t num_dep_signals,
                                                              const hsa_signal_t *dep_signals,
                                                              hsa_signal_t completion_signal,
                                                              unsigned engine_id, bool force_copy_on_sdma);

typedef hsa_status_t (*kr_hsa_portable_export_dmabuf_fn)(const void *ptr, size_t size, int *dmabuf,
                                                         uint64_t *offset);

// Since 6.0. The handle is a struct of one 64-bit word.
typedef struct {
    uint64_t handle;
} kr_hsa_vmem_handle;
typedef hsa_status_t (*kr_hsa_vmem_map_fn)(void *va, size_t size, size_t in_offset, kr_hsa_vmem_handle handle,
                                           uint64_t flags);
typedef hsa_status_t (*kr_hsa_vmem_unmap_fn)(void *va, size_t size);

#endif
