// SPDX-License-Identifier: MIT
// Three threads: two load the same module again and again, launch its kernel and unload it, one launches a kernel of the
// program's. Each copy of the module has a variable of its own, which its kernel changes in place.
#include "check.h"

#include <thread>

enum { LOADS = 6, LAUNCHES = 2, OWN_LAUNCHES = 12 };

static const char source[] = ".version 7.0\n"
                             ".target sm_50\n"
                             ".address_size 64\n"
                             ".visible .global .u32 total = 5;\n"
                             ".visible .entry bump(.param .u64 p_sum)\n"
                             "{\n"
                             "  .reg .b64 sum, at;\n"
                             "  .reg .b32 x, y;\n"
                             "  ld.param.u64 sum, [p_sum];\n"
                             "  mov.u64 at, total;\n"
                             "  ld.global.u32 x, [at];\n"
                             "  add.u32 x, x, 1;\n"
                             "  st.global.u32 [at], x;\n"
                             "  ld.global.u32 y, [sum];\n"
                             "  add.u32 y, y, x;\n"
                             "  st.global.u32 [sum], y;\n"
                             "  ret;\n"
                             "}\n";

__global__ void add(unsigned *data)
{
    data[threadIdx.x] += threadIdx.x;
}

static void load_and_launch()
{
    unsigned *sum, host;
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&sum, sizeof *sum));
    for (int i = 0; i < LOADS; i++) {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        void *arguments[] = {&sum};
        CUDA(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
        CUDA(cudaLibraryLoadData(&library, source, nullptr, nullptr, 0, nullptr, nullptr, 0));
        CUDA(cudaLibraryGetKernel(&kernel, library, "bump"));
        for (int k = 0; k < LAUNCHES; k++)
            CUDA(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(1), arguments, 0, stream));
        CUDA(cudaMemcpyAsync(&host, sum, sizeof host, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        expect(host == 6 + 7, "sum of the module's variable", host, 6 + 7);
        CUDA(cudaLibraryUnload(library));
    }
    CUDA(cudaFree(sum));
    CUDA(cudaStreamDestroy(stream));
}

int main()
{
    unsigned *data, host[32];
    CUDA(cudaMalloc(&data, sizeof host));
    CUDA(cudaMemset(data, 0, sizeof host));
    std::thread first(load_and_launch), second(load_and_launch);
    for (int i = 0; i < OWN_LAUNCHES; i++) {
        add<<<1, 32>>>(data);
        LAUNCHED();
    }
    CUDA(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 32; i++)
        expect(host[i] == i * OWN_LAUNCHES, "sum", host[i], i * OWN_LAUNCHES);
    first.join();
    second.join();
    return 0;
}
