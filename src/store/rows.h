// SPDX-License-Identifier: MIT
// How records become rows: the statements of one process, and the binding of their values. Filling the store
// (load.c, load_dispatch.c) and joining runs (join.c) share it.
#ifndef KR_STORE_ROWS_H
#define KR_STORE_ROWS_H

#include "store/store_impl.h"

#include "kreplay/kreplay.h"

// Statements of one process; %s is the suffix of its rocpd tables. INSERT OR IGNORE where records may repeat.
#define STATEMENT_MAP(X)                                                                                     \
    X(STRING, "INSERT OR IGNORE INTO \"rocpd_string%s\" (id, string) VALUES (?, ?)")                         \
    X(NODE,                                                                                                  \
      "INSERT INTO \"rocpd_info_node%s\" (id, hash, machine_id, system_name, hostname, release, version,"    \
      " hardware_name, domain_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")                                     \
    X(PROCESS,                                                                                               \
      "INSERT INTO \"rocpd_info_process%s\" (id, nid, ppid, pid, init, start, command, extdata)"             \
      " VALUES (?1, ?2, ?3, ?1, ?4, ?4, ?5, json_object('kreplay', json_object('version', ?6, 'backend',"    \
      " ?7, 'mode', 'kernel')))")                                                                            \
    X(PROCESS_END, "UPDATE \"rocpd_info_process%s\" SET fini = ?1, \"end\" = ?1")                            \
    X(THREAD,                                                                                                \
      "INSERT OR IGNORE INTO \"rocpd_info_thread%s\" (id, nid, ppid, pid, tid) VALUES (?1, ?2, ?3, ?4, ?1)") \
    X(QUEUE, "INSERT OR IGNORE INTO \"rocpd_info_queue%s\" (id, nid, pid, name) VALUES (?, ?, ?, ?)")        \
    X(STREAM, "INSERT OR IGNORE INTO \"rocpd_info_stream%s\" (id, nid, pid, name) VALUES (?, ?, ?, ?)")      \
    X(AGENT,                                                                                                 \
      "INSERT OR IGNORE INTO \"rocpd_info_agent%s\" (id, nid, pid, type, absolute_index, logical_index,"     \
      " type_index, uuid, name, model_name, vendor_name, product_name, user_name, extdata)"                  \
      " VALUES (?1, ?2, ?3, 'GPU', ?1, ?1, ?4, 0, ?5, ?5, ?6, ?7, ?7,"                                       \
      " json_object('size', 0, 'id', json_object('handle', ?1), 'type', 2, 'cpu_cores_count', 0, "           \
      "'simd_count',"                                                                                        \
      " ?8 * ?9, 'cpu_core_id_base', 0, 'simd_id_base', 0, 'max_waves_per_simd', ?10 / max(?9, 1),"          \
      " 'lds_size_in_kb', ?11 / 1024, 'gds_size_in_kb', 0, 'num_gws', 0, 'wave_front_size', ?12, "           \
      "'num_xcc', 1,"                                                                                        \
      " 'cu_count', ?8, 'array_count', ?13, 'num_shader_banks', ?13, 'simd_arrays_per_engine', 1,"           \
      " 'cu_per_simd_array', ?8 / max(?13, 1), 'simd_per_cu', ?9, 'max_slots_scratch_cu', 0,"                \
      " 'gfx_target_version', ?14, 'vendor_id', ?15, 'device_id', 0, 'location_id', 0, 'domain', 0,"         \
      " 'drm_render_minor', 0, 'num_sdma_engines', 0, 'num_sdma_xgmi_engines', 0,"                           \
      " 'num_sdma_queues_per_engine', 0, 'num_cp_queues', 0, 'max_engine_clk_ccompute', 0,"                  \
      " 'max_engine_clk_fcompute', ?16, 'sdma_fw_version', 0, 'fw_version', 0, 'capability', 0,"             \
      " 'cu_per_engine', ?8 / max(?13, 1), 'max_waves_per_cu', ?10, 'family_id', 0, 'workgroup_max_size',"   \
      " 1024, 'grid_max_size', 4294967295, 'local_mem_size', ?17, 'hive_id', 0, 'gpu_id', 0,"                \
      " 'workgroup_max_dim', json_object('x', 1024, 'y', 1024, 'z', 1024), 'grid_max_dim',"                  \
      " json_object('x', 2147483647, 'y', 65535, 'z', 65535), 'name', ?5, 'vendor_name', ?6, "               \
      "'product_name',"                                                                                      \
      " ?7, 'model_name', ?5, 'node_id', ?1, 'logical_node_id', ?1, 'logical_node_type_id', ?4))")           \
    X(COUNTER,                                                                                               \
      "INSERT OR IGNORE INTO \"rocpd_info_pmc%s\" (id, nid, pid, agent_id, target_arch, event_code,"         \
      " name, symbol, description, component, value_type, block, expression, is_constant, is_derived,"       \
      " extdata) VALUES (?1, ?2, ?3, ?4, 'GPU', ?5, ?6, ?6, ?7, 'rocm', 'ABS', ?8, ?9, 0, ?10,"              \
      " json_object('instances', ?11))")                                                                     \
    X(CODE_OBJECT,                                                                                           \
      "INSERT OR IGNORE INTO \"rocpd_info_code_object%s\" (id, nid, pid, agent_id, uri, load_base,"          \
      " load_size, load_delta, storage_type, extdata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"                    \
      " json_object('size', 0))")                                                                            \
    X(KERNEL,                                                                                                \
      "INSERT OR IGNORE INTO \"rocpd_info_kernel_symbol%s\" (id, nid, pid, code_object_id, kernel_name,"     \
      " display_name, kernel_object, kernarg_segment_size, kernarg_segment_alignment, group_segment_size,"   \
      " private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count, extdata)"                       \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, 16, ?8, ?9, ?10, ?11, ?12, json_object('size', 0, "           \
      "'kernel_id',"                                                                                         \
      " ?1, 'formatted_kernel_name', ?6, 'demangled_kernel_name', ?6, 'truncated_kernel_name', ?13))")       \
    X(HAVE_KERNEL, "SELECT 1 FROM \"rocpd_info_kernel_symbol%s\" WHERE id = ?")                              \
    X(EVENT, "INSERT INTO \"rocpd_event%s\" (id, category_id, stack_id, parent_stack_id, correlation_id)"    \
             " VALUES (?1, 2, ?1, ?1, 0)")                                                                   \
    X(DISPATCH,                                                                                              \
      "INSERT INTO \"rocpd_kernel_dispatch%s\" (id, nid, pid, tid, agent_id, kernel_id, dispatch_id,"        \
      " queue_id, stream_id, start, \"end\", private_segment_size, group_segment_size, workgroup_size_x,"    \
      " workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id,"          \
      " event_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?1, ?7, 0, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,"     \
      " ?17, 1, ?1)")                                                                                        \
    X(PMC_EVENT, "INSERT INTO \"rocpd_pmc_event%s\" (event_id, pmc_id, value, instance) VALUES (?, ?, ?, "   \
                 "?)")

