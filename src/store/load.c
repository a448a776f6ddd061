// SPDX-License-Identifier: MIT
// Streams one record log into the store: a record becomes its rows at once, nothing is kept but the ids seen.
#include "store/names.h"
#include "store/store_impl.h"

#include "kreplay/kreplay.h"
#include "log/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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

enum statement {
#define X(name, sql) S_##name,
    STATEMENT_MAP(X)
#undef X
    // Our own tables have no suffix; their SQL stands below.
    S_OWN_PROCESS,
    S_OWN_END,
    S_OWN_DAMAGE,
    S_OWN_OUTCOME,
    S_OWN_PASS,
    S_OWN_VALUE,
    S_OWN_GROUP,
    S_OWN_MESSAGE,
    S_COUNT,
};

static const char *const statement_sql[S_COUNT] = {
#define X(name, sql) [S_##name] = sql,
    STATEMENT_MAP(X)
#undef X
        [S_OWN_PROCESS] =
            "INSERT INTO kreplay_process (guid, suffix, run_id, pid, ppid, hostname, command, backend,"
            " version, start_ns, start_unix_ns, log) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [S_OWN_END] = "UPDATE kreplay_process SET complete = 1, end_ns = ?2, dispatches = ?3 WHERE guid = ?1",
    [S_OWN_DAMAGE] = "UPDATE kreplay_process SET damaged_at = ?2 WHERE guid = ?1",
    [S_OWN_OUTCOME] =
        "INSERT INTO kreplay_outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [S_OWN_PASS] = "INSERT INTO kreplay_pass VALUES (?, ?, ?, ?, ?)",
    [S_OWN_VALUE] = "INSERT INTO kreplay_value VALUES (?, ?, ?, ?, ?, ?, ?)",
    [S_OWN_GROUP] = "INSERT INTO kreplay_group VALUES (?, ?, ?, ?, ?)",
    [S_OWN_MESSAGE] = "INSERT INTO kreplay_message VALUES (?, ?, ?)",
};

enum { STRING_EMPTY = 1, STRING_KERNEL_DISPATCH = 2 }; // ids that the statements above rely on

#define MAX_AGENTS 64

struct loader {
    struct kr_store *store;
    const char *log_path;
    struct kr_store_ids ids;
    bool have_process;
    uint32_t pid, ppid;
    int64_t nid;
    uint32_t agent_node[MAX_AGENTS]; // node id by agent id: rocpd names agents by node
    uint64_t messages;
    uint64_t last_end_ns;
    sqlite3_stmt *statements[S_COUNT];
};

// ---- Binding. One insert = begin, a bind a value in order, done.

struct row {
    struct loader *loader;
    sqlite3_stmt *statement;
    int next;
};

static struct row row_begin(struct loader *loader, enum statement which)
{
    return (struct row){.loader = loader, .statement = loader->statements[which], .next = 1};
}

static void put_u64(struct row *row, uint64_t value)
{
    sqlite3_bind_int64(row->statement, row->next++, (int64_t)value);
}

static void put_real(struct row *row, double value)
{
    sqlite3_bind_double(row->statement, row->next++, value);
}

static void put_text(struct row *row, const char *text)
{
    sqlite3_bind_text(row->statement, row->next++, text, -1, SQLITE_TRANSIENT);
}

static void put_guid(struct row *row)
{
    put_text(row, row->loader->ids.guid);
}

static int row_done(struct row *row)
{
    int rc = sqlite3_step(row->statement);
    sqlite3_reset(row->statement);
    sqlite3_clear_bindings(row->statement);
    if (rc == SQLITE_DONE)
        return 0;
    struct kr_store *store = row->loader->store;
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return kr_store_fail(store, KREPLAY_CORRUPT, "%s holds a record twice: %s", row->loader->log_path,
                             sqlite3_errmsg(store->db));
    return kr_store_fail(store, KREPLAY_IO, "cannot write to the database");
}

static int prepare_statements(struct loader *loader)
{
    for (int i = 0; i < S_COUNT; i++) {
        char *sql = sqlite3_mprintf(statement_sql[i], loader->ids.suffix);
        int rc =
            sql ? sqlite3_prepare_v2(loader->store->db, sql, -1, &loader->statements[i], NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        if (rc != SQLITE_OK)
            return kr_store_fail(loader->store, KREPLAY_IO, "cannot prepare a statement");
    }
    return 0;
}

// ---- Identity

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3ull; // FNV-1a
    return hash;
}

