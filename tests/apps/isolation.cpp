// SPDX-License-Identifier: MIT
// What goes on beside a dispatch: other threads, streams, copies, the host, callbacks, graphs. Each mode checks that
// everything happened once and in order. Usage: isolation MODE
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <functional>
#include <thread>
#include <unistd.h>
#include <vector>

constexpr int items = 256;

__global__ void add(int *p, int n)
{
    p[threadIdx.x + blockIdx.x * blockDim.x] += n;
}

// Not commutative with add: a wrong order gives a wrong result.
__global__ void twice(int *p)
{
    p[threadIdx.x + blockIdx.x * blockDim.x] *= 2;
}

__global__ void copy(const int *from, int *to)
{
    to[threadIdx.x + blockIdx.x * blockDim.x] = from[threadIdx.x + blockIdx.x * blockDim.x] + 1;
}

// Waits until somebody else sets the flag, and says how often it was run.
__global__ void wait_for(volatile int *flag, int *runs)
{
    while (*flag == 0)
        __builtin_amdgcn_s_sleep(64);
    *runs += 1;
}

static int *zeros()
{
    int *p;
    CHECK(hipMalloc(&p, items * sizeof(int)));
    CHECK(hipMemset(p, 0, items * sizeof(int)));
    CHECK(hipDeviceSynchronize());
    return p;
}

static hipStream_t new_stream()
{
    hipStream_t stream;
    CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

static hipEvent_t new_event()
{
    hipEvent_t event;
    CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    return event;
}

static size_t differing(const int *device, int expected)
{
    std::vector<int> host(items);
    CHECK(hipMemcpy(host.data(), device, items * sizeof(int), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int value : host)
        wrong += value != expected;
    if (wrong)
        std::printf("%d where %d was expected\n", host[0], expected);
    return wrong;
}

static void launch_add(int *p, int n, hipStream_t stream)
{
    add<<<items / 64, 64, 0, stream>>>(p, n);
    CHECK(hipGetLastError());
}

static bool wait_until(const std::function<bool()> &reached)
{
    for (int i = 0; i < 60000 && !reached(); i++)
        usleep(1000);
    return reached();
}

// A second thread increments its own buffer 1000 times, each awaited, while this one has windows of its own.
// 1040 dispatches.
static size_t counting_thread()
{
    int *mine = zeros(), *theirs = zeros();
    std::thread other([theirs] {
        hipStream_t stream = new_stream();
        for (int i = 0; i < 1000; i++) {
            launch_add(theirs, 1, stream);
            CHECK(hipStreamSynchronize(stream));
        }
    });
    for (int i = 0; i < 40; i++) {
        launch_add(mine, 1, nullptr);
        CHECK(hipDeviceSynchronize());
    }
    other.join();
    return differing(mine, 40) + differing(theirs, 1000);
}

// Another thread copies to the device and back, asynchronously, from pinned and from ordinary memory. 40
// dispatches.
static size_t copying_thread()
{
    constexpr int n = 1 << 16, rounds = 60;
    int *mine = zeros();
    std::atomic<size_t> wrong{0};
    std::thread other([&wrong] {
        hipStream_t stream = new_stream();
        int *device, *pinned;
        CHECK(hipMalloc(&device, n * sizeof(int)));
        CHECK(hipHostMalloc(reinterpret_cast<void **>(&pinned), n * sizeof(int), 0));
        std::vector<int> to(n), back(n);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < n; i++)
                to[i] = pinned[i] = i * 3 + round;
            const int *source = round % 2 ? pinned : to.data();
            CHECK(hipMemcpyAsync(device, source, n * sizeof(int), hipMemcpyHostToDevice, stream));
            CHECK(hipMemcpyAsync(back.data(), device, n * sizeof(int), hipMemcpyDeviceToHost, stream));
            CHECK(hipStreamSynchronize(stream));
            wrong += count_unequal(to, back);
        }
        CHECK(hipHostFree(pinned));
    });
    for (int i = 0; i < 40; i++) {
        launch_add(mine, 1, nullptr);
        CHECK(hipDeviceSynchronize());
    }
    other.join();
    return differing(mine, 40) + wrong;
}

