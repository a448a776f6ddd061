// SPDX-License-Identifier: MIT
// Runs of the program that an input file asks for.
#ifndef KR_JOB_RUNS_H
#define KR_JOB_RUNS_H

#include "cli/options.h"

// `command`: what was read of argc and argv, with an input file in it. Groups of the command line are a run of their
// own, the first; then comes one for each job. Returns the exit status: that of the first run that failed.
int kr_job_runs(const struct kr_options *command, int argc, char **argv);

#endif
