// SPDX-License-Identifier: MIT
// The rocpd schema as const tables: names, columns, references. Version 3.0.3 (rocprofiler-sdk,
// share/rocprofiler-sdk-rocpd/versions/3.0.3): every column of 3.0.0 to 3.0.2 with the same meaning, so that
// readers of any 3.0.x find what they look for.
#ifndef KR_ROCPD_TABLES_H
#define KR_ROCPD_TABLES_H

#include <stddef.h>

#define KR_ROCPD_SCHEMA "3.0.3"

struct kr_rocpd_column {
    const char *name;
    const char *type;      // SQL type with its constraints
    const char *reference; // table it points into, without the "rocpd_" prefix; NULL when it is plain data
};

struct kr_rocpd_table {
    const char *name;                      // without process suffix
    const struct kr_rocpd_column *columns; // after "id", ends with a NULL name
};

extern const struct kr_rocpd_table kr_rocpd_tables[];
extern const size_t kr_rocpd_table_count;

// A view over the suffixed tables' unions; `select` is whole SQL.
struct kr_rocpd_view {
    const char *name;
    const char *select;
};

// In dependency order: a view comes after those that it reads.
extern const struct kr_rocpd_view kr_rocpd_views[];
extern const size_t kr_rocpd_view_count;

#endif
