// SPDX-License-Identifier: MIT
// The command line: one const table describes every option, for the parser, for the environment twins and for
// --help.
// `--pmc A B C` takes words until the next option, which neither getopt nor argp can do.
#ifndef KR_OPTIONS_H
#define KR_OPTIONS_H

#include "engine/level.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum kr_verb {
    KR_VERB_RUN = 1, // the default when the first word is an option
    KR_VERB_CONVERT = 2,
    KR_VERB_LIST = 4,
    KR_VERB_ALL = KR_VERB_RUN | KR_VERB_CONVERT | KR_VERB_LIST,
};

enum kr_format { KR_FORMAT_JSON = 1, KR_FORMAT_CSV = 2, KR_FORMAT_ROCPD = 4 };

enum kr_replay_mode { KR_REPLAY_KERNEL, KR_REPLAY_APPLICATION };

// Whose defaults, checks and form of fatal errors: docs/rocprofv3.md.
enum kr_compat { KR_COMPAT_NONE, KR_COMPAT_ROCPROFV3 };

struct kr_options {
    enum kr_verb verb;
    bool help, version;
    char *pmc;        // groups as kr_groups_parse() reads them; NULL = none
    int metrics_set;  // of kr_counter_set
    unsigned repeat;  // rounds of all groups; at least 1
    int compat;       // of kr_compat
    int replay_mode;  // of kr_replay_mode
    bool beta;        // --kernel-replay-beta-enabled: rocprofv3 asks for it, kreplay does not
    unsigned formats; // of kr_format; 0 = not given
    char *directory;  // NULL = not given
    char *file;       // NULL = not given
    bool table;
    unsigned table_rows; // 0 = all
    bool keep_logs;
    bool quiet;      // has been made of table and log_level
    bool list_avail; // instead of a run
    bool soft_gpu;
    bool witness;
    bool strict_groups;
    char *include, *exclude, *kernel_name, *iterations; // rules of select/selection.h; NULL = not given
    int name_base;                                      // of kr_name_base
    unsigned max_per_kernel, launch_skip, launch_count;
    unsigned budget;   // seconds; 0 = none
    bool kernel_trace; // asks for nothing that is not done anyway
    char *tool;        // a user's tool, a library; NULL = none
    bool tool_only;    // instead of kreplay's own
    int log_level;     // of kr_log_level
    char *arch;        // list: NULL = of this machine
    char *input;       // of convert; run: an input file; NULL = not given
    char **program;    // argv of the program, NULL terminated, not owned; NULL = none
};

// Reads the environment, then the arguments (which win). 0, or -1 with a one-line text in `error`. Free
// either way.
int kr_options_parse(struct kr_options *options, int argc, char **argv, char *error, size_t error_bytes);
// The same for one job of an input file, whose words (NULL terminated) the command line wins over; but counters are those
// of the job alone. NULL: no job.
int kr_options_parse_job(struct kr_options *options, int argc, char **argv, char **job, char *error,
                         size_t error_bytes);
void kr_options_free(struct kr_options *options);

const char *kr_options_level(const struct kr_options *options);     // the word for log_level
const char *kr_options_name_base(const struct kr_options *options); // the word for name_base

void kr_options_help(FILE *out, enum kr_verb verb);

#endif
