// SPDX-License-Identifier: MIT
// The metrics of this machine's GPUs, for the command, which opens libkreplay-cuda.so for it.
#ifndef KR_CUDA_LIST_H
#define KR_CUDA_LIST_H

#include "kreplay/kreplay.h"

#define KR_CUDA_LIST_FUNCTION "kreplay_cuda_list"

struct kr_cuda_list {
    void *arg;
    // A GPU, before its metrics. Non-zero ends.
    int (*gpu)(void *arg, uint32_t index, const char *product, const char *chip);
    int (*metric)(void *arg, const kreplay_counter *counter);
};

// Initialises CUDA in this process. 0, what a callback returned, or KREPLAY_UNAVAILABLE with `error` filled.
KREPLAY_API int kreplay_cuda_list(const struct kr_cuda_list *list, char *error, size_t error_bytes);

#endif
