// SPDX-License-Identifier: MIT
// A program that ends in every way there is. Usage: ends FILE MODE [ARGUMENT...]
// FILE holds counters that outlive the process, whatever ends it: struct tally below.
#include <hip/hip_runtime.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        hipError_t error_ = (call);                                                                          \
        if (error_ != hipSuccess) {                                                                          \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));                              \
            _exit(99);                                                                                       \
        }                                                                                                    \
    } while (0)

struct tally {                            // of kernel `step`, over all processes that were given the file
    std::atomic<uint32_t> launched, seen; // seen: the program knows that it is complete
    std::atomic<uint32_t> flag;           // a mode's own
};

static tally *shared;
static char *self, *file;
static int *data;
static int steps_here; // what data[] has to hold

__global__ void step(int *p)
{
    p[threadIdx.x] += 1;
}

__global__ void spin(int *p, int turns)
{
    int x = p[threadIdx.x];
    for (int i = 0; i < turns; i++)
        asm volatile("v_add_u32 %0, 1, %0" : "+v"(x));
    if (x == 0x7fffffff) // never
        p[threadIdx.x] = x;
}

static std::atomic<bool> leaving; // exit() runs: HIP may refuse what this thread goes on asking

static void launch()
{
    if (!data) {
        CHECK(hipMalloc(&data, 64 * sizeof(int)));
        CHECK(hipMemset(data, 0, 64 * sizeof(int)));
    }
    shared->launched++;
    step<<<1, 64>>>(data);
    hipError_t error = hipGetLastError();
    while (error != hipSuccess && leaving)
        pause();
    CHECK(error);
    steps_here++;
}

static void steps(int n)
{
    for (int i = 0; i < n; i++) {
        launch();
        CHECK(hipDeviceSynchronize());
        shared->seen++;
    }
}

// Replay or not, memory holds what single executions leave.
static void check()
{
    int copy[64];
    CHECK(hipMemcpy(copy, data, sizeof(copy), hipMemcpyDeviceToHost));
    for (int value : copy)
        if (value != steps_here) {
            std::fprintf(stderr, "after %d steps the memory holds %d\n", steps_here, value);
            _exit(98);
        }
}

// Runs a very long kernel, and tells once it is under way.
static void start_spinning()
{
    launch();
    CHECK(hipDeviceSynchronize());
    shared->seen++;
    spin<<<1, 64>>>(data, 0x7fffffff);
    CHECK(hipGetLastError());
    shared->flag = 1;
}

static void exec_self(const char *mode, const char *argument)
{
    execl(self, self, file, mode, argument, (char *)nullptr);
    _exit(97);
}

static void wait_for(pid_t child)
{
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "the child's status is 0x%x\n", status);
        _exit(96);
    }
}

// Destroyed after everything that the program and its libraries have registered later, kreplay's exit handler
// among it. HIP has forgotten the program's kernels by then; a fill is a dispatch, too.
static struct late {
    int frees = 0, fills = 0;
    ~late()
    {
        for (int i = 0; i < fills; i++) {
            CHECK(hipMemset(data, i, 64 * sizeof(int)));
            CHECK(hipDeviceSynchronize());
        }
        if (frees)
            CHECK(hipFree(data));
    }
} late;

static void *exit_5(void *)
{
    while (shared->seen < 3)
        usleep(1000);
    leaving = true;
    std::exit(5);
}

static void another_thread_exits()
{
    pthread_t thread;
    if (pthread_create(&thread, nullptr, exit_5, nullptr) != 0)
        _exit(95);
}

// ---- Modes

static int run_steps(const char *argument)
{
    steps(std::atoi(argument));
    check();
    return 0;
}

static int run_forever(const char *)
{
    for (;;)
        steps(1);
}

static int raise_signal(const char *argument)
{
    steps(2);
    launch(); // nobody waits for it
    if (std::strcmp(argument, "fault") == 0)
        *(volatile int *)1 = 0;
    else
        raise(std::atoi(argument));
    return 94;
}

static int leave(const char *argument)
{
    steps(2);
    if (std::strcmp(argument, "_exit") == 0)
        _exit(7);
    if (std::strcmp(argument, "quick_exit") == 0)
        std::quick_exit(7);
    if (std::strcmp(argument, "abort") == 0)
        std::abort();
    launch();
    return 7;
}

static int run_spin(const char *argument)
{
    start_spinning();
    if (std::strcmp(argument, "exit") == 0)
        return 0;
    pause();
    return 93;
}

static int exec_another(const char *argument)
{
    steps(2);
    if (std::strcmp(argument, "gpu") == 0)
        exec_self("steps", "2");
    execl("/bin/sh", "sh", "-c", "exit 4", (char *)nullptr);
    return 92;
}

static int fork_both_go_on(const char *argument)
{
    steps(1);
    pid_t child = fork();
    if (child == 0) {
        if (std::strcmp(argument, "exec") == 0)
            exec_self("steps", "2");
        if (std::strcmp(argument, "_exit") == 0)
            _exit(0);
        std::exit(0);
    }
    steps(2);
    wait_for(child);
    steps(1);
    check();
    return 0;
}

// Each side starts the GPU for itself.
static int fork_first(const char *)
{
    pid_t child = fork();
    steps(2);
    check();
    if (child != 0)
        wait_for(child);
    return 0;
}

// The child outlives the program, and records the most of it then.
static int leave_an_orphan(const char *)
{
    pid_t parent = getpid();
    if (fork() != 0) {
        steps(1);
        while (!shared->flag)
            usleep(1000);
        return 0;
    }
    setsid();
    close(STDOUT_FILENO); // whoever reads to the end waits for the program alone
    close(STDERR_FILENO);
    steps(1);
    shared->flag = 1;
    while (getppid() == parent)
        usleep(1000);
    sleep(1); // the command is done with its files
    steps(2);
    shared->flag = 2;
    _exit(0);
}

static int destructor(const char *argument)
{
    steps(2);
    late.frees = 1;
    late.fills = std::atoi(argument);
    return 6;
}

static int thread_exits(const char *argument)
{
    another_thread_exits();
    if (std::strcmp(argument, "waiting") == 0)
        for (;;)
            steps(1);
    steps(3);
    for (;;)
        launch();
}

static const struct {
    const char *name;
    int (*run)(const char *argument);
} modes[] = {
    {"steps", run_steps},       {"forever", run_forever},   {"raise", raise_signal},
    {"leave", leave},           {"spin", run_spin},         {"exec", exec_another},
    {"fork", fork_both_go_on},  {"fork_first", fork_first}, {"orphan", leave_an_orphan},
    {"destructor", destructor}, {"thread", thread_exits},
};

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: ends FILE MODE [ARGUMENT]\n");
        return 2;
    }
    self = argv[0];
    file = argv[1];
    int fd = open(file, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, sizeof(tally)) != 0)
        return 2;
    void *map = mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return 2;
    close(fd);
    shared = (tally *)map;
    for (const auto &mode : modes)
        if (std::strcmp(mode.name, argv[2]) == 0)
            return mode.run(argc > 3 ? argv[3] : "");
    return 2;
}
