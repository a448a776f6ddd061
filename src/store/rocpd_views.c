// SPDX-License-Identifier: MIT
// The data and summary views of the rocpd schema: column names and order are what AMD's rocpd readers select;
// the SQL is ours. Joins always compare guid too, since ids repeat over processes.
#include "store/rocpd_tables.h"

// Text of a string id, NULL when there is none.
#define STRING_OF(id, guid) "(SELECT s.string FROM rocpd_string s WHERE s.id = " id " AND s.guid = " guid ")"
#define CATEGORY                                                                                             \
    "(SELECT s.string FROM rocpd_string s WHERE s.id = e.category_id AND s.guid = e.guid) AS category"
#define ON(alias, key, guid) " ON " alias ".id = " key " AND " alias ".guid = " guid
#define JOIN_EVENT(of)       " JOIN rocpd_event e" ON("e", of ".event_id", of ".guid")
#define JOIN_PROCESS(of)     " JOIN rocpd_info_process p" ON("p", of ".pid", of ".guid")
#define JOIN_THREAD(of)      " JOIN rocpd_info_thread t" ON("t", of ".tid", of ".guid")
#define JOIN_AGENT(kind, of) kind " JOIN rocpd_info_agent a" ON("a", of ".agent_id", of ".guid")
#define LEFT_QUEUE(of)       " LEFT JOIN rocpd_info_queue q" ON("q", of ".queue_id", of ".guid")
#define LEFT_STREAM(of)      " LEFT JOIN rocpd_info_stream st" ON("st", of ".stream_id", of ".guid")

#define AGENT_INDEXES                                                                                        \
    "a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS "              \
    "agent_type_index,"                                                                                      \
    " a.type AS agent_type"
#define SPAN_OF(of) of ".start, " of ".end, (" of ".end - " of ".start) AS duration"
#define NODE_COLUMNS                                                                                         \
    "n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS "       \
    "system_version"
#define SAMPLE_FROM                                                                                          \
    " FROM rocpd_sample r JOIN rocpd_track k" ON("k", "r.track_id", "r.guid") JOIN_EVENT("r")                \
        JOIN_PROCESS("k") JOIN_THREAD("k")
#define KERNEL_COUNTER_HEAD                                                                                  \
    "k.dispatch_id, k.kernel_id, e.id AS event_id, e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, " \
    "t.tid,"                                                                                                 \
    " k.agent_id, " AGENT_INDEXES                                                                            \
    ", k.queue_id, k.grid_size_x AS grid_size_x, k.grid_size_y AS grid_size_y,"                              \
    " k.grid_size_z AS grid_size_z, (k.grid_size_x * k.grid_size_y * k.grid_size_z) AS grid_size,"           \
    " ks.display_name AS kernel_name, " STRING_OF(                                                           \
        "k.region_name_id",                                                                                  \
        "k.guid") " AS kernel_region,"                                                                       \
                  " k.workgroup_size_x AS workgroup_size_x, k.workgroup_size_y AS workgroup_size_y,"         \
                  " k.workgroup_size_z AS workgroup_size_z,"                                                 \
                  " (k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z) AS workgroup_size,"       \
                  " k.group_segment_size AS lds_block_size, k.private_segment_size AS scratch_size,"         \
                  " ks.arch_vgpr_count AS vgpr_count, ks.accum_vgpr_count, ks.sgpr_count, i.name AS "        \
                  "counter_name,"                                                                            \
                  " i.symbol AS counter_symbol, i.component, i.description, i.block, i.expression, "         \
                  "i.value_type,"                                                                            \
                  " i.id AS counter_id"
#define KERNEL_COUNTER_FROM                                                                                  \
    " FROM rocpd_pmc_event v JOIN rocpd_info_pmc i" ON("i", "v.pmc_id", "v.guid")                            \
        JOIN_EVENT("v") " JOIN rocpd_kernel_dispatch k ON k.event_id = v.event_id AND k.guid = "             \
                        "v.guid" JOIN_AGENT("", "k") " JOIN rocpd_info_kernel_symbol ks" ON(                 \
                            "ks", "k.kernel_id", "k.guid") JOIN_PROCESS("k") JOIN_THREAD("k")

