// SPDX-License-Identifier: MIT
// CSV with rocprofv3's columns. Text is quoted, numbers are not, as rocprofv3 does.
#include "export/query.h"

#include "kreplay/kreplay.h"

#include <inttypes.h>

// One file: its columns and, for each process, the query that yields them in order. `text` marks quoted
// columns.
struct csv_column {
    const char *name;
    bool text;
};

static void put_quoted(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_heading(FILE *out, const struct csv_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            putc(',', out);
        put_quoted(out, columns[i].name);
    }
    putc('\n', out);
}

struct csv {
    const struct csv_column *columns;
    size_t count;
    const char *query; // one %Q: the process
};

static int put_rows(struct kr_export *export, const char *guid, void *arg)
{
    const struct csv *csv = arg;
    sqlite3_stmt *row;
    int status = kr_query(export, &row, csv->query, guid);
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        for (size_t i = 0; i < csv->count; i++) {
            if (i)
                putc(',', export->out);
            if (csv->columns[i].text)
                put_quoted(export->out, kr_column_text(row, (int)i));
            else
                fputs(kr_column_text(row, (int)i), export->out);
        }
        putc('\n', export->out);
    }
    sqlite3_finalize(row);
    return status;
}

static int put_file(struct kr_export *export, struct csv csv)
{
    put_heading(export->out, csv.columns, csv.count);
    int status = kr_each_process(export, put_rows, &csv);
    return status ? status : kr_export_check_out(export);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NUMBER(name)                                                                                         \
    {                                                                                                        \
        name, false                                                                                          \
    }
#define QUOTED(name)                                                                                         \
    {                                                                                                        \
        name, true                                                                                           \
    }

int kr_export_kernel_csv(struct kr_export *export)
{
    static const struct csv_column columns[] = {
        QUOTED("Kind"),
        QUOTED("Agent_Id"),
        NUMBER("Queue_Id"),
        NUMBER("Stream_Id"),
        NUMBER("Thread_Id"),
        NUMBER("Dispatch_Id"),
        NUMBER("Kernel_Id"),
        QUOTED("Kernel_Name"),
        NUMBER("Correlation_Id"),
        NUMBER("Start_Timestamp"),
        NUMBER("End_Timestamp"),
        NUMBER("LDS_Block_Size"),
        NUMBER("Scratch_Size"),
        NUMBER("VGPR_Count"),
        NUMBER("Accum_VGPR_Count"),
        NUMBER("SGPR_Count"),
        NUMBER("Workgroup_Size_X"),
        NUMBER("Workgroup_Size_Y"),
        NUMBER("Workgroup_Size_Z"),
        NUMBER("Grid_Size_X"),
        NUMBER("Grid_Size_Y"),
        NUMBER("Grid_Size_Z"),
    };
    return put_file(
        export,
        (struct csv){columns, COUNT(columns),
                     "SELECT 'KERNEL_DISPATCH', 'Agent ' || k.agent_id, k.queue_id, k.stream_id, k.tid,"
                     " k.dispatch_id, k.kernel_id, s.display_name, k.dispatch_id,"
                     // A dispatch that nobody watched has no times: that is not the time 0.
                     " nullif(k.start, 0), nullif(k.end, 0),"
                     " (k.group_segment_size + 511) / 512 * 512, k.private_segment_size, s.arch_vgpr_count,"
                     " s.accum_vgpr_count, s.sgpr_count, k.workgroup_size_x, k.workgroup_size_y,"
                     " k.workgroup_size_z, k.grid_size_x, k.grid_size_y, k.grid_size_z"
                     " FROM rocpd_kernel_dispatch k JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id"
                     " AND s.guid = k.guid WHERE k.guid = %Q ORDER BY k.dispatch_id"});
}

// ---- counter_collection: values of the instances are added here, since SQL's numbers are signed.

static const struct csv_column counter_columns[] = {
    NUMBER("Correlation_Id"), NUMBER("Dispatch_Id"),      QUOTED("Agent_Id"),       NUMBER("Queue_Id"),
    NUMBER("Process_Id"),     NUMBER("Thread_Id"),        NUMBER("Grid_Size"),      NUMBER("Kernel_Id"),
    QUOTED("Kernel_Name"),    NUMBER("Workgroup_Size"),   NUMBER("LDS_Block_Size"), NUMBER("Scratch_Size"),
    NUMBER("VGPR_Count"),     NUMBER("Accum_VGPR_Count"), NUMBER("SGPR_Count"),     QUOTED("Counter_Name"),
    NUMBER("Counter_Value"),  NUMBER("Start_Timestamp"),  NUMBER("End_Timestamp"),  NUMBER("Replay_Pass"),
};
enum { COLUMN_VALUE = 16, COLUMN_PASS = 19, COLUMN_DISPATCH = 1, COLUMN_COUNTER_ID = 20 };

// The row that is being added up: written when the next dispatch, pass or counter begins.
struct counter_row {
    char *text[2]; // before and after the value; from sqlite3_mprintf
    uint64_t dispatch, pass, counter, sum;
    double real; // what is added to the sum in real numbers
    bool open;
};

static void flush_counter(FILE *out, struct counter_row *current)
{
    if (current->open && current->real != 0)
        fprintf(out, "%s%f%s\n", current->text[0], (double)current->sum + current->real, current->text[1]);
    else if (current->open)
        fprintf(out, "%s%" PRIu64 ".000000%s\n", current->text[0], current->sum, current->text[1]);
    sqlite3_free(current->text[0]);
    sqlite3_free(current->text[1]);
    *current = (struct counter_row){0};
}

static int begin_counter(struct kr_export *export, struct counter_row *current, sqlite3_stmt *row)
{
    sqlite3_str *parts[2] = {sqlite3_str_new(NULL), sqlite3_str_new(NULL)};
    for (int i = 0; i < (int)COUNT(counter_columns); i++) {
        sqlite3_str *part = parts[i > COLUMN_VALUE];
        if (i == COLUMN_VALUE)
            continue;
        if (i > COLUMN_VALUE)
            sqlite3_str_appendall(part, ",");
        sqlite3_str_appendf(part, counter_columns[i].text ? "\"%s\"" : "%s", kr_column_text(row, i));
        if (i < COLUMN_VALUE)
            sqlite3_str_appendall(part, ",");
    }
    current->text[0] = sqlite3_str_finish(parts[0]);
    current->text[1] = sqlite3_str_finish(parts[1]);
    current->dispatch = kr_store_u64(row, COLUMN_DISPATCH);
    current->pass = kr_store_u64(row, COLUMN_PASS);
    current->counter = kr_store_u64(row, COLUMN_COUNTER_ID);
    current->open = true;
    if (current->text[0] && current->text[1])
        return 0;
    current->open = false;
    return kr_export_fail(export, KREPLAY_NO_MEMORY, "out of memory");
}

static int put_counter_rows(struct kr_export *export, const char *guid, void *arg)
{
    (void)arg;
    sqlite3_stmt *row;
    // Quotes inside names are doubled here, since the row is put together as text.
    int status = kr_query(
        export, &row,
        "SELECT k.dispatch_id, k.dispatch_id, 'Agent ' || k.agent_id, k.queue_id, k.pid, k.tid,"
        " k.grid_size_x * k.grid_size_y * k.grid_size_z, k.kernel_id, replace(s.display_name, '\"', '\"\"'),"
        " k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z, (k.group_segment_size + 511) / 512 * "
        "512,"
        " k.private_segment_size, s.arch_vgpr_count, s.accum_vgpr_count, s.sgpr_count, i.name, v.value, "
        "p.start_ns,"
        " p.end_ns, p.pass, v.counter_id FROM kreplay_pass p"
        " JOIN kreplay_value v ON v.guid = p.guid AND v.dispatch_id = p.dispatch_id AND v.pass = p.pass"
        " JOIN rocpd_kernel_dispatch k ON k.guid = p.guid AND k.id = p.dispatch_id"
        " JOIN rocpd_info_kernel_symbol s ON s.guid = p.guid AND s.id = k.kernel_id"
        " JOIN rocpd_info_pmc i ON i.guid = p.guid AND i.id = v.counter_id"
        " WHERE p.guid = %Q ORDER BY p.dispatch_id, p.pass, (SELECT min(f.position) FROM kreplay_value f "
        "WHERE"
        " f.guid = v.guid AND f.dispatch_id = v.dispatch_id AND f.pass = v.pass AND f.counter_id = "
        "v.counter_id)",
        guid);
    struct counter_row current = {0};
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        if (current.open && (current.dispatch != kr_store_u64(row, COLUMN_DISPATCH) ||
                             current.pass != kr_store_u64(row, COLUMN_PASS) ||
                             current.counter != kr_store_u64(row, COLUMN_COUNTER_ID)))
            flush_counter(export->out, &current);
        if (!current.open)
            status = begin_counter(export, &current, row);
        if (sqlite3_column_type(row, COLUMN_VALUE) == SQLITE_FLOAT)
            current.real += sqlite3_column_double(row, COLUMN_VALUE);
        else
            current.sum += kr_store_u64(row, COLUMN_VALUE);
    }
    flush_counter(export->out, &current);
    sqlite3_finalize(row);
    return status;
}