// A version 7 UUID (time first) that depends on the process alone: converting a log twice gives the same
// names.
static void make_ids(const kr_log_process *process, struct kr_store_ids *ids)
{
    uint64_t seed = mix(0xcbf29ce484222325ull, &process->run_id, sizeof(process->run_id));
    seed = mix(seed, &process->pid, sizeof(process->pid));
    seed = mix(seed, &process->start_ns, sizeof(process->start_ns));
    if (process->hostname)
        seed = mix(seed, process->hostname, strlen(process->hostname));
    uint64_t ms = process->start_unix_ns / 1000000;
    snprintf(ids->guid, sizeof(ids->guid), "%08x-%04x-7%03x-%04x-%012llx", (unsigned)(ms >> 16) & 0xffffffffu,
             (unsigned)ms & 0xffffu, (unsigned)(seed >> 52), 0x8000u | ((unsigned)(seed >> 38) & 0x3fffu),
             (unsigned long long)(seed & 0xffffffffffffull));
    ids->suffix[0] = '_';
    for (size_t i = 0; i < sizeof(ids->guid); i++)
        ids->suffix[i + 1] = ids->guid[i] == '-' ? '_' : ids->guid[i];
}

// ---- Records

static int put_string(struct loader *loader, uint64_t id, const char *text)
{
    struct row row = row_begin(loader, S_STRING);
    put_u64(&row, id);
    put_text(&row, text);
    return row_done(&row);
}

static int put_node(struct loader *loader, const kr_log_process *process)
{
    const char *host = process->hostname ? process->hostname : "";
    struct utsname system = {0};
    uname(&system); // of the machine that converts: the log does not carry more than the host's name
    uint64_t hash = mix(0xcbf29ce484222325ull, host, strlen(host)) & INT64_MAX;
    loader->nid = (int64_t)(hash % UINT32_MAX);
    struct row row = row_begin(loader, S_NODE);
    put_u64(&row, (uint64_t)loader->nid);
    put_u64(&row, hash);
    put_text(&row, host);
    put_text(&row, system.sysname);
    put_text(&row, host);
    put_text(&row, system.release);
    put_text(&row, system.version);
    put_text(&row, system.machine);
    put_text(&row, "");
    return row_done(&row);
}

static int load_process(struct loader *loader, const kr_log_process *process)
{
    if (loader->have_process)
        return kr_store_fail(loader->store, KREPLAY_CORRUPT, "%s describes its process twice",
                             loader->log_path);
    make_ids(process, &loader->ids);
    loader->pid = process->pid;
    loader->ppid = process->ppid;
    int status = kr_store_create_process_tables(loader->store, &loader->ids);
    if (!status)
        status = prepare_statements(loader);
    if (status)
        return status;
    loader->have_process = true;

    struct row row = row_begin(loader, S_OWN_PROCESS);
    put_guid(&row);
    put_text(&row, loader->ids.suffix);
    put_u64(&row, process->run_id);
    put_u64(&row, process->pid);
    put_u64(&row, process->ppid);
    put_text(&row, process->hostname);
    put_text(&row, process->command);
    put_text(&row, process->backend);
    put_text(&row, process->version);
    put_u64(&row, process->start_ns);
    put_u64(&row, process->start_unix_ns);
    put_text(&row, loader->log_path);
    if ((status = row_done(&row)))
        return status;
    if ((status = put_string(loader, STRING_EMPTY, "")))
        return status;
    if ((status = put_string(loader, STRING_KERNEL_DISPATCH, "KERNEL_DISPATCH")))
        return status;
    if ((status = put_node(loader, process)))
        return status;

    row = row_begin(loader, S_PROCESS);
    put_u64(&row, process->pid);
    put_u64(&row, (uint64_t)loader->nid);
    put_u64(&row, process->ppid);
    put_u64(&row, process->start_ns);
    put_text(&row, process->command);
    put_text(&row, process->version);
    put_text(&row, process->backend);
    if ((status = row_done(&row)))
        return status;

    // HSA knows no streams; rocpd wants one.
    row = row_begin(loader, S_STREAM);
    put_u64(&row, 0);
    put_u64(&row, (uint64_t)loader->nid);
    put_u64(&row, loader->pid);
    put_text(&row, "Default Stream");
    return row_done(&row);
}

