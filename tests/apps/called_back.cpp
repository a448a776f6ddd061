// SPDX-License-Identifier: MIT
// What a tool's callbacks do in the program, see tools/calling_tool.c, which finds from_tool() by its name: launch on the same
// GPU, launch and wait on another one, or hold a window open while another stream is given work whose arguments
// change. Usage: called_back same|other|victims
#include "check.hpp"

#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr int items = 256;

__global__ void worker(int *p) // the one in whose windows the tool acts
{
    p[threadIdx.x + blockIdx.x * blockDim.x] += 1;
}

__global__ void guest(int *p)
{
    p[threadIdx.x + blockIdx.x * blockDim.x] += 1;
}

__global__ void hog(int *p) // 256 items a group, as in the reference's regression
{
    int x = p[threadIdx.x];
    for (int i = 0; i < 1000; i++)
        x = x * 3 + 1;
    p[threadIdx.x] = x;
}

__global__ void victim(int *p, int value) // 64 items a group
{
    p[threadIdx.x + blockIdx.x * blockDim.x] = value;
}

static int *zeros(int n)
{
    int *p;
    CHECK(hipMalloc(&p, n * sizeof(int)));
    CHECK(hipMemset(p, 0, n * sizeof(int)));
    CHECK(hipDeviceSynchronize());
    return p;
}

static size_t differing(const int *device, int n, int expected)
{
    std::vector<int> host(n);
    CHECK(hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int value : host)
        wrong += value != expected;
    if (wrong)
        std::printf("%d where %d was expected\n", host[0], expected);
    return wrong;
}

static int *guests;
static hipStream_t guest_stream;
static int guest_gpu, guest_launches;
static bool guest_waits;
static std::atomic<int> window_open, victim_launched;

// Called by the tool, on the thread that runs the window: in pass 1 of each `worker`, after its snapshot; and in
// pass 1 of each `hog`.
extern "C" __attribute__((visibility("default"))) void from_tool(int in_hog)
{
    if (in_hog) {
        window_open++;
        for (int i = 0; i < 60000 && victim_launched < window_open; i++)
            usleep(1000);
        return;
    }
    int before = 0;
    CHECK(hipGetDevice(&before));
    CHECK(hipSetDevice(guest_gpu));
    guest<<<items / 64, 64, 0, guest_stream>>>(guests);
    CHECK(hipGetLastError());
    guest_launches++;
    if (guest_waits)
        CHECK(hipStreamSynchronize(guest_stream));
    CHECK(hipSetDevice(before));
}

static size_t launch_from_callbacks()
{
    CHECK(hipSetDevice(guest_gpu));
    guests = zeros(items);
    CHECK(hipStreamCreateWithFlags(&guest_stream, hipStreamNonBlocking));
    CHECK(hipSetDevice(0));
    int *p = zeros(items);
    for (int i = 0; i < 10; i++) {
        worker<<<items / 64, 64>>>(p);
        CHECK(hipDeviceSynchronize());
    }
    size_t wrong = differing(p, items, 10);
    CHECK(hipSetDevice(guest_gpu));
    CHECK(hipDeviceSynchronize());
    std::printf("%d launches by the tool\n", guest_launches);
    return wrong + differing(guests, items, guest_launches);
}

static size_t same()
{
    return launch_from_callbacks();
}

static size_t other()
{
    int count = 0;
    CHECK(hipGetDeviceCount(&count));
    if (count < 2)
        return 1;
    guest_gpu = 1;
    guest_waits = true;
    return launch_from_callbacks();
}

// While the window of a hog is open a victim is launched with new arguments: it must see those, not what the snapshot
// held. The reference's values: 111 and 222, 65536 elements, 50 cycles.
static size_t victims()
{
    constexpr int n = 65536, cycles = 50;
    int *hogs = zeros(256), *p = zeros(n);
    hipStream_t a, b;
    size_t corrupt = 0;
    CHECK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    CHECK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    for (int cycle = 1; cycle <= cycles; cycle++) {
        victim<<<n / 64, 64, 0, b>>>(p, 111);
        CHECK(hipStreamSynchronize(b));
        corrupt += differing(p, n, 111) != 0;
        hog<<<1, 256, 0, a>>>(hogs);
        CHECK(hipGetLastError());
        for (int i = 0; i < 60000 && window_open < cycle; i++)
            usleep(1000);
        if (window_open < cycle) {
            std::printf("no window was opened\n");
            return cycles;
        }
        victim<<<n / 64, 64, 0, b>>>(p, 222);
        CHECK(hipGetLastError());
        victim_launched++;
        CHECK(hipStreamSynchronize(a));
        CHECK(hipStreamSynchronize(b));
        corrupt += differing(p, n, 222) != 0;
    }
    std::printf("%zu of %d cycles corrupt\n", corrupt, cycles);
    int x = 0, value = 0;
    for (int i = 0; i < 1000 * cycles; i++)
        x = (int)((unsigned)x * 3 + 1);
    CHECK(hipMemcpy(&value, hogs, sizeof(value), hipMemcpyDeviceToHost));
    return corrupt + (value != x);
}

int main(int argc, char **argv)
{
    const mode modes[] = {{"same", same}, {"other", other}, {"victims", victims}};
    return run_mode(modes, argc, argv);
}
