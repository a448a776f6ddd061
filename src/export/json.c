// SPDX-License-Identifier: MIT
// JSON in rocprofv3's layout (rocprofiler-sdk, source/lib/output/generateJSON.cpp: names and nesting of the
// keys), so that its readers work unchanged: a list of processes, counter_collection with a record a dispatch
// and pass, one value a counter instance. Where the two differ, ours adds: exact integers, "replay_pass", and
// the section "kreplay".
#include "export/application.h"
#include "export/json_writer.h"
#include "export/query.h"
#include "export/summary.h"

#include "kreplay/kreplay.h"

// Indexes of rocprofiler-sdk's buffer tracing kinds: readers look a record's kind up in
// strings.buffer_records.
static const char *const buffer_kinds[] = {
    "NONE",
    "HSA_CORE_API",
    "HSA_AMD_EXT_API",
    "HSA_IMAGE_EXT_API",
    "HSA_FINALIZE_EXT_API",
    "HIP_RUNTIME_API",
    "HIP_COMPILER_API",
    "MARKER_CORE_API",
    "MARKER_CONTROL_API",
    "MARKER_NAME_API",
    "MEMORY_COPY",
    "KERNEL_DISPATCH",
};
enum { KIND_KERNEL_DISPATCH = 11, OPERATION_COMPLETE = 2 };
static const char *const dispatch_operations[] = {"KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
                                                  "KERNEL_DISPATCH_COMPLETE"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct writer {
    struct kr_export *export;
    struct kr_json json;
    const char *guid; // of the process being written
};

static void put_handle(struct kr_json *json, const char *key, uint64_t handle)
{
    kr_json_object(json, key);
    kr_json_flat(json);
    kr_json_u64(json, "handle", handle);
    kr_json_close(json);
}

static void put_dim3(struct kr_json *json, const char *key, sqlite3_stmt *row, int column)
{
    static const char *const axes[] = {"x", "y", "z"};
    kr_json_object(json, key);
    kr_json_flat(json);
    for (int i = 0; i < 3; i++)
        kr_json_u64(json, axes[i], kr_store_u64(row, column + i));
    kr_json_close(json);
}

static void put_empty_list(struct kr_json *json, const char *key)
{
    kr_json_list(json, key);
    kr_json_close(json);
}

// ---- metadata

static int put_groups(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status =
        kr_query(w->export, &row,
                 "SELECT g.agent_id, g.group_index, i.name FROM kreplay_group g JOIN rocpd_info_pmc i"
                 " ON i.id = g.counter_id AND i.guid = g.guid WHERE g.guid = %Q"
                 " ORDER BY g.agent_id, g.group_index, g.position",
                 w->guid);
    int64_t agent = -1, group = -1;
    kr_json_list(json, "groups");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        if (sqlite3_column_int64(row, 0) != agent || sqlite3_column_int64(row, 1) != group) {
            if (group >= 0) {
                kr_json_close(json);
                kr_json_close(json);
            }
            agent = sqlite3_column_int64(row, 0);
            group = sqlite3_column_int64(row, 1);
            kr_json_object(json, NULL);
            kr_json_flat(json);
            kr_json_i64(json, "agent", agent);
            kr_json_i64(json, "index", group);
            kr_json_list(json, "counters");
        }
        kr_json_text(json, NULL, kr_column_text(row, 2));
    }
    if (group >= 0) {
        kr_json_close(json);
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

static int put_metadata(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status = kr_query(
        w->export, &row,
        "SELECT p.pid, p.start_ns, ifnull(p.end_ns, q.fini), p.command, p.complete, p.damaged_at,"
        " p.backend, p.version, p.run_id, p.start_unix_ns, n.id, n.hash, n.machine_id, n.system_name,"
        " n.hostname, n.release, n.version, n.hardware_name, n.domain_name,"
        " ifnull((SELECT mode FROM kreplay_run), 'kernel'), p.ppid,"
        " (SELECT max(executed_passes) FROM kreplay_outcome o WHERE o.guid = p.guid)"
        " FROM kreplay_process p JOIN rocpd_info_process q ON q.guid = p.guid"
        " JOIN rocpd_info_node n ON n.guid = p.guid WHERE p.guid = %Q",
        w->guid);
    if (!status)
        status = kr_query_next(w->export, row);
    if (status != 1)
        goto out;
    kr_json_object(json, "metadata");
    kr_json_object(json, "node");
    kr_json_u64(json, "id", kr_store_u64(row, 10));
    kr_json_u64(json, "hash", kr_store_u64(row, 11));
    static const char *const node_keys[] = {"machine_id", "system_name",   "hostname",   "release",
                                            "version",    "hardware_name", "domain_name"};
    for (int i = 0; i < (int)COUNT(node_keys); i++)
        kr_json_text(json, node_keys[i], kr_column_text(row, 12 + i));
    kr_json_close(json);
    kr_json_u64(json, "pid", kr_store_u64(row, 0));
    kr_json_u64(json, "init_time", kr_store_u64(row, 1));
    kr_json_u64(json, "fini_time", kr_store_u64(row, 2));
    kr_json_text(json, "command", kr_column_text(row, 3));
    kr_json_object(json, "config");
    kr_json_text(json, "replay_mode", kr_column_text(row, 19));
    kr_json_close(json);

    kr_json_object(json, "kreplay");
    kr_json_text(json, "version", kr_column_text(row, 7));
    kr_json_text(json, "mode", kr_column_text(row, 19));
    kr_json_u64(json, "passes", kr_store_u64(row, 21));
    kr_json_text(json, "backend", kr_column_text(row, 6));
    kr_json_u64(json, "run_id", kr_store_u64(row, 8));
    kr_json_u64(json, "ppid", kr_store_u64(row, 20));
    kr_json_u64(json, "start_unix_ns", kr_store_u64(row, 9));
    // false: the record has no end, as the process was killed, left without its exit handlers, or still had
    // work running; all its complete dispatches are here
    kr_json_bool(json, "complete", sqlite3_column_int(row, 4) != 0);
    kr_json_bool(json, "log_damaged", sqlite3_column_type(row, 5) != SQLITE_NULL);
    status = put_groups(w);
    kr_json_close(json);
    kr_json_close(json);
out:
    sqlite3_finalize(row);
    return status;
}

// ---- descriptions

static int put_agents(struct writer *w)
{
    sqlite3_stmt *row;
    int status =
        kr_query(w->export, &row,
                 "SELECT json_set(extdata, '$.runtime_visibility', json_object('hsa', 1, 'hip', 1)) FROM"
                 " rocpd_info_agent WHERE guid = %Q ORDER BY id",
                 w->guid);
    kr_json_list(&w->json, "agents");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_raw(&w->json, NULL, kr_column_text(row, 0)); // the record as the store keeps it
    }
    kr_json_close(&w->json);
    sqlite3_finalize(row);
    return status;
}

static int put_counters(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status =
        kr_query(w->export, &row,
                 "SELECT id, agent_id, name, description, block, expression, is_derived FROM rocpd_info_pmc"
                 " WHERE guid = %Q ORDER BY id",
                 w->guid);
    kr_json_list(json, "counters");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_object(json, NULL);
        put_handle(json, "agent_id", kr_store_u64(row, 1));
        put_handle(json, "id", kr_store_u64(row, 0));
        kr_json_u64(json, "is_constant", 0);
        kr_json_u64(json, "is_derived", kr_store_u64(row, 6));
        static const char *const keys[] = {"name", "description", "block", "expression"};
        for (int i = 0; i < (int)COUNT(keys); i++)
            kr_json_text(json, keys[i], kr_column_text(row, 2 + i));
        put_empty_list(json, "dimension_ids");
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

static void put_strings(struct kr_json *json)
{
    kr_json_object(json, "strings");
    put_empty_list(json, "callback_records");
    kr_json_list(json, "buffer_records");
    for (size_t i = 0; i < COUNT(buffer_kinds); i++) {
        kr_json_object(json, NULL);
        kr_json_flat(json);
        kr_json_text(json, "kind", buffer_kinds[i]);
        kr_json_list(json, "operations");
        for (size_t o = 0; i == KIND_KERNEL_DISPATCH && o < COUNT(dispatch_operations); o++)
            kr_json_text(json, NULL, dispatch_operations[o]);
        kr_json_close(json);
        kr_json_close(json);
    }
    kr_json_close(json);
    put_empty_list(json, "marker_api");
    kr_json_object(json, "correlation_id");
    kr_json_object(json, "external");
    kr_json_close(json);
    kr_json_close(json);
    kr_json_object(json, "counters");
    put_empty_list(json, "dimension_ids");
    kr_json_close(json);
    put_empty_list(json, "pc_sample_instructions");
    put_empty_list(json, "pc_sample_comments");
    put_empty_list(json, "att_filenames");
    put_empty_list(json, "code_object_snapshot_filenames");
    kr_json_close(json);
}

static int put_code_objects(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status =
        kr_query(w->export, &row,
                 "SELECT id, agent_id, uri, load_base, load_size, load_delta, storage_type = 'FILE' FROM"
                 " rocpd_info_code_object WHERE guid = %Q ORDER BY id",
                 w->guid);
    kr_json_list(json, "code_objects");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_object(json, NULL);
        kr_json_u64(json, "code_object_id", kr_store_u64(row, 0));
        put_handle(json, "rocp_agent", kr_store_u64(row, 1));
        kr_json_text(json, "uri", kr_column_text(row, 2));
        kr_json_u64(json, "load_base", kr_store_u64(row, 3));
        kr_json_u64(json, "load_size", kr_store_u64(row, 4));
        kr_json_i64(json, "load_delta", sqlite3_column_int64(row, 5));
        kr_json_u64(json, "storage_type", sqlite3_column_int(row, 6) ? 1 : 2);
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

static int put_kernel_symbols(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status = kr_query(
        w->export, &row,
        "SELECT id, code_object_id, kernarg_segment_size, group_segment_size, private_segment_size,"
        " sgpr_count, arch_vgpr_count, accum_vgpr_count, kernel_name, formatted_kernel_name,"
        " demangled_kernel_name, truncated_kernel_name FROM kernel_symbols WHERE guid = %Q ORDER BY id",
        w->guid);
    kr_json_list(json, "kernel_symbols");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        static const char *const numbers[] = {
            "kernel_id",          "code_object_id",       "kernarg_segment_size",
            "group_segment_size", "private_segment_size", "sgpr_count",
            "arch_vgpr_count",    "accum_vgpr_count"};
        static const char *const names[] = {"kernel_name", "formatted_kernel_name", "demangled_kernel_name",
                                            "truncated_kernel_name"};
        kr_json_object(json, NULL);
        for (int i = 0; i < (int)COUNT(numbers); i++)
            kr_json_u64(json, numbers[i], kr_store_u64(row, i));
        for (int i = 0; i < (int)COUNT(names); i++)
            kr_json_text(json, names[i], kr_column_text(row, (int)COUNT(numbers) + i));
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

// ---- dispatches

// Columns of a dispatch that "dispatch_info" needs, in this order, from rocpd_kernel_dispatch k.
#define INFO_COLUMNS                                                                                         \
    "k.dispatch_id, k.agent_id, k.queue_id, k.kernel_id, k.private_segment_size, k.group_segment_size,"      \
    " k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z, k.grid_size_x, k.grid_size_y, "            \
    "k.grid_size_z,"                                                                                         \
    " k.tid"
enum { INFO_TID = 12, INFO_END };

static void put_correlation(struct kr_json *json, sqlite3_stmt *row)
{
    kr_json_object(json, "correlation_id");
    kr_json_flat(json);
    kr_json_u64(json, "internal", kr_store_u64(row, 0));
    kr_json_u64(json, "external", 0);
    kr_json_close(json);
}

static void put_dispatch_info(struct kr_json *json, sqlite3_stmt *row)
{
    kr_json_object(json, "dispatch_info");
    put_handle(json, "agent_id", kr_store_u64(row, 1));
    put_handle(json, "queue_id", kr_store_u64(row, 2));
    kr_json_u64(json, "kernel_id", kr_store_u64(row, 3));
    kr_json_u64(json, "dispatch_id", kr_store_u64(row, 0));
    kr_json_u64(json, "private_segment_size", kr_store_u64(row, 4));
    kr_json_u64(json, "group_segment_size", kr_store_u64(row, 5));
    put_dim3(json, "workgroup_size", row, 6);
    put_dim3(json, "grid_size", row, 9);
    kr_json_close(json);
}

static void close_record(struct kr_json *json, uint64_t pass)
{
    kr_json_close(json); // records
    kr_json_u64(json, "replay_pass", pass);
    kr_json_close(json);
}

// One record a dispatch and pass. The rows are the values, in order; a record changes with dispatch or pass.
static int put_counter_collection(struct writer *w)
{
    enum { PASS = INFO_END, START, END_NS, COUNTER, VALUE, VGPRS, SGPRS };
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status = kr_query(
        w->export, &row,
        "SELECT " INFO_COLUMNS ", s.pass, s.start_ns, s.end_ns, v.counter_id, v.value,"
        " ks.arch_vgpr_count, ks.sgpr_count FROM kreplay_pass s"
        " JOIN rocpd_kernel_dispatch k ON k.guid = s.guid AND k.id = s.dispatch_id"
        " JOIN kreplay_value v ON v.guid = s.guid AND v.dispatch_id = s.dispatch_id AND v.pass = s.pass"
        " LEFT JOIN rocpd_info_kernel_symbol ks ON ks.guid = s.guid AND ks.id = k.kernel_id"
        " WHERE s.guid = %Q ORDER BY s.dispatch_id, s.pass, v.position",
        w->guid);
    uint64_t dispatch = 0, pass = 0;
    bool open = false;
    kr_json_list(json, "counter_collection");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        if (open && (kr_store_u64(row, 0) != dispatch || kr_store_u64(row, PASS) != pass)) {
            close_record(json, pass);
            open = false;
        }
        if (!open) {
            open = true;
            dispatch = kr_store_u64(row, 0);
            pass = kr_store_u64(row, PASS);
            kr_json_object(json, NULL);
            kr_json_u64(json, "thread_id", kr_store_u64(row, INFO_TID));
            kr_json_object(json, "dispatch_data");
            put_correlation(json, row);
            kr_json_u64(json, "start_timestamp", kr_store_u64(row, START));
            kr_json_u64(json, "end_timestamp", kr_store_u64(row, END_NS));
            put_dispatch_info(json, row);
            kr_json_close(json);
            put_handle(json, "stream_id", 0);
            kr_json_u64(json, "arch_vgpr_count", kr_store_u64(row, VGPRS));
            kr_json_u64(json, "sgpr_count", kr_store_u64(row, SGPRS));
            kr_json_u64(json, "lds_block_size_v", kr_store_u64(row, 5));
            kr_json_list(json, "records");
        }
        kr_json_object(json, NULL);
        kr_json_flat(json);
        put_handle(json, "counter_id", kr_store_u64(row, COUNTER));
        if (sqlite3_column_type(row, VALUE) == SQLITE_FLOAT)
            kr_json_real(json, "value", sqlite3_column_double(row, VALUE));
        else
            kr_json_u64(json, "value", kr_store_u64(row, VALUE));
        kr_json_close(json);
    }
    if (open)
        close_record(json, pass);
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

// Each dispatch once, with the times of the program's own execution.
static int put_kernel_dispatches(struct writer *w)
{
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status =
        kr_query(w->export, &row,
                 "SELECT " INFO_COLUMNS ", k.start, k.end FROM rocpd_kernel_dispatch k WHERE k.guid = %Q"
                 " ORDER BY k.dispatch_id",
                 w->guid);
    kr_json_list(json, "kernel_dispatch");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_object(json, NULL);
        kr_json_u64(json, "kind", KIND_KERNEL_DISPATCH);
        kr_json_u64(json, "operation", OPERATION_COMPLETE);
        kr_json_u64(json, "thread_id", kr_store_u64(row, INFO_TID));
        put_correlation(json, row);
        kr_json_u64(json, "start_timestamp", kr_store_u64(row, INFO_END));
        kr_json_u64(json, "end_timestamp", kr_store_u64(row, INFO_END + 1));
        put_dispatch_info(json, row);
        put_handle(json, "stream_id", 0);
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

// ---- kreplay's own section: the outcome of every dispatch, and what was said

static int put_outcomes(struct writer *w)
{
    enum { NUMBERS = 6 }; // from this column on, the columns' names are the keys
    struct kr_json *json = &w->json;
    sqlite3_stmt *row;
    int status = kr_query(
        w->export, &row,
        "SELECT dispatch_id, kind, reason, reason_text, deterministic, reentrant,"
        " window_id, requested_passes, executed_passes, captured_bytes, captured_regions,"
        " untracked_bytes, untracked_regions, compared_bytes, write_set_bytes, restored_bytes, restores,"
        " restore_retries, gate_ns, drain_ns, snapshot_ns, live_ns, compare_ns, restore_ns, passes_ns,"
        " finish_ns, untracked_vmem_bytes, untracked_vmem_regions, disagreements"
        " FROM kreplay_outcome WHERE guid = %Q ORDER BY dispatch_id",
        w->guid);
    kr_json_list(json, "dispatches");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_object(json, NULL);
        kr_json_u64(json, "dispatch_id", kr_store_u64(row, 0));
        kr_json_text(json, "outcome", kr_column_text(row, 1));
        kr_json_text(json, "reason", kr_column_text(row, 2));
        kr_json_text(json, "reason_text", kr_column_text(row, 3));
        kr_json_bool(json, "deterministic", sqlite3_column_int(row, 4) != 0);
        kr_json_bool(json, "reentrant", sqlite3_column_int(row, 5) != 0);
        for (int i = NUMBERS; i < sqlite3_column_count(row); i++)
            kr_json_u64(json, sqlite3_column_name(row, i), kr_store_u64(row, i));
        kr_json_close(json);
    }
    kr_json_close(json);
    sqlite3_finalize(row);
    return status;
}

static int put_messages(struct writer *w)
{
    sqlite3_stmt *row;
    int status = kr_query(w->export, &row, "SELECT text FROM kreplay_message WHERE guid = %Q ORDER BY number",
                          w->guid);
    kr_json_list(&w->json, "messages");
    while (!status && (status = kr_query_next(w->export, row)) == 1) {
        status = 0;
        kr_json_text(&w->json, NULL, kr_column_text(row, 0));
    }
    kr_json_close(&w->json);
    sqlite3_finalize(row);
    return status;
}

static int put_process(struct kr_export *export, const char *guid, void *arg)
{
    struct writer *w = arg;
    struct kr_json *json = &w->json;
    w->guid = guid;
    kr_json_object(json, NULL);
    int status = put_metadata(w);
    if (!status)
        status = put_agents(w);
    if (!status)
        status = put_counters(w);
    if (status)
        return status;
    put_strings(json);
    if ((status = put_code_objects(w)))
        return status;
    if ((status = put_kernel_symbols(w)))
        return status;
    put_empty_list(json, "host_functions");
    put_empty_list(json, "summary");

    kr_json_object(json, "callback_records");
    status = put_counter_collection(w);
    kr_json_close(json);
    if (status)
        return status;

    kr_json_object(json, "buffer_records");
    if ((status = put_kernel_dispatches(w)))
        return status;
    static const char *const others[] = {"hip_api",
                                         "hsa_api",
                                         "marker_api",
                                         "rccl_api",
                                         "memory_copy",
                                         "memory_allocation",
                                         "scratch_memory",
                                         "rocdecode_api",
                                         "rocjpeg_api",
                                         "pc_sample_host_trap",
                                         "pc_sample_stochastic"};
    for (size_t i = 0; i < COUNT(others); i++)
        put_empty_list(json, others[i]);
    kr_json_close(json);

    kr_json_object(json, "kreplay");
    status = put_outcomes(w);
    if (!status)
        status = kr_json_put_witnesses(export, json, guid);
    if (!status)
        status = kr_json_put_summary(export, json, guid);
    if (!status)
        status = kr_json_put_application(export, json, guid);
    if (!status)
        status = put_messages(w);
    kr_json_close(json);
    kr_json_close(json);
    return status;
}

int kr_export_json(struct kr_export *export)
{
    struct writer w = {.export = export};
    kr_json_begin(&w.json, export->out);
    kr_json_list(&w.json, "rocprofiler-sdk-tool");
    int status = kr_each_process(export, put_process, &w);
    if (status)
        return status; // the file is not whole: the caller removes it
    kr_json_close(&w.json);
    kr_json_end(&w.json);
    return kr_export_check_out(export);
}