// id, nid, pid: how most rocpd rows begin.
static struct row row_begin_info(struct loader *loader, enum statement which, uint64_t id)
{
    struct row row = row_begin(loader, which);
    put_u64(&row, id);
    put_u64(&row, (uint64_t)loader->nid);
    put_u64(&row, loader->pid);
    return row;
}

static uint32_t node_of(const struct loader *loader, uint32_t agent_id)
{
    return agent_id < MAX_AGENTS ? loader->agent_node[agent_id] : agent_id;
}

// "gfx90a" -> 90010: the driver's decimal form, major * 10000 + minor * 100 + stepping. The last two
// characters of the name are minor and stepping in hexadecimal, what stands before is the major version in
// decimal.
static uint64_t gfx_version(const char *name)
{
    size_t length = name && strncmp(name, "gfx", 3) == 0 ? strcspn(name + 3, ":") : 0;
    if (length < 3 || length > 8)
        return 0;
    char digits[9] = {0};
    memcpy(digits, name + 3, length);
    uint64_t stepping = strtoul(digits + length - 1, NULL, 16);
    digits[length - 1] = '\0';
    uint64_t minor = strtoul(digits + length - 2, NULL, 16);
    digits[length - 2] = '\0';
    return strtoul(digits, NULL, 10) * 10000 + minor * 100 + stepping;
}

static int load_agent(struct loader *loader, const kreplay_agent *agent)
{
    if (agent->agent_id < MAX_AGENTS)
        loader->agent_node[agent->agent_id] = agent->node_id;
    struct row row = row_begin_info(loader, S_AGENT, agent->node_id);
    put_u64(&row, agent->agent_id);
    put_text(&row, agent->name);
    put_text(&row, agent->vendor);
    put_text(&row, agent->product);
    put_u64(&row, agent->compute_units);
    put_u64(&row, agent->simds_per_cu);
    put_u64(&row, agent->max_waves_per_cu);
    put_u64(&row, agent->lds_bytes);
    put_u64(&row, agent->wave_size);
    put_u64(&row, agent->shader_engines);
    put_u64(&row, gfx_version(agent->name));
    put_u64(&row, agent->vendor && strncmp(agent->vendor, "AMD", 3) == 0 ? 0x1002 : 0);
    put_u64(&row, agent->max_clock_mhz);
    put_u64(&row, agent->memory_bytes);
    return row_done(&row);
}

static int load_code_object(struct loader *loader, const kreplay_code_object *object)
{
    struct row row = row_begin_info(loader, S_CODE_OBJECT, object->code_object_id);
    put_u64(&row, node_of(loader, object->agent_id));
    put_text(&row, object->uri);
    put_u64(&row, object->load_base);
    put_u64(&row, object->load_bytes);
    put_u64(&row, (uint64_t)object->load_delta);
    put_text(&row, object->uri && strncmp(object->uri, "file:", 5) == 0 ? "FILE" : "MEMORY");
    return row_done(&row);
}

static int load_kernel(struct loader *loader, const kreplay_kernel *kernel)
{
    const char *mangled = kernel->name ? kernel->name : "";
    char *demangled = kr_name_demangle(mangled);
    char *truncated = demangled ? kr_name_truncate(demangled) : NULL;
    int status = KREPLAY_NO_MEMORY;
    if (!truncated) {
        kr_store_fail(loader->store, status, "out of memory");
        goto out;
    }
    struct row row = row_begin_info(loader, S_KERNEL, kernel->kernel_id);
    put_u64(&row, kernel->code_object_id);
    put_text(&row, mangled);
    put_text(&row, demangled);
    put_u64(&row, kernel->kernarg_bytes);
    put_u64(&row, kernel->group_segment_bytes);
    put_u64(&row, kernel->private_segment_bytes);
    put_u64(&row, kernel->sgprs);
    put_u64(&row, kernel->arch_vgprs);
    put_u64(&row, kernel->accum_vgprs);
    put_text(&row, truncated);
    status = row_done(&row);
out:
    free(demangled);
    free(truncated);
    return status;
}

