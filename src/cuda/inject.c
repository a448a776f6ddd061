// SPDX-License-Identifier: MIT
// Owns the entry: the CUDA driver loads the library named by CUDA_INJECTION64_PATH and calls
// InitializeInjection while the program initialises CUDA. Driver calls are not possible yet there; the GPUs
// are looked at on the first call.
#include "cuda/callbacks.h"
#include "cuda/ending.h"

#include "engine/bounds.h"
#include "engine/line.h"
#include "tool/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct kr_cuda process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .modules.lock = PTHREAD_MUTEX_INITIALIZER,
    .modules.claiming = PTHREAD_MUTEX_INITIALIZER,
    .kernels.lock = PTHREAD_MUTEX_INITIALIZER,
};

static void ignore(void *arg, const char *variable, const char *value)
{
    (void)arg, (void)variable, (void)value; // the engine reads the same table and complains
}

static void at_exit(void)
{
    struct kr_bounds bounds;

    kr_bounds_read(&bounds, ignore, NULL);
    if (!kr_cuda_end(&process, bounds.exit_ns))
        return; // the log has no end record
    kr_tool_hurry();
    kr_engine_end_tool(process.engine);
}

// CUDA does not work in a child made by fork, and locks are there as other threads left them.
static void in_fork_child(void)
{
    process.active = false;
}

static void step_aside(const char *why)
{
    char text[KR_LINE_BYTES];

    snprintf(text, sizeof text, "%s; the program runs without kreplay", why);
    if (kr_level_asked() >= KR_LEVEL_ERROR)
        kr_line(STDERR_FILENO, text);
    kr_engine_destroy(process.engine);
    process.engine = NULL;
}

int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
    char error[512] = "";
    struct kr_bounds bounds;

    if (process.engine)
        return 1;
    if (kr_driver_open(&process.driver, error, sizeof error) != 0 ||
        kr_cupti_open(&process.cupti, error, sizeof error) != 0) {
        step_aside(error);
        return 1;
    }
    if (kr_engine_create(&kr_cuda_backend, &process, &process.engine) != 0) {
        step_aside("out of memory");
        return 1;
    }
    if (kr_tool_start("cuda", error, sizeof error) != 0) {
        step_aside(error);
        return 1;
    }
    if (!kr_engine_active(process.engine))
        return 1; // nothing to collect
    if (kr_callbacks_enable(&process, error, sizeof error) != 0) {
        step_aside(error);
        return 1;
    }
    process.owner = getpid();
    kr_bounds_read(&bounds, ignore, NULL);
    process.copy_ns = bounds.copy_ns;
    process.active = true;
    pthread_atfork(NULL, NULL, in_fork_child);
    atexit(at_exit);
    return 1;
}
