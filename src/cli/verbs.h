// SPDX-License-Identifier: MIT
// The verbs; each returns the exit status.
#ifndef KR_VERBS_H
#define KR_VERBS_H

#include "cli/options.h"

int kr_verb_run(const struct kr_options *options);
int kr_verb_convert(const struct kr_options *options);
int kr_verb_list(const struct kr_options *options);

#endif