static int load_counter(struct loader *loader, const kreplay_counter *counter)
{
    struct row row = row_begin_info(loader, S_COUNTER, counter->counter_id);
    put_u64(&row, node_of(loader, counter->agent_id));
    put_u64(&row, counter->event);
    put_text(&row, counter->name);
    put_text(&row, counter->description ? counter->description : "");
    put_text(&row, counter->block ? counter->block : "");
    put_text(&row, counter->expression ? counter->expression : "");
    put_u64(&row, counter->expression && counter->expression[0]);
    put_u64(&row, counter->instances);
    return row_done(&row);
}

static int load_group(struct loader *loader, const kr_log_group *group)
{
    for (size_t i = 0; i < group->counter_count; i++) {
        struct row row = row_begin(loader, S_OWN_GROUP);
        put_guid(&row);
        put_u64(&row, group->agent_id);
        put_u64(&row, group->index);
        put_u64(&row, i);
        put_u64(&row, group->counter_ids[i]);
        int status = row_done(&row);
        if (status)
            return status;
    }
    return 0;
}

static const char *kind_key(kreplay_outcome_kind kind)
{
    static const char *const keys[] = {
        [KREPLAY_REPLAYED] = "replayed",
        [KREPLAY_SINGLE] = "single",
        [KREPLAY_FILTERED] = "filtered",
        [KREPLAY_DECLINED] = "declined",
    };
    return (unsigned)kind < sizeof(keys) / sizeof(keys[0]) ? keys[kind] : "unknown";
}

// Key and text of a reason, straight from the map of the public header; a log of a later version may hold
// more.
struct reason {
    const char *key, *text;
};

static struct reason reason_of(kreplay_reason number)
{
    static const struct reason reasons[] = {
#define X(name, value, key, text) [value] = {key, text},
        KREPLAY_REASON_MAP(X)
#undef X
    };
    if ((unsigned)number < sizeof(reasons) / sizeof(reasons[0]) && reasons[number].key)
        return reasons[number];
    return (struct reason){"unknown", "a reason that this version does not know"};
}

