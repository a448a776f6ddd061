// SPDX-License-Identifier: MIT
// Application replay in the JSON's section "kreplay".
#ifndef KR_EXPORT_APPLICATION_H
#define KR_EXPORT_APPLICATION_H

#include "export/json_writer.h"
#include "export/query.h"

// "application_runs": each run of the program with what matched; "unmatched": the dispatches of this process
// that not all runs have, and, with the first process, those of processes that run 1 had not. Both are empty
// without application replay.
int kr_json_put_application(struct kr_export *export, struct kr_json *json, const char *guid);

#endif
