// SPDX-License-Identifier: MIT
// A CUDA driver that has every function asked for, none of which may be called. With STUB_OLD it cannot even be
// asked.
#include <cuda.h>
#include <stdlib.h>

#ifdef STUB_OLD
CUresult cuInit(unsigned flags);
__attribute__((visibility("default"))) CUresult cuInit(unsigned flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}
#else
#undef cuGetProcAddress_v2
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *found);

__attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char *name, void **function,
                                                                    int version, cuuint64_t flags,
                                                                    CUdriverProcAddressQueryResult *found)
{
    (void)name, (void)version, (void)flags, (void)found;
    *(void (**)(void))function = abort;
    return CUDA_SUCCESS;
}
#endif
