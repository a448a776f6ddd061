// SPDX-License-Identifier: MIT
// Where the functions that kreplay uses stand in the API table that ROCr hands to a tools library. The
// table's own header (hsa_api_trace.h) is C++ only and changes between releases, so the layouts are data
// here: one const table per known shape, found by version words and sizes.
#ifndef KR_HSA_TABLE_LAYOUTS_H
#define KR_HSA_TABLE_LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa/prototypes.h"

// Functions: table (CORE or EXT), name, type. Those marked optional do not exist in every known runtime.
#define KR_HSA_REQUIRED_MAP(X)                                                                               \
    X(CORE, hsa_shut_down, __typeof__(&hsa_shut_down))                                                       \
    X(CORE, hsa_system_get_info, __typeof__(&hsa_system_get_info))                                           \
    X(CORE, hsa_iterate_agents, __typeof__(&hsa_iterate_agents))                                             \
    X(CORE, hsa_agent_get_info, __typeof__(&hsa_agent_get_info))                                             \
    X(CORE, hsa_queue_create, __typeof__(&hsa_queue_create))                                                 \
    X(CORE, hsa_queue_destroy, __typeof__(&hsa_queue_destroy))                                               \
    X(CORE, hsa_queue_inactivate, __typeof__(&hsa_queue_inactivate))                                         \
    X(CORE, hsa_queue_load_read_index_scacquire, __typeof__(&hsa_queue_load_read_index_scacquire))           \
    X(CORE, hsa_queue_load_write_index_relaxed, __typeof__(&hsa_queue_load_write_index_relaxed))             \
    X(CORE, hsa_queue_store_write_index_screlease, __typeof__(&hsa_queue_store_write_index_screlease))       \
    X(CORE, hsa_agent_iterate_regions, __typeof__(&hsa_agent_iterate_regions))                               \
    X(CORE, hsa_region_get_info, __typeof__(&hsa_region_get_info))                                           \
    X(CORE, hsa_memory_allocate, __typeof__(&hsa_memory_allocate))                                           \
    X(CORE, hsa_memory_free, __typeof__(&hsa_memory_free))                                                   \
    X(CORE, hsa_memory_copy, __typeof__(&hsa_memory_copy))                                                   \
    X(CORE, hsa_signal_create, __typeof__(&hsa_signal_create))                                               \
    X(CORE, hsa_signal_destroy, __typeof__(&hsa_signal_destroy))                                             \
    X(CORE, hsa_signal_load_scacquire, __typeof__(&hsa_signal_load_scacquire))                               \
    X(CORE, hsa_signal_store_screlease, __typeof__(&hsa_signal_store_screlease))                             \
    X(CORE, hsa_signal_wait_relaxed, __typeof__(&hsa_signal_wait_relaxed))                                   \
    X(CORE, hsa_signal_wait_scacquire, __typeof__(&hsa_signal_wait_scacquire))                               \
    X(CORE, hsa_signal_subtract_screlease, __typeof__(&hsa_signal_subtract_screlease))                       \
    X(CORE, hsa_executable_destroy, __typeof__(&hsa_executable_destroy))                                     \
    X(CORE, hsa_executable_freeze, __typeof__(&hsa_executable_freeze))                                       \
    X(CORE, hsa_executable_symbol_get_info, __typeof__(&hsa_executable_symbol_get_info))                     \
    X(CORE, hsa_status_string, __typeof__(&hsa_status_string))                                               \
    X(CORE, hsa_system_get_major_extension_table, __typeof__(&hsa_system_get_major_extension_table))         \
    X(CORE, hsa_executable_iterate_agent_symbols, __typeof__(&hsa_executable_iterate_agent_symbols))         \
    X(EXT, hsa_amd_profiling_set_profiler_enabled, __typeof__(&hsa_amd_profiling_set_profiler_enabled))      \
    X(EXT, hsa_amd_profiling_get_dispatch_time, __typeof__(&hsa_amd_profiling_get_dispatch_time))            \
    X(EXT, hsa_amd_profiling_get_async_copy_time, __typeof__(&hsa_amd_profiling_get_async_copy_time))        \
    X(EXT, hsa_amd_memory_pool_get_info, __typeof__(&hsa_amd_memory_pool_get_info))                          \
    X(EXT, hsa_amd_agent_iterate_memory_pools, __typeof__(&hsa_amd_agent_iterate_memory_pools))              \
    X(EXT, hsa_amd_memory_pool_allocate, __typeof__(&hsa_amd_memory_pool_allocate))                          \
    X(EXT, hsa_amd_memory_pool_free, __typeof__(&hsa_amd_memory_pool_free))                                  \
    X(EXT, hsa_amd_memory_async_copy, __typeof__(&hsa_amd_memory_async_copy))                                \
    X(EXT, hsa_amd_agents_allow_access, __typeof__(&hsa_amd_agents_allow_access))                            \
    X(EXT, hsa_amd_memory_lock, __typeof__(&hsa_amd_memory_lock))                                            \
    X(EXT, hsa_amd_memory_unlock, __typeof__(&hsa_amd_memory_unlock))                                        \
    X(EXT, hsa_amd_memory_fill, __typeof__(&hsa_amd_memory_fill))                                            \
    X(EXT, hsa_amd_pointer_info, __typeof__(&hsa_amd_pointer_info))                                          \
    X(EXT, hsa_amd_ipc_memory_create, __typeof__(&hsa_amd_ipc_memory_create))                                \
    X(EXT, hsa_amd_ipc_memory_attach, __typeof__(&hsa_amd_ipc_memory_attach))                                \
    X(EXT, hsa_amd_ipc_memory_detach, __typeof__(&hsa_amd_ipc_memory_detach))                                \
    X(EXT, hsa_amd_signal_create, __typeof__(&hsa_amd_signal_create))                                        \
    X(EXT, hsa_amd_queue_intercept_create, kr_hsa_queue_intercept_create_fn)                                 \
    X(EXT, hsa_amd_queue_intercept_register, kr_hsa_queue_intercept_register_fn)                             \
    X(EXT, hsa_amd_memory_async_copy_rect, __typeof__(&hsa_amd_memory_async_copy_rect))                      \
    X(EXT, hsa_amd_memory_lock_to_pool, __typeof__(&hsa_amd_memory_lock_to_pool))                            \
    X(EXT, hsa_amd_interop_map_buffer, __typeof__(&hsa_amd_interop_map_buffer))                              \
    X(EXT, hsa_amd_interop_unmap_buffer, __typeof__(&hsa_amd_interop_unmap_buffer))                          \
    X(EXT, hsa_amd_svm_attributes_set, __typeof__(&hsa_amd_svm_attributes_set))

