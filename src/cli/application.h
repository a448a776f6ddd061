// SPDX-License-Identifier: MIT
// Application replay: the program runs once for each counter group.
#ifndef KR_APPLICATION_H
#define KR_APPLICATION_H

#include "cli/setup.h"

// Files of each run are in a folder pass_N of the output directory, N from 1. As kreplay, the runs are also
// joined into one set of files, where rocprofv3 leaves them apart. Returns the exit status of the first run
// that failed, 0 when none did, -1 with an error when the program was not started.
int kr_application_run(const struct kr_setup *setup, char *error, size_t error_bytes);

#endif
