// SPDX-License-Identifier: MIT
// Slots of the API table by release, read in hsa_api_trace.h of the public ROCR-Runtime repository at the
// tags rocm-4.5.2, 5.0.0, 5.1.3, 5.2.0, 5.2.3, 5.3.0, 5.3.3, 5.4.0, 5.4.4, 5.5.0, 5.5.1, 5.6.0, 5.6.1,
// 5.7.0, 5.7.1, 6.0.0, 6.0.2, 6.1.0, 6.1.2, 6.2.0, 6.2.4 and the branch amd-staging. Slot n is the 8 bytes
// at offset 8 n; slots 0 and 1 hold the version words.
//
// The core table is the same in all of them. In the extension table 5.5 put three stream-performance-monitor
// entries before the last one (none of ours moves), and 5.6 put the two copy-engine entries after
// memory_async_copy, which moved everything behind by two. From major version 2 (6.0) on the tables only grow
// at their ends.
#include "hsa/table_layouts.h"

#define CORE_SLOTS                                                                                           \
    [KR_FN_hsa_shut_down] = 3, [KR_FN_hsa_system_get_info] = 4, [KR_FN_hsa_iterate_agents] = 7,              \
    [KR_FN_hsa_agent_get_info] = 8, [KR_FN_hsa_queue_create] = 9, [KR_FN_hsa_queue_destroy] = 11,            \
    [KR_FN_hsa_queue_inactivate] = 12, [KR_FN_hsa_queue_load_read_index_scacquire] = 13,                     \
    [KR_FN_hsa_queue_load_write_index_relaxed] = 16, [KR_FN_hsa_queue_store_write_index_screlease] = 18,     \
    [KR_FN_hsa_agent_iterate_regions] = 29, [KR_FN_hsa_region_get_info] = 30,                                \
    [KR_FN_hsa_memory_allocate] = 35, [KR_FN_hsa_memory_free] = 36, [KR_FN_hsa_memory_copy] = 37,            \
    [KR_FN_hsa_signal_create] = 39, [KR_FN_hsa_signal_destroy] = 40, [KR_FN_hsa_signal_load_scacquire] = 42, \
    [KR_FN_hsa_signal_store_screlease] = 44, [KR_FN_hsa_signal_wait_relaxed] = 45,                           \
    [KR_FN_hsa_signal_wait_scacquire] = 46, [KR_FN_hsa_signal_subtract_screlease] = 69,                      \
    [KR_FN_hsa_executable_destroy] = 86, [KR_FN_hsa_executable_freeze] = 88,                                 \
    [KR_FN_hsa_executable_symbol_get_info] = 95, [KR_FN_hsa_status_string] = 97,                             \
    [KR_FN_hsa_system_get_major_extension_table] = 100, [KR_FN_hsa_executable_iterate_agent_symbols] = 125,

#define EXT_SLOTS_TO_17                                                                                      \
    [KR_FN_hsa_amd_profiling_set_profiler_enabled] = 4, [KR_FN_hsa_amd_profiling_get_dispatch_time] = 6,     \
    [KR_FN_hsa_amd_profiling_get_async_copy_time] = 7, [KR_FN_hsa_amd_memory_pool_get_info] = 13,            \
    [KR_FN_hsa_amd_agent_iterate_memory_pools] = 14, [KR_FN_hsa_amd_memory_pool_allocate] = 15,              \
    [KR_FN_hsa_amd_memory_pool_free] = 16, [KR_FN_hsa_amd_memory_async_copy] = 17,

