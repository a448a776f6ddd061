// SPDX-License-Identifier: MIT
// What is checked before a program is started. Each check returns 0, or -1 with a one-line text in `error`
// that names the cause; none changes anything.
#ifndef KR_CHECKS_H
#define KR_CHECKS_H

#include "counters/groups.h"

#include <stdbool.h>
#include <stddef.h>

enum { KR_MAX_ARCHES = 16 };

// Architectures of the GPUs of this machine, each once, in topology order.
struct kr_arches {
    char names[KR_MAX_ARCHES][16];
    size_t count;
};

// Reads <root>/nodes/*/gfx_target_version; `root` is KR_TOPOLOGY but for tests. No GPU is no error.
#define KR_TOPOLOGY "/sys/class/kfd/kfd/topology"
void kr_read_arches(const char *root, struct kr_arches *arches);

// *path: where the program is, from PATH unless its name has a '/'; the caller frees.
int kr_find_program(const char *name, char **path, char *error, size_t error_bytes);

// Every counter must exist on one of the architectures, and every group fit those that have all its counters.
int kr_check_groups(const struct kr_groups *groups, const struct kr_arches *arches, char *error,
                    size_t error_bytes);

// Every counter must be in the software GPU's list, `path` (lines of name, block and event).
int kr_check_modelled(const struct kr_groups *groups, const char *path, char *error, size_t error_bytes);

// The software GPU stands below ROCr in place of its thunk: the ROCr that the loader finds must take the
// thunk from a library of its own. Finding no ROCr is no error: the program may bring one.
int kr_check_rocr(char *error, size_t error_bytes);

// Whether the ELF file needs a library of this name: 1, 0, or -1 when it cannot be read.
int kr_elf_needs(const char *path, const char *library);

#endif