#define KR_HSA_OPTIONAL_MAP(X)                                                                               \
    X(EXT, hsa_amd_memory_async_copy_on_engine, kr_hsa_memory_async_copy_on_engine_fn)                       \
    X(EXT, hsa_amd_portable_export_dmabuf, kr_hsa_portable_export_dmabuf_fn)                                 \
    X(EXT, hsa_amd_vmem_map, kr_hsa_vmem_map_fn)                                                             \
    X(EXT, hsa_amd_vmem_unmap, kr_hsa_vmem_unmap_fn)

#define KR_HSA_FUNCTION_MAP(X) KR_HSA_REQUIRED_MAP(X) KR_HSA_OPTIONAL_MAP(X)

enum kr_hsa_function {
#define X(table, name, type) KR_FN_##name,
    KR_HSA_FUNCTION_MAP(X)
#undef X
        KR_FN_COUNT
};

enum kr_hsa_table_part { KR_HSA_CORE, KR_HSA_EXT, KR_HSA_PART_COUNT };

// Version words at the start of every table; minor is the table's size in bytes.
struct kr_hsa_version {
    uint32_t major, minor, step, reserved;
};

struct kr_hsa_layout {
    const char *runtime; // which releases have it, for messages
    uint32_t major[KR_HSA_PART_COUNT];
    uint32_t bytes[KR_HSA_PART_COUNT];
    bool append_only;            // larger tables of the same major fit too
    uint16_t slots[KR_FN_COUNT]; // index in 8-byte units from the table's start; 0 = does not exist
};

extern const struct kr_hsa_layout kr_hsa_layouts[];
extern const unsigned kr_hsa_layout_count;

enum kr_hsa_table_part kr_hsa_function_part(enum kr_hsa_function function);
const char *kr_hsa_function_name(enum kr_hsa_function function);
bool kr_hsa_function_required(enum kr_hsa_function function);

// The layout of tables with these version words, or NULL.
const struct kr_hsa_layout *kr_hsa_layout_find(const struct kr_hsa_version *core,
                                               const struct kr_hsa_version *ext);

#endif
