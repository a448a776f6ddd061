// SPDX-License-Identifier: MIT
// Processes: a child made before the GPU is used works like any program; a child made after it ends without
// hanging, and its parent goes on; exit() while a kernel still runs ends the process.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void add_one(int *p)
{
    p[threadIdx.x] += 1;
}

__global__ void wait_for(volatile int *flag)
{
    while (!*flag)
        ;
}

static void use_gpu()
{
    int *p = nullptr, r[64];
    HIP(hipMalloc(&p, sizeof(r)));
    HIP(hipMemset(p, 0, sizeof(r)));
    add_one<<<1, 64>>>(p);
    HIP(hipMemcpy(r, p, sizeof(r), hipMemcpyDeviceToHost));
    for (int v : r)
        EXPECT(v == 1);
    HIP(hipFree(p));
}

static void leave_a_kernel_running()
{
    int *flag = nullptr;
    HIP(hipHostMalloc(&flag, sizeof(int)));
    *flag = 0;
    wait_for<<<1, 1>>>(flag);
    HIP(hipGetLastError());
}

static void do_nothing() {}

// Runs `body` in a child that then exits in the ordinary way; a hang is ended by SIGALRM and so fails.
static void expect_clean_child(void (*body)())
{
    int status = -1;
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        alarm(120);
        body();
        std::exit(0);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main()
{
    expect_clean_child(use_gpu);
    expect_clean_child(leave_a_kernel_running);
    use_gpu();
    expect_clean_child(do_nothing);
    use_gpu();
    std::puts("processes: all right");
    return 0;
}
