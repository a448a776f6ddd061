// SPDX-License-Identifier: MIT
// N launches of a small kernel on each of G GPUs, each GPU by a thread of its own and each launch waited for; prints the
// seconds that the launches took. Usage: gpus_at_once N G
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void add(int *p)
{
    p[threadIdx.x] += 1;
}

static void launches(int gpu, int n, int *wrong)
{
    int *p = nullptr, value = 0;
    *wrong = hipSetDevice(gpu) != hipSuccess || hipMalloc(&p, 64 * sizeof(int)) != hipSuccess ||
             hipMemset(p, 0, 64 * sizeof(int)) != hipSuccess;
    for (int i = 0; i < n && !*wrong; ++i) {
        add<<<1, 64>>>(p);
        *wrong = hipDeviceSynchronize() != hipSuccess;
    }
    *wrong |= hipMemcpy(&value, p, sizeof(value), hipMemcpyDeviceToHost) != hipSuccess || value != n;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000, gpus = argc > 2 ? std::atoi(argv[2]) : 1;
    std::vector<std::thread> threads;
    std::vector<int> wrong(gpus);
    for (int gpu = 0; gpu < gpus; ++gpu) // set-up is not measured
        launches(gpu, 1, &wrong[gpu]);
    const auto start = std::chrono::steady_clock::now();
    for (int gpu = 0; gpu < gpus; ++gpu)
        threads.emplace_back(launches, gpu, n, &wrong[gpu]);
    for (std::thread &thread : threads)
        thread.join();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("%.6f\n", spent.count());
    for (int w : wrong)
        if (w)
            return 1;
    return 0;
}