// Statements on our own tables, which have no suffix.
#define OWN_STATEMENT_MAP(X)                                                                                 \
    X(OWN_PROCESS,                                                                                           \
      "INSERT INTO kreplay_process (guid, suffix, run_id, pid, ppid, hostname, command, backend,"            \
      " version, start_ns, start_unix_ns, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                 \
    X(OWN_END, "UPDATE kreplay_process SET complete = 1, end_ns = ?2, dispatches = ?3, records_lost = ?4 "   \
               "WHERE guid = ?1")                                                                            \
    X(OWN_DAMAGE, "UPDATE kreplay_process SET damaged_at = ?2 WHERE guid = ?1")                              \
    X(OWN_OUTCOME,                                                                                           \
      "INSERT INTO kreplay_outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"      \
      " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")                                                                \
    X(OWN_PASS, "INSERT INTO kreplay_pass VALUES (?, ?, ?, ?, ?)")                                           \
    X(OWN_VALUE, "INSERT INTO kreplay_value VALUES (?, ?, ?, ?, ?, ?, ?)")                                   \
    X(OWN_GROUP, "INSERT INTO kreplay_group VALUES (?, ?, ?, ?, ?)")                                         \
    X(OWN_ROLE, "INSERT OR IGNORE INTO kreplay_role VALUES (?, ?, ?, ?)")                                    \
    X(OWN_WITNESS, "INSERT INTO kreplay_witness VALUES (?, ?, ?, ?, ?, ?)")                                  \
    X(OWN_GROUP_WITNESS, "INSERT INTO kreplay_group_witness VALUES (?, ?, ?, ?)")                            \
    X(OWN_MESSAGE, "INSERT INTO kreplay_message VALUES (?, ?, ?)")

// Statements of joining runs, on the temporary tables of join.c; %s as above.
#define JOIN_STATEMENT_MAP(X)                                                                                \
    X(JOIN_COUNTER, "SELECT id FROM \"rocpd_info_pmc%s\" WHERE agent_id = ? AND name = ?")                   \
    X(JOIN_COUNTER_ID, "SELECT CASE WHEN EXISTS (SELECT 1 FROM \"rocpd_info_pmc%s\" WHERE id = ?1) THEN "    \
                       "(SELECT max(id) + 1 FROM \"rocpd_info_pmc%s\") ELSE ?1 END")                         \
    X(JOIN_MAP, "INSERT OR REPLACE INTO temp.join_counter VALUES (?, ?)")                                    \
    X(JOIN_MAPPED, "SELECT base_id FROM temp.join_counter WHERE id = ?")                                     \
    X(JOIN_KERNEL, "INSERT OR REPLACE INTO temp.join_kernel VALUES (?, ?)")                                  \
    X(JOIN_KERNEL_NAME, "SELECT name FROM temp.join_kernel WHERE id = ?")                                    \
    X(JOIN_SEEN,                                                                                             \
      "INSERT INTO temp.join_seen VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET number = number + 1"      \
      " RETURNING number")                                                                                   \
    X(JOIN_FIND,                                                                                             \
      "UPDATE temp.join_base SET matched = ? WHERE guid = ? AND agent_id = ? AND kernel = ? AND grid = ?"    \
      " AND workgroup = ? AND occurrence = ? RETURNING dispatch_id")                                         \
    X(JOIN_HAVE_VALUE, "SELECT 1 FROM kreplay_value WHERE guid = ? AND dispatch_id = ? AND pass < ?"         \
                       " AND counter_id = ? LIMIT 1")                                                        \
    X(JOIN_UNMATCHED, "INSERT INTO kreplay_unmatched VALUES (?, 'extra', ?, ?, ?, ?, ?, ?, ?, ?)")           \
    X(JOIN_MESSAGE,                                                                                          \
      "INSERT INTO kreplay_message SELECT ?1, ifnull(max(number), -1) + 1, ?2 FROM kreplay_message"          \
      " WHERE guid = ?1")

enum kr_statement {
#define X(name, sql) S_##name,
    STATEMENT_MAP(X) OWN_STATEMENT_MAP(X) JOIN_STATEMENT_MAP(X)
#undef X
        S_COUNT,
};

enum { STRING_EMPTY = 1, STRING_KERNEL_DISPATCH = 2 }; // ids that the statements above rely on

#define KR_MAX_AGENTS 64

// A counter that was added to the group of one pass to compare passes by.
struct kr_witness {
    uint32_t agent_id, pass;
    uint64_t counter_id;
};

// What is known of the process whose log is read.
struct kr_loader {
    struct kr_store *store;
    const char *log_path;
    struct kr_store_ids ids;
    bool have_process;
    uint32_t pid, ppid;
    int64_t nid;
    uint32_t agent_node[KR_MAX_AGENTS];   // node id by agent id: rocpd names agents by node
    uint32_t agent_groups[KR_MAX_AGENTS]; // groups of each agent so far: the next one's pass
    struct kr_witness *witnesses;
    size_t witness_count;
    uint64_t messages;
    uint64_t last_end_ns;
    sqlite3_stmt *statements[S_COUNT]; // prepared at their first use
};

void kr_loader_close(struct kr_loader *loader); // finalizes the statements, frees what the loader holds

uint32_t kr_loader_node(const struct kr_loader *loader, uint32_t agent_id);

// NULL on failure, noted in the store.
sqlite3_stmt *kr_loader_statement(struct kr_loader *loader, enum kr_statement which);

// One insert = begin, a bind a value in order, done. A failure shows in done's status.
struct kr_row {
    struct kr_loader *loader;
    sqlite3_stmt *statement;
    int next;
};
struct kr_row kr_row_begin(struct kr_loader *loader, enum kr_statement which);
// id, nid, pid: how most rocpd rows begin.
struct kr_row kr_row_begin_info(struct kr_loader *loader, enum kr_statement which, uint64_t id);
void kr_row_u64(struct kr_row *row, uint64_t value);
void kr_row_real(struct kr_row *row, double value);
void kr_row_text(struct kr_row *row, const char *text); // NULL is SQL's NULL
void kr_row_guid(struct kr_row *row);                   // of the process
int kr_row_done(struct kr_row *row);

// load.c: a kernel of its own record, or one that a dispatch names.
int kr_load_kernel(struct kr_loader *loader, const kreplay_kernel *kernel);
int kr_load_counter(struct kr_loader *loader, const kreplay_counter *counter);
// load_dispatch.c
int kr_load_dispatch(struct kr_loader *loader, const kreplay_dispatch_record *record);
// A share of nothing: there is no number to store.
bool kr_value_undefined(const kreplay_value *value);
void kr_row_value(struct kr_row *row, const kreplay_value *value);

#endif
