// SPDX-License-Identifier: MIT
// The program's code objects: kernels by the address that dispatch packets carry, and the writable module
// memory that a window must put back.
#ifndef KR_HSA_CODE_OBJECTS_H
#define KR_HSA_CODE_OBJECTS_H

#include "hsa/state.h"

struct kr_hsa_kernel {
    struct kr_hsa_kernel *next; // in its hash bucket
    uint64_t object;            // kernel_object of dispatch packets
    hsa_executable_t executable;
    uint64_t kernel_id, code_object_id;
    uint32_t agent_id;
    uint32_t kernarg_bytes, group_segment_bytes, private_segment_bytes;
    uint64_t read_only_words; // bit n: argument word n is a pointer that the kernel only reads through
    kreplay_reason unsafe;    // why it must not be repeated, whatever its arguments; or NONE
    char *name;
};

// After the runtime froze it / before the runtime destroys it.
void kr_hsa_executable_added(hsa_executable_t executable);
void kr_hsa_executable_removed(hsa_executable_t executable);

// NULL if unknown. Kernels are never freed, since dispatches under way and records point to them.
const struct kr_hsa_kernel *kr_hsa_kernel_find(uint64_t object);

#endif