#define MARKERS_ONLY " WHERE c.string LIKE '%MARKER%'"
// Of column duration in a group; rounding must not make it negative.
#define VARIANCE  "MAX(AVG(duration * 1.0 * duration) - AVG(duration) * AVG(duration), 0.0)"
#define DEVIATION "SQRT(" VARIANCE ")"

const struct kr_rocpd_view kr_rocpd_views[] = {
    {"code_objects", "SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.uri, "
                     "c.load_base, c.load_size,"
                     " c.load_delta, c.storage_type AS storage_type_str, json_extract(c.extdata, '$.size') "
                     "AS code_object_size,"
                     " json_extract(c.extdata, '$.storage_type') AS storage_type,"
                     " json_extract(c.extdata, '$.memory_base') AS memory_base,"
                     " json_extract(c.extdata, '$.memory_size') AS memory_size"
                     " FROM rocpd_info_code_object c" JOIN_AGENT("", "c") JOIN_PROCESS("c")},
    {"kernel_symbols",
     "SELECT k.id, k.guid, k.nid, p.pid, k.code_object_id, k.kernel_name, k.display_name, k.kernel_object,"
     " k.kernarg_segment_size, k.kernarg_segment_alignment, k.group_segment_size, k.private_segment_size,"
     " k.sgpr_count, k.arch_vgpr_count, k.accum_vgpr_count, json_extract(k.extdata, '$.size') AS "
     "kernel_symbol_size,"
     " json_extract(k.extdata, '$.kernel_id') AS kernel_id,"
     " json_extract(k.extdata, '$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset,"
     " json_extract(k.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,"
     " json_extract(k.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,"
     " json_extract(k.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,"
     " json_extract(k.extdata, '$.kernel_address.handle') AS kernel_address"
     " FROM rocpd_info_kernel_symbol k" JOIN_PROCESS("k")},
    {"processes", "SELECT " NODE_COLUMNS ", p.guid, p.ppid, p.pid, p.init, p.start, p.end, p.fini, p.command"
                  " FROM rocpd_info_process p JOIN rocpd_info_node n" ON("n", "p.nid", "p.guid")},
    {"threads",
     "SELECT " NODE_COLUMNS ", p.guid, p.ppid, p.pid, t.tid, t.start, t.end, t.name"
     " FROM rocpd_info_thread t" JOIN_PROCESS("t") " JOIN rocpd_info_node n" ON("n", "t.nid", "t.guid")},
    {"regions",
     "SELECT r.id, r.guid, " CATEGORY ", s.string AS name, r.nid, p.pid, t.tid, " SPAN_OF(
         "r") ", r.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata,"
              " e.call_stack, e.line_info FROM rocpd_region r" JOIN_EVENT("r") " JOIN rocpd_string s" ON(
                  "s", "r.name_id", "r.guid") JOIN_PROCESS("r") JOIN_THREAD("r")},
    {"region_args",
     "SELECT r.id, r.guid, r.nid, p.pid, g.type, g.name, g.value FROM rocpd_region r" JOIN_EVENT(
         "r") " JOIN rocpd_arg g ON g.event_id = e.id AND g.guid = r.guid" JOIN_PROCESS("r")},
    {"samples",
     "SELECT r.id, r.guid, " CATEGORY ", " STRING_OF(
         "k.name_id",
         "k.guid") " AS name, k.nid, p.pid,"
                   " t.tid, r.timestamp, r.event_id, e.stack_id AS stack_id, e.parent_stack_id AS "
                   "parent_stack_id,"
                   " e.correlation_id AS corr_id, e.extdata AS extdata, e.call_stack AS call_stack,"
                   " e.line_info AS line_info" SAMPLE_FROM},
    {"sample_regions",
     "SELECT r.id, r.guid, " CATEGORY ", " STRING_OF(
         "k.name_id",
         "k.guid") " AS name, k.nid, p.pid, t.tid,"
                   " r.timestamp AS start, r.timestamp AS \"end\", 0 AS duration, r.event_id, e.stack_id AS "
                   "stack_id,"
                   " e.parent_stack_id AS parent_stack_id, e.correlation_id AS corr_id, e.extdata AS extdata,"
                   " e.call_stack AS call_stack, e.line_info AS line_info" SAMPLE_FROM},
    {"regions_and_samples", "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions"},
    {"kernels",
     "SELECT k.id, k.guid, t.tid, " CATEGORY ", r.string AS region, ks.display_name AS name, k.nid, p.pid,"
     " " AGENT_INDEXES
     ", ks.code_object_id AS code_object_id, k.kernel_id, k.dispatch_id, k.stream_id, k.queue_id,"
     " k.graph_exec_id, k.graph_node_id, q.name AS queue, st.name AS stream, " SPAN_OF(
         "k") ","
              " k.grid_size_x AS grid_x, k.grid_size_y AS grid_y, k.grid_size_z AS grid_z, "
              "k.workgroup_size_x AS workgroup_x,"
              " k.workgroup_size_y AS workgroup_y, k.workgroup_size_z AS workgroup_z, k.group_segment_size "
              "AS lds_size,"
              " k.private_segment_size AS scratch_size, ks.arch_vgpr_count AS vgpr_count, "
              "ks.accum_vgpr_count, ks.sgpr_count,"
              " ks.group_segment_size AS static_lds_size, ks.private_segment_size AS static_scratch_size, "
              "k.event_id,"
              " e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id FROM rocpd_kernel_dispatch "
              "k" JOIN_AGENT("", "k") JOIN_EVENT("k") " JOIN rocpd_string r" ON(
                  "r", "k.region_name_id",
                  "k.guid") " JOIN rocpd_info_kernel_symbol ks" ON("ks", "k.kernel_id", "k.guid")
                  LEFT_STREAM("k") LEFT_QUEUE("k") JOIN_PROCESS("k") JOIN_THREAD("k")},
    {"pmc_info",
     "SELECT i.id, i.guid, i.nid, p.pid, a.absolute_index AS agent_abs_index, i.is_constant, i.is_derived, "
     "i.name,"
     " i.description, i.block, i.expression FROM rocpd_info_pmc i" JOIN_AGENT("", "i") JOIN_PROCESS("i")},
    {"pmc_events", "SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, " CATEGORY ","
                   " (SELECT s.display_name FROM rocpd_info_kernel_symbol s WHERE s.id = k.kernel_id AND "
                   "s.guid = k.guid) AS name,"
                   " k.nid, p.pid, k.dispatch_id, " SPAN_OF(
                       "k") ", i.name AS counter_name, v.value AS counter_value"
                            " FROM rocpd_pmc_event v JOIN rocpd_info_pmc i" ON("i", "v.pmc_id", "v.guid")
                                JOIN_EVENT("v") " JOIN rocpd_kernel_dispatch k ON k.event_id = v.event_id "
                                                "AND k.guid = v.guid" JOIN_PROCESS("k")},
    {"events_args",
     "SELECT e.id AS event_id, " CATEGORY ", e.stack_id, e.parent_stack_id, e.correlation_id,"
     " g.position AS arg_position, g.type AS arg_type, g.name AS arg_name, g.value AS arg_value,"
     " e.call_stack, e.line_info, g.extdata FROM rocpd_event e"
     " JOIN rocpd_arg g ON g.event_id = e.id AND g.guid = e.guid"},
    {"stream_args",
     "SELECT g.id AS argument_id, g.event_id AS event_id, g.position AS arg_position, g.type AS arg_type,"
     " g.value AS arg_value, json_extract(g.extdata, '$.stream_id') AS stream_id, st.nid, p.pid,"
     " st.name AS stream_name, st.extdata AS extdata FROM rocpd_arg g JOIN rocpd_info_stream st"
     " ON st.id = json_extract(g.extdata, '$.stream_id') AND st.guid = g.guid" JOIN_PROCESS(
         "st") " WHERE g.name = 'stream'"},
    {"memory_copies",
     "SELECT m.id, m.guid, " CATEGORY ", m.nid, p.pid, t.tid, " SPAN_OF(
         "m") ", s.string AS name,"
              " r.string AS region_name, m.stream_id, m.queue_id, m.graph_exec_id, m.graph_node_id, st.name "
              "AS stream_name,"
              " q.name AS queue_name, m.size, d.name AS dst_device, d.absolute_index AS dst_agent_abs_index,"
              " d.logical_index AS dst_agent_log_index, d.type_index AS dst_agent_type_index, d.type AS "
              "dst_agent_type,"
              " m.dst_address, o.name AS src_device, o.absolute_index AS src_agent_abs_index,"
              " o.logical_index AS src_agent_log_index, o.type_index AS src_agent_type_index, o.type AS "
              "src_agent_type,"
              " m.src_address, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id FROM "
              "rocpd_memory_copy m"
              " JOIN rocpd_string s" ON("s", "m.name_id", "m.guid") " LEFT JOIN rocpd_string r" ON(
                  "r", "m.region_name_id",
                  "m.guid") " JOIN rocpd_info_agent d" ON("d", "m.dst_agent_id",
                                                          "m.guid") " JOIN rocpd_info_agent o" ON("o",
                                                                                                  "m.src_"
                                                                                                  "agent_id",
                                                                                                  "m.guid")
                  LEFT_QUEUE("m") LEFT_STREAM("m") JOIN_EVENT("m") JOIN_PROCESS("m") JOIN_THREAD("m")},
    {"graph_launches",
     "SELECT g.id, g.guid, g.nid, p.pid, t.tid, g.agent_id, " AGENT_INDEXES ", g.queue_id, q.name AS queue,"
     " 'Graph Execution' AS name, " SPAN_OF(
         "g") ", g.graph_exec_id, g.kernel_dispatch_count, g.event_id, e.stack_id,"
              " e.parent_stack_id, e.correlation_id AS corr_id FROM rocpd_graph_launch g" JOIN_AGENT(
                  " LEFT", "g") LEFT_QUEUE("g") JOIN_EVENT("g") JOIN_PROCESS("g") JOIN_THREAD("g")},
    {"memory_allocations",
     "SELECT m.id, m.guid, " CATEGORY ", m.nid, p.pid, t.tid, " SPAN_OF(
         "m") ", m.type, m.level,"
              " a.name AS agent_name, " AGENT_INDEXES
              ", m.address, m.size, m.queue_id, q.name AS queue_name, m.stream_id,"
              " st.name AS stream_name, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"
              " FROM rocpd_memory_allocate m" JOIN_AGENT(" LEFT", "m") LEFT_QUEUE("m") LEFT_STREAM("m")
                  JOIN_EVENT("m") JOIN_PROCESS("m") JOIN_THREAD("m")},
    {"scratch_memory",
     "SELECT m.id, m.guid, m.nid, p.pid, m.type AS operation, a.name AS agent_name, " AGENT_INDEXES
     ", m.queue_id,"
     " t.tid, json_extract(m.extdata, '$.flags') AS alloc_flags, " SPAN_OF(
         "m") ", m.size, m.address,"
              " e.correlation_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, " CATEGORY ","
              " e.extdata AS event_extdata FROM rocpd_memory_allocate m" JOIN_AGENT(" LEFT", "m")
                  LEFT_QUEUE("m") JOIN_EVENT("m") JOIN_PROCESS("m")
                      JOIN_THREAD("m") " WHERE m.level = 'SCRATCH' ORDER BY m.start"},
    {"counters_collection",
     "SELECT MIN(v.id) AS id, v.guid, " KERNEL_COUNTER_HEAD ", SUM(v.value) AS value, k.start,"
     " k.end, i.is_constant, i.is_derived, (k.end - k.start) AS duration, " CATEGORY ","
     " k.nid, e.extdata, ks.code_object_id" KERNEL_COUNTER_FROM
     " WHERE v.sample_id IS NULL GROUP BY v.guid, k.dispatch_id, i.name, k.agent_id"},
    {"spm_counters",
     "SELECT v.id, v.guid, " KERNEL_COUNTER_HEAD ", v.xcc, v.shader_engine, v.instance, v.value,"
     " sm.timestamp, i.is_constant, i.is_derived, " CATEGORY ", k.nid, e.extdata,"
     " ks.code_object_id" KERNEL_COUNTER_FROM " JOIN rocpd_sample sm" ON("sm", "v.sample_id", "v.guid")},
    {"top_kernels", "SELECT name, COUNT(kernel_id) AS total_calls, SUM(duration) / 1000.0 AS total_duration,"
                    " (SUM(duration) / COUNT(kernel_id)) / 1000.0 AS average,"
                    " SUM(duration) * 100.0 / (SELECT SUM(duration) FROM kernels) AS percentage"
                    " FROM kernels GROUP BY name ORDER BY total_duration DESC"},
    // GPU time over wall time. Times overlap where queues run side by side, so it can exceed 1.
    {"busy", "SELECT g.agent_id, a.type, g.GpuTime, w.WallTime, g.GpuTime * 1.0 / w.WallTime AS Busy FROM"
             " (SELECT agent_id, guid, SUM(\"end\" - start) AS GpuTime FROM"
             " (SELECT agent_id, guid, start, \"end\" FROM rocpd_kernel_dispatch UNION ALL"
             " SELECT dst_agent_id, guid, start, \"end\" FROM rocpd_memory_copy) GROUP BY agent_id, guid) g"
             " JOIN (SELECT MAX(\"end\") - MIN(start) AS WallTime FROM"
             " (SELECT start, \"end\" FROM rocpd_kernel_dispatch UNION ALL SELECT start, \"end\" FROM"
             " rocpd_memory_copy)) w JOIN rocpd_info_agent a" ON("a", "g.agent_id", "g.guid")},
    {"range_markers",
     "SELECT e.id, e.guid, c.string AS category, json_extract(e.extdata, '$.message') AS name, " SPAN_OF(
         "r") ", e.stack_id, e.parent_stack_id, e.correlation_id, e.call_stack, e.line_info, r.pid, r.tid,"
              " r.nid, s.string AS operation FROM rocpd_region r" JOIN_EVENT("r") " JOIN rocpd_string c" ON(
                  "c", "e.category_id", "e.guid") " JOIN rocpd_string s" ON("s", "r.name_id", "r.guid")
                  MARKERS_ONLY " AND json_valid(e.extdata)"},
    {"single_markers",
     "SELECT e.id, e.guid, c.string AS category, json_extract(e.extdata, '$.message') AS name,"
     " m.timestamp AS timestamp, e.stack_id, e.parent_stack_id, e.correlation_id, e.call_stack, e.line_info,"
     " k.pid AS pid, k.tid AS tid, k.nid FROM rocpd_sample m" JOIN_EVENT("m") " JOIN rocpd_string c" ON(
         "c", "e.category_id", "e.guid") " JOIN rocpd_track k" ON("k", "m.track_id", "m.guid") MARKERS_ONLY},
    {"markers", "SELECT * FROM range_markers UNION SELECT id, guid, category, name, timestamp AS start,"
                " timestamp AS \"end\", 0 AS duration, stack_id, parent_stack_id, correlation_id, call_stack,"
                " line_info, pid, tid, nid, 'roctxMarkA' AS operation FROM single_markers"},
    {"range_marker_summary",
     "SELECT name, COUNT(*) AS calls, SUM(duration) AS \"DURATION (nsec)\", AVG(duration) AS \"AVERAGE "
     "(nsec)\","
     " SUM(duration) * 100.0 / (SELECT SUM(duration) FROM range_markers) AS \"PERCENT (INC)\","
     " MIN(duration) AS \"MIN (nsec)\", MAX(duration) AS \"MAX (nsec)\", " DEVIATION
     " AS STD_DEV FROM range_markers GROUP BY name"},
    {"single_marker_summary", "SELECT name, COUNT(*) AS calls FROM single_markers GROUP BY name"},
    {"marker_summary",
     "SELECT name, COUNT(*) AS calls, SUM(duration) AS \"DURATION (nsec)\","
     " CAST(SUM(duration * duration) AS REAL) AS \"SQR (nsec)\", AVG(duration) AS \"AVERAGE (nsec)\","
     " SUM(duration) * 100.0 / NULLIF((SELECT SUM(duration) FROM markers), 0) AS \"PERCENT (INC)\","
     " MIN(duration) AS \"MIN (nsec)\", MAX(duration) AS \"MAX (nsec)\", " VARIANCE " AS VARIANCE, " DEVIATION
     " AS STD_DEV FROM markers GROUP BY name"},
    {"top",
     "SELECT name, COUNT(*) AS total_calls, SUM(duration) / 1000.0 AS total_duration,"
     " (SUM(duration) / COUNT(*)) / 1000.0 AS average, SUM(duration) * 100.0 / (SELECT SUM(duration) FROM"
     " (SELECT duration FROM kernels UNION ALL SELECT duration FROM memory_copies UNION ALL SELECT duration"
     " FROM regions)) AS percentage FROM (SELECT name, duration FROM kernels UNION ALL SELECT name, duration"
     " FROM memory_copies UNION ALL SELECT name, duration FROM regions) GROUP BY name ORDER BY "
     "total_duration DESC"},
};
const size_t kr_rocpd_view_count = sizeof(kr_rocpd_views) / sizeof(kr_rocpd_views[0]);
