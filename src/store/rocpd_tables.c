// SPDX-License-Identifier: MIT
// Columns of the rocpd tables. Names, order and types are the interface that AMD's rocpd readers expect; see
// the header for the version. "id" and the process's "guid" are the same in all tables and are written by the
// creator.
#include "store/rocpd_tables.h"

#define INT     "INTEGER"
#define INT_NN  "INTEGER NOT NULL"
#define BIG     "BIGINT"
#define BIG_NN  "BIGINT NOT NULL"
#define TEXT    "TEXT"
#define TEXT_NN "TEXT NOT NULL"
#define JSON_NN "JSONB DEFAULT '{}' NOT NULL"
#define GUID                                                                                                 \
    {                                                                                                        \
        "guid", NULL, NULL                                                                                   \
    } // its default is the process's own guid

#define NODE                                                                                                 \
    {                                                                                                        \
        "nid", INT_NN, "info_node"                                                                           \
    }
#define PROCESS                                                                                              \
    {                                                                                                        \
        "pid", INT_NN, "info_process"                                                                        \
    }
#define THREAD                                                                                               \
    {                                                                                                        \
        "tid", INT, "info_thread"                                                                            \
    }
#define THREAD_NN                                                                                            \
    {                                                                                                        \
        "tid", INT_NN, "info_thread"                                                                         \
    }
#define EVENT                                                                                                \
    {                                                                                                        \
        "event_id", INT, "event"                                                                             \
    }
#define EXTDATA                                                                                              \
    {                                                                                                        \
        "extdata", JSON_NN, NULL                                                                             \
    }
#define SPAN                                                                                                 \
    {"start", BIG_NN, NULL},                                                                                 \
    {                                                                                                        \
        "end", BIG_NN, NULL                                                                                  \
    }
#define GRAPH                                                                                                \
    {"graph_exec_id", "INTEGER NOT NULL DEFAULT 0", NULL},                                                   \
    {                                                                                                        \
        "graph_node_id", "INTEGER NOT NULL DEFAULT 0", NULL                                                  \
    }
#define END                                                                                                  \
    {                                                                                                        \
        NULL, NULL, NULL                                                                                     \
    }

static const struct kr_rocpd_column metadata[] = {{"tag", TEXT_NN, NULL}, {"value", TEXT_NN, NULL}, END};

static const struct kr_rocpd_column string[] = {
    GUID, {"string", "TEXT NOT NULL UNIQUE ON CONFLICT ABORT", NULL}, END};

static const struct kr_rocpd_column info_node[] = {
    GUID,
    {"hash", "BIGINT NOT NULL UNIQUE", NULL},
    {"machine_id", "TEXT NOT NULL UNIQUE", NULL},
    {"system_name", TEXT, NULL},
    {"hostname", TEXT, NULL},
    {"release", TEXT, NULL},
    {"version", TEXT, NULL},
    {"hardware_name", TEXT, NULL},
    {"domain_name", TEXT, NULL},
    END,
};

