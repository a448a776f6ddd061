// SPDX-License-Identifier: MIT
// The code objects and kernels that back ends have told of, for tools that ask later. They are never forgotten:
// records of their dispatches may come after they have been unloaded.
#ifndef KR_KNOWN_H
#define KR_KNOWN_H

#include "kreplay/kreplay.h"

struct kr_known {
    kreplay_code_object **code_objects; // each in one block with its text
    size_t code_object_count, code_object_capacity;
    kreplay_kernel **kernels;
    size_t kernel_count, kernel_capacity;
};

// All under the lock of the process-wide callbacks (service.c). KREPLAY_NO_MEMORY: it is not among the known.
int kr_known_code_object(struct kr_known *known, const kreplay_code_object *code_object);
int kr_known_kernel(struct kr_known *known, const kreplay_kernel *kernel);
void kr_known_free(struct kr_known *known);

#endif
