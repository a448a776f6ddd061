// SPDX-License-Identifier: MIT
// The program of the benchmark: an in-place kernel over 16 MB, launched N times, each with a synchronisation after it,
// with other memory allocated beside. launches N [megabytes beside]
#include "../../tests/cuda/check.h"

__global__ void update(float4 *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 v = data[i];
    v.x = v.x * 1.0001f + 0.5f;
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    data[i] = v;
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 10;
    size_t beside = (argc > 2 ? (size_t)atol(argv[2]) : 48) << 20;
    const int n = (16 << 20) / sizeof(float4);
    float4 *data;
    char *other = NULL;
    cudaEvent_t begin, end;
    float ms;
    CUDA(cudaMalloc(&data, n * sizeof *data));
    if (beside)
        CUDA(cudaMalloc(&other, beside));
    CUDA(cudaMemset(data, 0, n * sizeof *data));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    update<<<n / 256, 256>>>(data, n); // warm: modules, sessions
    CUDA(cudaDeviceSynchronize());
    timespec t0, t1;
    timespec_get(&t0, TIME_UTC);
    for (int i = 0; i < launches; i++) {
        update<<<n / 256, 256>>>(data, n);
        CUDA(cudaDeviceSynchronize());
    }
    timespec_get(&t1, TIME_UTC);
    ms = (float)((t1.tv_sec - t0.tv_sec) * 1e3 + (t1.tv_nsec - t0.tv_nsec) / 1e6);
    printf("%d launches, %.4f ms each\n", launches, ms / launches);
    return 0;
}