int kr_export_counter_csv(struct kr_export *export)
{
    put_heading(export->out, counter_columns, COUNT(counter_columns));
    int status = kr_each_process(export, put_counter_rows, NULL);
    return status ? status : kr_export_check_out(export);
}

// ---- agent_info: the columns are keys of the agent record, so that one list makes heading and values.

static const struct agent_column {
    const char *name;
    const char *key; // NULL: the agent's type
} agent_columns[] = {
    {"Node_Id", "node_id"},
    {"Logical_Node_Id", "logical_node_id"},
    {"Agent_Type", NULL},
    {"Cpu_Cores_Count", "cpu_cores_count"},
    {"Simd_Count", "simd_count"},
    {"Cpu_Core_Id_Base", "cpu_core_id_base"},
    {"Simd_Id_Base", "simd_id_base"},
    {"Max_Waves_Per_Simd", "max_waves_per_simd"},
    {"Lds_Size_In_Kb", "lds_size_in_kb"},
    {"Gds_Size_In_Kb", "gds_size_in_kb"},
    {"Num_Gws", "num_gws"},
    {"Wave_Front_Size", "wave_front_size"},
    {"Num_Xcc", "num_xcc"},
    {"Cu_Count", "cu_count"},
    {"Array_Count", "array_count"},
    {"Num_Shader_Banks", "num_shader_banks"},
    {"Simd_Arrays_Per_Engine", "simd_arrays_per_engine"},
    {"Cu_Per_Simd_Array", "cu_per_simd_array"},
    {"Simd_Per_Cu", "simd_per_cu"},
    {"Max_Slots_Scratch_Cu", "max_slots_scratch_cu"},
    {"Gfx_Target_Version", "gfx_target_version"},
    {"Vendor_Id", "vendor_id"},
    {"Device_Id", "device_id"},
    {"Location_Id", "location_id"},
    {"Domain", "domain"},
    {"Drm_Render_Minor", "drm_render_minor"},
    {"Num_Sdma_Engines", "num_sdma_engines"},
    {"Num_Sdma_Xgmi_Engines", "num_sdma_xgmi_engines"},
    {"Num_Sdma_Queues_Per_Engine", "num_sdma_queues_per_engine"},
    {"Num_Cp_Queues", "num_cp_queues"},
    {"Max_Engine_Clk_Ccompute", "max_engine_clk_ccompute"},
    {"Max_Engine_Clk_Fcompute", "max_engine_clk_fcompute"},
    {"Sdma_Fw_Version", "sdma_fw_version"},
    {"Fw_Version", "fw_version"},
    {"Capability", "capability"},
    {"Cu_Per_Engine", "cu_per_engine"},
    {"Max_Waves_Per_Cu", "max_waves_per_cu"},
    {"Family_Id", "family_id"},
    {"Workgroup_Max_Size", "workgroup_max_size"},
    {"Grid_Max_Size", "grid_max_size"},
    {"Local_Mem_Size", "local_mem_size"},
    {"Hive_Id", "hive_id"},
    {"Gpu_Id", "gpu_id"},
    {"Workgroup_Max_Dim_X", "workgroup_max_dim.x"},
    {"Workgroup_Max_Dim_Y", "workgroup_max_dim.y"},
    {"Workgroup_Max_Dim_Z", "workgroup_max_dim.z"},
    {"Grid_Max_Dim_X", "grid_max_dim.x"},
    {"Grid_Max_Dim_Y", "grid_max_dim.y"},
    {"Grid_Max_Dim_Z", "grid_max_dim.z"},
    {"Name", "name"},
    {"Vendor_Name", "vendor_name"},
    {"Product_Name", "product_name"},
    {"Model_Name", "model_name"},
};