// The kernel waits for the host, which sets a flag in its own memory once. 1 dispatch.
static size_t host_flag()
{
    int *flag, *runs;
    CHECK(hipHostMalloc(reinterpret_cast<void **>(&flag), 2 * sizeof(int), hipHostMallocCoherent));
    flag[0] = flag[1] = 0;
    runs = flag + 1;
    hipStream_t stream = new_stream();
    wait_for<<<1, 1, 0, stream>>>(flag, runs);
    usleep(100000);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    CHECK(hipStreamSynchronize(stream));
    return runs[0] != 1;
}

// The same with a flag in device memory, which a copy of another thread sets: it cannot come into a window that
// is open. The live execution's bound ends that. 3 dispatches, of which the first cannot be replayed.
static size_t device_flag()
{
    int *memory = zeros();
    hipStream_t stream = new_stream(), another = new_stream();
    wait_for<<<1, 1, 0, stream>>>(memory, memory + 1);
    std::thread other([memory, another] {
        const int one = 1;
        usleep(100000);
        CHECK(hipMemcpyAsync(memory, &one, sizeof(one), hipMemcpyHostToDevice, another));
        CHECK(hipStreamSynchronize(another));
    });
    CHECK(hipStreamSynchronize(stream));
    other.join();
    int runs = 0;
    CHECK(hipMemcpy(&runs, memory + 1, sizeof(runs), hipMemcpyDeviceToHost));
    int *p = zeros();
    for (int i = 0; i < 2; i++)
        launch_add(p, 1, nullptr);
    return (runs != 1) + differing(p, 2);
}

// One stream makes what the other uses up, through one buffer; each waits for the other. 60 dispatches.
static size_t producer_consumer()
{
    int *made = zeros(), *slot = zeros(), *sum = zeros();
    hipStream_t producer = new_stream(), consumer = new_stream();
    hipEvent_t full = new_event(), empty = new_event();
    for (int i = 0; i < 20; i++) {
        launch_add(made, 1, producer);
        if (i)
            CHECK(hipStreamWaitEvent(producer, empty, 0));
        copy<<<items / 64, 64, 0, producer>>>(made, slot); // 2, 3, 4 ...
        CHECK(hipEventRecord(full, producer));
        CHECK(hipStreamWaitEvent(consumer, full, 0));
        copy<<<items / 64, 64, 0, consumer>>>(slot, sum);
        CHECK(hipEventRecord(empty, consumer));
    }
    CHECK(hipDeviceSynchronize());
    return differing(made, 20) + differing(slot, 21) + differing(sum, 22);
}

// A chain of events over eight streams, around five times: add, twice, add, twice. 40 dispatches.
static size_t chains()
{
    constexpr int links = 8;
    int *p = zeros(), expected = 0;
    hipStream_t streams[links];
    hipEvent_t events[links];
    for (int i = 0; i < links; i++) {
        streams[i] = new_stream();
        events[i] = new_event();
    }
    for (int turn = 0; turn < 5 * links; turn++) {
        const int i = turn % links;
        if (turn)
            CHECK(hipStreamWaitEvent(streams[i], events[(i + links - 1) % links], 0));
        if (i % 2 == 0)
            launch_add(p, turn % 3, streams[i]);
        else
            twice<<<items / 64, 64, 0, streams[i]>>>(p);
        expected = (i % 2 == 0 ? expected + turn % 3 : expected * 2) % (1 << 30);
        CHECK(hipEventRecord(events[i], streams[i]));
    }
    CHECK(hipDeviceSynchronize());
    return differing(p, expected);
}

static std::atomic<bool> release_now;
static std::atomic<int> called;

// A dispatch stands behind a barrier that is not satisfied: it waits for host work in another stream. Others go on
// meanwhile, also later ones. 21 dispatches.
static size_t unsatisfied()
{
    int *held = zeros(), *free_to_go = zeros();
    hipStream_t host = new_stream(), behind = new_stream(), other = new_stream();
    hipEvent_t event = new_event();
    CHECK(hipStreamAddCallback(
        host, [](hipStream_t, hipError_t, void *) { wait_until([] { return release_now.load(); }); }, nullptr,
        0));
    CHECK(hipEventRecord(event, host));
    CHECK(hipStreamWaitEvent(behind, event, 0));
    launch_add(held, 1, behind);
    for (int i = 0; i < 20; i++)
        launch_add(free_to_go, 1, other);
    CHECK(hipStreamSynchronize(other));
    size_t wrong = hipStreamQuery(behind) != hipErrorNotReady;
    wrong += differing(free_to_go, 20);
    release_now = true;
    CHECK(hipStreamSynchronize(behind));
    return wrong + differing(held, 1);
}