static const struct kr_rocpd_column info_process[] = {
    GUID,
    NODE,
    {"ppid", INT, NULL},
    {"pid", INT_NN, NULL},
    {"init", BIG, NULL},
    {"fini", BIG, NULL},
    {"start", BIG, NULL},
    {"end", BIG, NULL},
    {"command", TEXT, NULL},
    {"environment", JSON_NN, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column info_thread[] = {
    GUID,
    NODE,
    {"ppid", INT, NULL},
    PROCESS,
    {"tid", INT_NN, NULL},
    {"name", TEXT, NULL},
    {"start", BIG, NULL},
    {"end", BIG, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column info_agent[] = {
    GUID,
    NODE,
    PROCESS,
    {"type", "TEXT CHECK (\"type\" IN ('CPU', 'GPU', 'NIC'))", NULL},
    {"absolute_index", INT, NULL},
    {"logical_index", INT, NULL},
    {"type_index", INT, NULL},
    {"uuid", INT, NULL},
    {"name", TEXT, NULL},
    {"model_name", TEXT, NULL},
    {"vendor_name", TEXT, NULL},
    {"product_name", TEXT, NULL},
    {"user_name", TEXT, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column info_queue[] = {GUID, NODE, PROCESS, {"name", TEXT, NULL}, EXTDATA, END};

static const struct kr_rocpd_column info_pmc[] = {
    GUID,
    NODE,
    PROCESS,
    {"agent_id", INT, "info_agent"},
    {"target_arch", "TEXT CHECK (\"target_arch\" IN ('CPU', 'GPU', 'NIC'))", NULL},
    {"event_code", "INT", NULL},
    {"instance_id", INT, NULL},
    {"name", TEXT_NN, NULL},
    {"symbol", TEXT_NN, NULL},
    {"description", TEXT, NULL},
    {"long_description", "TEXT DEFAULT ''", NULL},
    {"component", TEXT, NULL},
    {"units", "TEXT DEFAULT ''", NULL},
    {"value_type", "TEXT CHECK (\"value_type\" IN ('ABS', 'ACCUM', 'RELATIVE'))", NULL},
    {"block", TEXT, NULL},
    {"expression", TEXT, NULL},
    {"is_constant", INT, NULL},
    {"is_derived", INT, NULL},
    {"spm_support", INT, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column info_code_object[] = {
    GUID,
    NODE,
    PROCESS,
    {"agent_id", INT, "info_agent"},
    {"uri", TEXT, NULL},
    {"load_base", BIG, NULL},
    {"load_size", BIG, NULL},
    {"load_delta", BIG, NULL},
    {"storage_type", "TEXT CHECK (\"storage_type\" IN ('FILE', 'MEMORY'))", NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column info_kernel_symbol[] = {
    GUID,
    NODE,
    PROCESS,
    {"code_object_id", INT_NN, "info_code_object"},
    {"kernel_name", TEXT, NULL},
    {"display_name", TEXT, NULL},
    {"kernel_object", INT, NULL},
    {"kernarg_segment_size", INT, NULL},
    {"kernarg_segment_alignment", INT, NULL},
    {"group_segment_size", INT, NULL},
    {"private_segment_size", INT, NULL},
    {"sgpr_count", INT, NULL},
    {"arch_vgpr_count", INT, NULL},
    {"accum_vgpr_count", INT, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column track[] = {
    GUID, NODE, {"pid", INT, "info_process"}, THREAD, {"name_id", INT, "string"}, EXTDATA, END,
};

static const struct kr_rocpd_column event[] = {
    GUID,
    {"category_id", INT, "string"},
    {"stack_id", INT, NULL},
    {"parent_stack_id", INT, NULL},
    {"correlation_id", INT, NULL},
    {"call_stack", JSON_NN, NULL},
    {"line_info", JSON_NN, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column arg[] = {
    GUID,
    {"event_id", INT_NN, "event"},
    {"position", INT_NN, NULL},
    {"type", TEXT_NN, NULL},
    {"name", TEXT_NN, NULL},
    {"value", TEXT, NULL},
    EXTDATA,
    END,
};

static const struct kr_rocpd_column pmc_event[] = {
    GUID,
    EVENT,
    {"sample_id", INT, "sample"},
    {"pmc_id", INT_NN, "info_pmc"},
    {"value", "REAL DEFAULT 0.0", NULL},
    {"xcc", INT, NULL},
    {"shader_engine", INT, NULL},
    {"instance", INT, NULL},
    {"extdata", "JSONB DEFAULT '{}'", NULL},
    END,
};

static const struct kr_rocpd_column region[] = {
    GUID, NODE, PROCESS, THREAD_NN, SPAN, {"name_id", INT_NN, "string"}, EVENT, EXTDATA, END,
};

static const struct kr_rocpd_column sample[] = {
    GUID, {"track_id", INT_NN, "track"}, {"timestamp", BIG_NN, NULL}, EVENT, EXTDATA, END,
};

static const struct kr_rocpd_column kernel_dispatch[] = {
    GUID,
    NODE,
    PROCESS,
    THREAD,
    {"agent_id", INT_NN, "info_agent"},
    {"kernel_id", INT_NN, "info_kernel_symbol"},
    {"dispatch_id", INT_NN, NULL},
    {"queue_id", INT_NN, "info_queue"},
    {"stream_id", INT_NN, "info_stream"},
    SPAN,
    {"private_segment_size", INT, NULL},
    {"group_segment_size", INT, NULL},
    {"workgroup_size_x", INT_NN, NULL},
    {"workgroup_size_y", INT_NN, NULL},
    {"workgroup_size_z", INT_NN, NULL},
    {"grid_size_x", INT_NN, NULL},
    {"grid_size_y", INT_NN, NULL},
    {"grid_size_z", INT_NN, NULL},
    GRAPH,
    {"region_name_id", INT, "string"},
    EVENT,
    EXTDATA,
    END,
};

static const struct kr_rocpd_column memory_copy[] = {
    GUID,
    NODE,
    PROCESS,
    THREAD,
    SPAN,
    {"name_id", INT_NN, "string"},
    {"dst_agent_id", INT, "info_agent"},
    {"dst_address", INT, NULL},
    {"src_agent_id", INT, "info_agent"},
    {"src_address", INT, NULL},
    {"size", INT_NN, NULL},
    {"queue_id", INT, "info_queue"},
    {"stream_id", INT, "info_stream"},
    GRAPH,
    {"region_name_id", INT, "string"},
    EVENT,
    EXTDATA,
    END,
};

static const struct kr_rocpd_column memory_allocate[] = {
    GUID,
    NODE,
    PROCESS,
    THREAD,
    {"agent_id", INT, "info_agent"},
    {"type", "TEXT CHECK (\"type\" IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM'))", NULL},
    {"level", "TEXT CHECK (\"level\" IN ('REAL', 'VIRTUAL', 'SCRATCH'))", NULL},
    SPAN,
    {"address", INT, NULL},
    {"size", INT_NN, NULL},
    {"queue_id", INT, "info_queue"},
    {"stream_id", INT, "info_stream"},
    EVENT,
    EXTDATA,
    END,
};

static const struct kr_rocpd_column graph_launch[] = {
    GUID,
    NODE,
    PROCESS,
    THREAD,
    {"agent_id", INT, "info_agent"},
    {"queue_id", INT, "info_queue"},
    SPAN,
    {"graph_exec_id", INT_NN, NULL},
    {"kernel_dispatch_count", "INTEGER NOT NULL DEFAULT 0", NULL},
    EVENT,
    EXTDATA,
    END,
};

static const struct kr_rocpd_column event_operation[] = {
    GUID,
    NODE,
    PROCESS,
    THREAD,
    {"agent_id", INT_NN, NULL},
    {"event_obj", INT_NN, NULL},
    {"type_id", INT_NN, NULL},
    {"issue_id", INT_NN, NULL},
    {"queue_id", INT_NN, "info_queue"},
    {"stream_id", INT_NN, "info_stream"},
    SPAN,
    {"type", "TEXT CHECK (\"type\" IN ('WAIT', 'SIGNAL'))", NULL},
    EVENT,
    END,
};

const struct kr_rocpd_table kr_rocpd_tables[] = {
    {"rocpd_metadata", metadata},
    {"rocpd_string", string},
    {"rocpd_info_node", info_node},
    {"rocpd_info_process", info_process},
    {"rocpd_info_thread", info_thread},
    {"rocpd_info_agent", info_agent},
    {"rocpd_info_queue", info_queue},
    {"rocpd_info_stream", info_queue}, // the same columns
    {"rocpd_info_pmc", info_pmc},
    {"rocpd_info_code_object", info_code_object},
    {"rocpd_info_kernel_symbol", info_kernel_symbol},
    {"rocpd_track", track},
    {"rocpd_event", event},
    {"rocpd_arg", arg},
    {"rocpd_pmc_event", pmc_event},
    {"rocpd_region", region},
    {"rocpd_sample", sample},
    {"rocpd_kernel_dispatch", kernel_dispatch},
    {"rocpd_memory_copy", memory_copy},
    {"rocpd_memory_allocate", memory_allocate},
    {"rocpd_graph_launch", graph_launch},
    {"rocpd_event_operation", event_operation},
};
const size_t kr_rocpd_table_count = sizeof(kr_rocpd_tables) / sizeof(kr_rocpd_tables[0]);