static int put_agent_rows(struct kr_export *export, const char *guid, void *arg)
{
    (void)arg;
    sqlite3_stmt *row;
    int status = kr_query(export, &row,
                          "SELECT type, extdata FROM rocpd_info_agent WHERE guid = %Q ORDER BY id", guid);
    while (!status && (status = kr_query_next(export, row)) == 1) {
        status = 0;
        for (size_t i = 0; !status && i < COUNT(agent_columns); i++) {
            if (i)
                putc(',', export->out);
            if (!agent_columns[i].key) {
                put_quoted(export->out, kr_column_text(row, 0));
                continue;
            }
            sqlite3_stmt *value;
            status = kr_query(export, &value, "SELECT json_extract(%Q, '$.%s')", kr_column_text(row, 1),
                              agent_columns[i].key);
            if (!status && (status = kr_query_next(export, value)) == 1) {
                status = 0;
                if (sqlite3_column_type(value, 0) == SQLITE_TEXT)
                    put_quoted(export->out, kr_column_text(value, 0));
                else
                    fputs(kr_column_text(value, 0), export->out);
            }
            sqlite3_finalize(value);
        }
        putc('\n', export->out);
    }
    sqlite3_finalize(row);
    return status;
}

int kr_export_agent_csv(struct kr_export *export)
{
    for (size_t i = 0; i < COUNT(agent_columns); i++) {
        if (i)
            putc(',', export->out);
        put_quoted(export->out, agent_columns[i].name);
    }
    putc('\n', export->out);
    int status = kr_each_process(export, put_agent_rows, NULL);
    return status ? status : kr_export_check_out(export);
}
