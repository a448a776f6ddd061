// SPDX-License-Identifier: MIT
// What the self-checking CUDA programs share: error checks, and a verdict as exit status.
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));           \
            std::exit(3);                                                                                    \
        }                                                                                                    \
    } while (0)

#define LAUNCHED() CUDA(cudaGetLastError())

static inline void expect(bool holds, const char *what, double got, double wanted)
{
    if (holds)
        return;
    std::printf("FAILED: %s: %g instead of %g\n", what, got, wanted);
    std::exit(1);
}

template <typename T> static void expect_all(const T *device, size_t count, T wanted, const char *what)
{
    T *host = (T *)std::malloc(count * sizeof(T));
    CUDA(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++)
        expect(host[i] == wanted, what, (double)host[i], (double)wanted);
    std::free(host);
}

#endif
