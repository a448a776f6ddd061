// SPDX-License-Identifier: MIT
// A kernel may reach host memory not only through an argument but through an address that lies in device memory: a
// member of a structure, a table of pointers, a module variable. Host memory is not captured, so such a kernel must not
// be repeated. The first comparison of a window brings all captured memory to the host anyway, as it was before and
// after the live execution; there it is looked through for such addresses.
//
// Only the worker thread calls these. A window may capture memory of several agents; what is found counts for the
// agent whose window it is.
#ifndef KR_HSA_HOST_POINTERS_H
#define KR_HSA_HOST_POINTERS_H

#include "hsa/state.h"

// A window begins: takes note of the host ranges that GPUs can reach at this moment, and looks from now on.
void kr_hsa_host_pointers_begin(struct kr_hsa_agent *agent);
// A piece of captured memory, aligned to 8 bytes, has come to the host.
void kr_hsa_host_pointers_look(const void *bytes, size_t size);
// Some of it could not be brought.
void kr_hsa_host_pointers_missed(void);
// The back end's `object`: HOST_MEMORY if an address was found, or if not everything could be looked at.
kreplay_reason kr_hsa_host_pointers_found(void *ctx, uint32_t agent);
void kr_hsa_host_pointers_end(struct kr_hsa_agent *agent);
void kr_hsa_host_pointers_close(struct kr_hsa_agent *agent); // frees

#endif