struct job {
    int *memory;
    hipStream_t stream;
};

// Callbacks that launch kernels on another stream. 20 dispatches.
static size_t callback_launches()
{
    job own = {zeros(), new_stream()}, theirs = {zeros(), new_stream()};
    for (int i = 0; i < 10; i++) {
        launch_add(own.memory, 1, own.stream);
        CHECK(hipStreamAddCallback(
            own.stream,
            [](hipStream_t, hipError_t status, void *arg) {
                const job *other = static_cast<const job *>(arg);
                if (status == hipSuccess)
                    launch_add(other->memory, 1, other->stream);
                called++;
            },
            &theirs, 0));
    }
    CHECK(hipStreamSynchronize(own.stream));
    size_t wrong = !wait_until([] { return called == 10; });
    CHECK(hipStreamSynchronize(theirs.stream));
    return wrong + differing(own.memory, 10) + differing(theirs.memory, 10);
}

// A graph of a copy, three kernels and a fill, launched five times. 15 dispatches.
static size_t graph()
{
    int *p = zeros(), *q = zeros();
    hipStream_t stream = new_stream();
    hipGraph_t captured;
    hipGraphExec_t ready;
    CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    launch_add(p, 1, stream);
    twice<<<items / 64, 64, 0, stream>>>(p);
    copy<<<items / 64, 64, 0, stream>>>(p, q);
    CHECK(hipStreamEndCapture(stream, &captured));
    CHECK(hipGraphInstantiate(&ready, captured, nullptr, nullptr, 0));
    int expected = 0;
    for (int i = 0; i < 5; i++) {
        CHECK(hipGraphLaunch(ready, stream));
        expected = 2 * (expected + 1);
    }
    CHECK(hipStreamSynchronize(stream));
    return differing(p, expected) + differing(q, expected + 1);
}

static sigjmp_buf back;
static volatile sig_atomic_t aborted;

// The program handles its own abort() and goes on. 20 dispatches.
static size_t own_abort()
{
    int *p = zeros();
    struct sigaction action = {};
    action.sa_handler = [](int) {
        aborted = aborted + 1;
        siglongjmp(back, 1);
    };
    sigaction(SIGABRT, &action, nullptr);
    for (volatile int i = 0; i < 2; i = i + 1) {
        for (int k = 0; k < 10; k++)
            launch_add(p, 1, nullptr);
        if (sigsetjmp(back, 1) == 0)
            std::abort();
        CHECK(hipDeviceSynchronize());
    }
    return (aborted != 2) + differing(p, 20);
}

// Two threads, each with a GPU of its own. 40 dispatches.
static size_t gpu_each()
{
    int *memory[2] = {};
    std::vector<std::thread> threads;
    for (int gpu = 0; gpu < 2; gpu++)
        threads.emplace_back([gpu, &memory] {
            CHECK(hipSetDevice(gpu));
            memory[gpu] = zeros();
            hipStream_t stream = new_stream();
            for (int i = 0; i < 10; i++) {
                launch_add(memory[gpu], gpu + 1, stream);
                twice<<<items / 64, 64, 0, stream>>>(memory[gpu]);
            }
            CHECK(hipStreamSynchronize(stream));
        });
    for (std::thread &thread : threads)
        thread.join();
    size_t wrong = 0;
    for (int gpu = 0; gpu < 2; gpu++) {
        CHECK(hipSetDevice(gpu));
        wrong += differing(memory[gpu], 2046 * (gpu + 1)); // x -> 2(x + n), ten times from 0
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const mode modes[] = {
        {"counting_thread", counting_thread},
        {"copying_thread", copying_thread},
        {"host_flag", host_flag},
        {"device_flag", device_flag},
        {"producer_consumer", producer_consumer},
        {"chains", chains},
        {"unsatisfied", unsatisfied},
        {"callback_launches", callback_launches},
        {"graph", graph},
        {"own_abort", own_abort},
        {"gpu_each", gpu_each},
    };
    return run_mode(modes, argc, argv);
}
