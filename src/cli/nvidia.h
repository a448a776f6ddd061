// SPDX-License-Identifier: MIT
// NVIDIA GPUs, as far as the command has to do with them: are there any, do they have the counters asked for.
// What it knows of metrics it asks libkreplay-cuda.so, since CUPTI has the names.
#ifndef KR_NVIDIA_H
#define KR_NVIDIA_H

#include "counters/groups.h"

#include <stdbool.h>
#include <stddef.h>

#define KR_NVIDIA_DRIVER  "/dev/nvidiactl" // what every user of an NVIDIA GPU opens
#define KR_NVIDIA_LIBRARY "libkreplay-cuda.so"

bool kr_nvidia_here(void);
// Names of CUPTI's metrics have two underscores in a row, AMD's counters never.
bool kr_nvidia_named(const struct kr_groups *groups);
// Every counter must exist on one of the GPUs. 0, or -1 with a one-line `error`.
int kr_nvidia_check(const char *library, const struct kr_groups *groups, char *error, size_t error_bytes);
// Prints the metrics, without the suffixes.
int kr_nvidia_list(const char *library, char *error, size_t error_bytes);

#endif