static int put_outcome(struct loader *loader, const kreplay_dispatch_record *record, uint64_t start,
                       uint64_t end)
{
    const kreplay_outcome *outcome = record->outcome;
    struct row row = row_begin(loader, S_OWN_OUTCOME);
    put_guid(&row);
    put_u64(&row, record->dispatch->dispatch_id);
    put_u64(&row, record->window_id);
    put_text(&row, kind_key(outcome->kind));
    struct reason reason = reason_of(outcome->reason);
    put_text(&row, reason.key);
    put_text(&row, reason.text);
    const uint64_t numbers[] = {
        outcome->requested_passes,
        outcome->executed_passes,
        outcome->deterministic,
        outcome->reentrant,
        start,
        end,
        outcome->captured_bytes,
        outcome->captured_regions,
        outcome->untracked_bytes,
        outcome->untracked_regions,
        outcome->compared_bytes,
        outcome->write_set_bytes,
        outcome->restored_bytes,
        outcome->restores,
        outcome->restore_retries,
        outcome->gate_ns,
        outcome->drain_ns,
        outcome->snapshot_ns,
        outcome->live_ns,
        outcome->compare_ns,
        outcome->restore_ns,
        outcome->passes_ns,
        outcome->finish_ns,
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        put_u64(&row, numbers[i]);
    return row_done(&row);
}

static int put_value(struct loader *loader, uint64_t dispatch_id, const kreplay_pass_record *pass,
                     size_t position)
{
    const kreplay_value *value = &pass->values[position];
    struct row row = row_begin(loader, S_OWN_VALUE);
    put_guid(&row);
    put_u64(&row, dispatch_id);
    put_u64(&row, pass->pass);
    put_u64(&row, position);
    put_u64(&row, value->counter_id);
    put_u64(&row, value->instance);
    if (value->kind == KREPLAY_VALUE_DOUBLE)
        put_real(&row, value->real);
    else
        put_u64(&row, value->value);
    return row_done(&row);
}

// A share of nothing: there is no number to store.
static bool is_undefined(const kreplay_value *value)
{
    return value->kind == KREPLAY_VALUE_DOUBLE && value->real != value->real;
}

// Whether an earlier pass of the record has the counter: then that pass stands for the dispatch. rocpd's own
// view sums all values of a dispatch, so a second pass's values must not be there.
static bool seen_earlier(const kreplay_dispatch_record *record, size_t pass, uint64_t counter_id)
{
    for (size_t p = 0; p < pass; p++)
        for (size_t v = 0; v < record->passes[p].value_count; v++)
            if (record->passes[p].values[v].counter_id == counter_id)
                return true;
    return false;
}

static int put_passes(struct loader *loader, const kreplay_dispatch_record *record)
{
    uint64_t dispatch_id = record->dispatch->dispatch_id;
    for (size_t p = 0; p < record->pass_count; p++) {
        const kreplay_pass_record *pass = &record->passes[p];
        struct row row = row_begin(loader, S_OWN_PASS);
        put_guid(&row);
        put_u64(&row, dispatch_id);
        put_u64(&row, pass->pass);
        put_u64(&row, pass->start_ns);
        put_u64(&row, pass->end_ns);
        int status = row_done(&row);
        for (size_t v = 0; !status && v < pass->value_count; v++) {
            const kreplay_value *value = &pass->values[v];
            if (is_undefined(value))
                continue;
            status = put_value(loader, dispatch_id, pass, v);
            if (status || seen_earlier(record, p, pass->values[v].counter_id))
                continue;
            row = row_begin(loader, S_PMC_EVENT);
            put_u64(&row, dispatch_id); // events are numbered like dispatches: there are no others
            put_u64(&row, pass->values[v].counter_id);
            put_real(&row, value->kind == KREPLAY_VALUE_DOUBLE ? value->real : (double)value->value);
            put_u64(&row, pass->values[v].instance);
            status = row_done(&row);
        }
        if (status)
            return status;
    }
    return 0;
}

// Rows that a dispatch points to and that have no record of their own.
static int put_dispatch_references(struct loader *loader, const kreplay_dispatch *dispatch)
{
    struct row row = row_begin(loader, S_THREAD);
    put_u64(&row, dispatch->thread_id);
    put_u64(&row, (uint64_t)loader->nid);
    put_u64(&row, loader->ppid);
    put_u64(&row, loader->pid);
    int status = row_done(&row);
    if (status)
        return status;

    char name[32];
    snprintf(name, sizeof(name), "Queue %llu", (unsigned long long)dispatch->queue_id);
    row = row_begin_info(loader, S_QUEUE, dispatch->queue_id);
    put_text(&row, name);
    if ((status = row_done(&row)))
        return status;

    // A kernel without a record of its own still gets its row: the joins of rocpd's views need it.
    sqlite3_stmt *known = loader->statements[S_HAVE_KERNEL];
    sqlite3_bind_int64(known, 1, (int64_t)dispatch->kernel_id);
    bool have = sqlite3_step(known) == SQLITE_ROW;
    sqlite3_reset(known);
    if (have)
        return 0;
    const kreplay_kernel unknown = {
        .size = sizeof(unknown), .kernel_id = dispatch->kernel_id, .name = dispatch->kernel_name};
    return load_kernel(loader, &unknown);
}

static int load_dispatch(struct loader *loader, const kreplay_dispatch_record *record)
{
    const kreplay_dispatch *dispatch = record->dispatch;
    uint64_t start = record->start_ns, end = record->end_ns;
    if (!start && record->pass_count) { // pass 0 is the live execution
        start = record->passes[0].start_ns;
        end = record->passes[0].end_ns;
    }
    if (end > loader->last_end_ns)
        loader->last_end_ns = end;

    int status = put_dispatch_references(loader, dispatch);
    if (status)
        return status;
    struct row row = row_begin(loader, S_EVENT);
    put_u64(&row, dispatch->dispatch_id);
    if ((status = row_done(&row)))
        return status;

    row = row_begin_info(loader, S_DISPATCH, dispatch->dispatch_id);
    const uint64_t numbers[] = {
        dispatch->thread_id,
        node_of(loader, dispatch->agent_id),
        dispatch->kernel_id,
        dispatch->queue_id,
        start,
        end,
        dispatch->private_segment_bytes,
        dispatch->group_segment_bytes,
        dispatch->workgroup[0],
        dispatch->workgroup[1],
        dispatch->workgroup[2],
        dispatch->grid[0],
        dispatch->grid[1],
        dispatch->grid[2],
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        put_u64(&row, numbers[i]);
    if ((status = row_done(&row)))
        return status;
    if ((status = put_outcome(loader, record, start, end)))
        return status;
    return put_passes(loader, record);
}

static int load_message(struct loader *loader, const char *text)
{
    struct row row = row_begin(loader, S_OWN_MESSAGE);
    put_guid(&row);
    put_u64(&row, loader->messages++);
    put_text(&row, text);
    return row_done(&row);
}

static int put_process_end(struct loader *loader, uint64_t end_ns)
{
    struct row row = row_begin(loader, S_PROCESS_END);
    put_u64(&row, end_ns);
    return row_done(&row);
}

static int load_end(struct loader *loader, const kr_log_end *end)
{
    struct row row = row_begin(loader, S_OWN_END);
    put_guid(&row);
    put_u64(&row, end->end_ns);
    put_u64(&row, end->dispatches);
    int status = row_done(&row);
    loader->last_end_ns = end->end_ns;
    return status;
}

static int load_record(struct loader *loader, const kr_log_record *record)
{
    if (record->type != KR_LOG_PROCESS && !loader->have_process)
        return kr_store_fail(loader->store, KREPLAY_CORRUPT, "%s does not begin with its process",
                             loader->log_path);
    switch (record->type) {
    case KR_LOG_PROCESS:
        return load_process(loader, &record->u.process);
    case KR_LOG_AGENT:
        return load_agent(loader, &record->u.agent);
    case KR_LOG_CODE_OBJECT:
        return load_code_object(loader, &record->u.code_object);
    case KR_LOG_KERNEL:
        return load_kernel(loader, &record->u.kernel);
    case KR_LOG_COUNTER:
        return load_counter(loader, &record->u.counter);
    case KR_LOG_GROUP:
        return load_group(loader, &record->u.group);
    case KR_LOG_DISPATCH:
        return load_dispatch(loader, &record->u.dispatch.record);
    case KR_LOG_MESSAGE:
        return load_message(loader, record->u.message);
    case KR_LOG_END:
        return load_end(loader, &record->u.end);
    }
    return 0; // a type of a later version
}

static int load_records(struct loader *loader, struct kr_log_reader *reader)
{
    kr_log_record record;
    uint64_t offset = 0;
    int status;
    while ((status = kr_log_next(reader, &record)) == 0) {
        offset = record.offset;
        if ((status = load_record(loader, &record)))
            return status;
    }
    if (!loader->have_process)
        return kr_store_fail(loader->store, KREPLAY_CORRUPT, "%s holds no whole record", loader->log_path);
    if (status == KREPLAY_CORRUPT) {
        struct row row = row_begin(loader, S_OWN_DAMAGE);
        put_guid(&row);
        put_u64(&row, offset); // of the last whole record: the damage is behind it
        if ((status = row_done(&row)))
            return status;
    } else if (status != KREPLAY_END) {
        return kr_store_fail(loader->store, status, "cannot read %s", loader->log_path);
    }
    return put_process_end(loader, loader->last_end_ns);
}

int kr_store_add_log(struct kr_store *store, const char *log_path)
{
    struct kr_log_reader *reader = NULL;
    int status = kr_log_open(log_path, &reader);
    if (status == KREPLAY_CORRUPT)
        return kr_store_fail(store, status, "%s is not a record log", log_path);
    if (status == KREPLAY_UNSUPPORTED)
        return kr_store_fail(store, status, "%s was written by a later version of kreplay", log_path);
    if (status)
        return kr_store_fail(store, status, "cannot open %s", log_path);

    struct loader loader = {.store = store, .log_path = log_path};
    status = kr_store_exec(store, "SAVEPOINT log");
    if (!status)
        status = load_records(&loader, reader);
    for (int i = 0; i < S_COUNT; i++)
        sqlite3_finalize(loader.statements[i]);
    if (status) // keep the error's text: rolling back would be the second failure
        sqlite3_exec(store->db, "ROLLBACK TO log; RELEASE log", NULL, NULL, NULL);
    else
        status = kr_store_exec(store, "RELEASE log");
    kr_log_reader_close(reader);
    return status;
}