#define EXT_SLOTS_FROM_18(shift)                                                                             \
    [KR_FN_hsa_amd_agents_allow_access] = 19 + (shift), [KR_FN_hsa_amd_memory_lock] = 22 + (shift),          \
    [KR_FN_hsa_amd_memory_unlock] = 23 + (shift), [KR_FN_hsa_amd_memory_fill] = 24 + (shift),                \
    [KR_FN_hsa_amd_pointer_info] = 28 + (shift), [KR_FN_hsa_amd_ipc_memory_create] = 30 + (shift),           \
    [KR_FN_hsa_amd_ipc_memory_attach] = 31 + (shift), [KR_FN_hsa_amd_ipc_memory_detach] = 32 + (shift),      \
    [KR_FN_hsa_amd_signal_create] = 33 + (shift), [KR_FN_hsa_amd_queue_intercept_create] = 37 + (shift),     \
    [KR_FN_hsa_amd_queue_intercept_register] = 38 + (shift),                                                 \
    [KR_FN_hsa_amd_memory_async_copy_rect] = 40 + (shift),                                                   \
    [KR_FN_hsa_amd_memory_lock_to_pool] = 42 + (shift), [KR_FN_hsa_amd_interop_map_buffer] = 25 + (shift),   \
    [KR_FN_hsa_amd_interop_unmap_buffer] = 26 + (shift), [KR_FN_hsa_amd_svm_attributes_set] = 46 + (shift),

#define EXT_SLOTS_WITH_ENGINES                                                                               \
    EXT_SLOTS_FROM_18(2)                                                                                     \
    [KR_FN_hsa_amd_memory_async_copy_on_engine] = 18, [KR_FN_hsa_amd_portable_export_dmabuf] = 55,

#define EXT_SLOTS_VMEM [KR_FN_hsa_amd_vmem_map] = 61, [KR_FN_hsa_amd_vmem_unmap] = 62,

// clang-format off
const struct kr_hsa_layout kr_hsa_layouts[] = {
    {
        .runtime = "ROCm 4.5 to 5.4",
        .major = {1, 1},
        .bytes = {1016, 400},
        .slots = {CORE_SLOTS EXT_SLOTS_TO_17 EXT_SLOTS_FROM_18(0)},
    },
    {
        .runtime = "ROCm 5.5",
        .major = {1, 1},
        .bytes = {1016, 424},
        .slots = {CORE_SLOTS EXT_SLOTS_TO_17 EXT_SLOTS_FROM_18(0)},
    },
    {
        .runtime = "ROCm 5.6 and 5.7",
        .major = {1, 1},
        .bytes = {1016, 456},
        .slots = {CORE_SLOTS EXT_SLOTS_TO_17 EXT_SLOTS_WITH_ENGINES},
    },
    {
        .runtime = "ROCm 6 and later",
        .major = {2, 2},
        // Up to the last slots that are required, core 125 and extension 48; vmem is taken when it is there.
        .bytes = {1008, 392},
        .append_only = true,
        .slots = {CORE_SLOTS EXT_SLOTS_TO_17 EXT_SLOTS_WITH_ENGINES EXT_SLOTS_VMEM},
    },
};
// clang-format on
const unsigned kr_hsa_layout_count = sizeof(kr_hsa_layouts) / sizeof(kr_hsa_layouts[0]);

static const struct {
    const char *name;
    enum kr_hsa_table_part part;
    bool required;
} functions[KR_FN_COUNT] = {
#define X(table, function, type) {#function, KR_HSA_##table, true},
    KR_HSA_REQUIRED_MAP(X)
#undef X
#define X(table, function, type) {#function, KR_HSA_##table, false},
        KR_HSA_OPTIONAL_MAP(X)
#undef X
};

enum kr_hsa_table_part kr_hsa_function_part(enum kr_hsa_function function)
{
    return functions[function].part;
}

const char *kr_hsa_function_name(enum kr_hsa_function function)
{
    return functions[function].name;
}

bool kr_hsa_function_required(enum kr_hsa_function function)
{
    return functions[function].required;
}

static bool fits(const struct kr_hsa_layout *layout, enum kr_hsa_table_part part,
                 const struct kr_hsa_version *version)
{
    if (version->major != layout->major[part])
        return false;
    return layout->append_only ? version->minor >= layout->bytes[part]
                               : version->minor == layout->bytes[part];
}

const struct kr_hsa_layout *kr_hsa_layout_find(const struct kr_hsa_version *core,
                                               const struct kr_hsa_version *ext)
{
    for (unsigned i = 0; i < kr_hsa_layout_count; i++) {
        const struct kr_hsa_layout *layout = &kr_hsa_layouts[i];
        if (fits(layout, KR_HSA_CORE, core) && fits(layout, KR_HSA_EXT, ext))
            return layout;
    }
    return NULL;
}
