// SPDX-License-Identifier: MIT
// Parts of the JSON's section "kreplay" that sum up a process; the text is in export/export.h.
#ifndef KR_EXPORT_SUMMARY_H
#define KR_EXPORT_SUMMARY_H

#include "export/json_writer.h"
#include "export/query.h"

// "summary": the row of the view kreplay_summary, with the declined dispatches by reason.
int kr_json_put_summary(struct kr_export *export, struct kr_json *json, const char *guid);
// "witnesses": what counters that kreplay added to a group came to in its pass, all instances together.
int kr_json_put_witnesses(struct kr_export *export, struct kr_json *json, const char *guid);

#endif
