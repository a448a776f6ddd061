// SPDX-License-Identifier: MIT
// kreplay run: checks everything, starts the program with kreplay loaded by its GPU runtime, waits, writes
// the files.
#include "cli/checks.h"
#include "cli/gpu_watch.h"
#include "cli/install.h"
#include "cli/launch.h"
#include "cli/nvidia.h"
#include "cli/output_name.h"
#include "cli/outputs.h"
#include "cli/run_folder.h"
#include "cli/say.h"
#include "cli/verbs.h"
#include "store/store.h"
#include "tool/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DRIVER "/dev/kfd"

// By which a GPU runtime is told to load kreplay.
#define AMD_VARIABLE    "HSA_TOOLS_LIB"
#define NVIDIA_VARIABLE "CUDA_INJECTION64_PATH"

struct run {
    const struct kr_options *options;
    struct kr_groups groups;
    char *program;     // path
    char *library;     // libkreplay.so, or libkreplay-cuda.so
    bool nvidia;       // which of them
    char *soft_folder; // NULL without --soft-gpu
    char *driver;      // what a GPU's user opens
    char *prefix;
    char *folder;
    uint64_t id;
    char error[512];
};

#define ERROR(run) (run)->error, sizeof((run)->error)

// Notes why the run cannot be; -1.
static int fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(run->error, sizeof(run->error), format, args);
    va_end(args);
    return -1;
}

// ---- Before the start

static int check_soft_gpu(struct run *run)
{
    char *list = kr_install_library("softgpu/counters.tsv");
    run->soft_folder = kr_install_library("softgpu");
    run->driver = kr_install_library("softgpu/kfd");
    char *thunk = kr_install_library("softgpu/libhsakmt.so.1");
    int status = -1;
    if (!list || !run->soft_folder || !thunk || !run->driver)
        fail(run, "out of memory");
    else if (kr_check_modelled(&run->groups, list, ERROR(run)))
        status = -1;
    else if (access(thunk, R_OK) != 0)
        fail(run, "the software GPU is not there: %s: %s", thunk, strerror(errno));
    else
        status = kr_check_rocr(ERROR(run));
    free(thunk);
    free(list);
    return status;
}

static int find_library(struct run *run)
{
    run->library = kr_install_library(run->nvidia ? KR_NVIDIA_LIBRARY : "libkreplay.so");
    if (run->library && access(run->library, R_OK) == 0)
        return 0;
    return fail(run, "kreplay's library is missing: %s", run->library ? run->library : "/proc is not there");
}

static int check_counters(struct run *run)
{
    struct kr_arches arches = {.names = {"gfx90a"}, .count = 1};
    if (!run->options->soft_gpu)
        kr_read_arches(KR_TOPOLOGY, &arches);
    // A machine may have GPUs of both makes: then the names of the counters tell which are meant.
    run->nvidia =
        !run->options->soft_gpu && kr_nvidia_here() && (arches.count == 0 || kr_nvidia_named(&run->groups));
    if (run->nvidia)
        return find_library(run) ? -1 : kr_nvidia_check(run->library, &run->groups, ERROR(run));
    if (arches.count == 0)
        return fail(run,
                    "no AMD GPU on this machine (%s has none), nor an NVIDIA GPU (no " KR_NVIDIA_DRIVER
                    "); --soft-gpu runs the program without one",
                    KR_TOPOLOGY);
    return kr_check_groups(&run->groups, &arches, ERROR(run));
}

static int check(struct run *run)
{
    const struct kr_options *options = run->options;
    if (!options->program)
        return fail(run, "no program given; usage: kreplay [options] -- program [args]");
    if (options->replay_mode != 0)
        return fail(run, "--replay-mode application is not available yet, use kernel");
    if (kr_groups_parse(options->pmc ? options->pmc : "", &run->groups, ERROR(run)))
        return -1;
    if (run->groups.count == 0)
        return fail(run, "kernel replay needs counters: give at least one --pmc; kreplay list names them");
    if (kr_find_program(options->program[0], &run->program, ERROR(run)))
        return -1;
    if (check_counters(run))
        return -1;
    if (options->soft_gpu ? check_soft_gpu(run)
                          : !(run->driver = strdup(run->nvidia ? KR_NVIDIA_DRIVER : DRIVER)))
        return run->error[0] ? -1 : fail(run, "out of memory");
    return run->library ? 0 : find_library(run);
}

// ---- The program's environment

// ROCr splits HSA_TOOLS_LIB at blanks; a name in double quotes may hold some.
static char *tools_list(const char *library)
{
    const char *before = getenv("HSA_TOOLS_LIB");
    const char *quote = strpbrk(library, " \t") ? "\"" : "";
    char *list = NULL;
    if (asprintf(&list, "%s%s%s%s%s", before ? before : "", before && *before ? " " : "", quote, library,
                 quote) < 0)
        return NULL;
    return list;
}

// Groups in the form of KREPLAY_PMC.
static char *groups_text(const struct kr_groups *groups)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (size_t g = 0; out && g < groups->count; g++)
        for (size_t i = 0; i < groups->groups[g].count; i++)
            fprintf(out, "%s%s", i ? " " : g ? ";" : "", groups->groups[g].names[i]);
    if (!out || fclose(out) != 0)
        return NULL;
    return text;
}

// `first` before what the variable holds.
static char *list_with(const char *variable, const char *first)
{
    const char *before = getenv(variable);
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", first, before && *before ? ":" : "", before ? before : "") < 0)
        return NULL;
    return list;
}

static int set_environment(struct run *run, struct kr_launch *launch)
{
    char id[32];
    snprintf(id, sizeof(id), "%" PRIu64, run->id);
    char *tools = tools_list(run->library), *pmc = groups_text(&run->groups);
    char *libraries = run->soft_folder ? list_with("LD_LIBRARY_PATH", run->soft_folder) : NULL;
    // Only in builds with a sanitizer, whose run-time library must come first in programs built without.
    char *preload = *KREPLAY_PRELOAD ? list_with("LD_PRELOAD", KREPLAY_PRELOAD) : NULL;
    const struct {
        const char *name, *value;
        bool keep; // what the user has set stands
    } variables[] = {
        {run->nvidia ? NVIDIA_VARIABLE : AMD_VARIABLE, run->nvidia ? run->library : tools, false},
        // ROCr 6.1 and later loads tools that are not rocprofiler-sdk's only when told so.
        {"HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1", false},
        {"HSA_TOOLS_REPORT_LOAD_FAILURE", "1", true},
        // Without a large BAR, HIP's small host-to-device copies become visible to a tool.
        {"ROC_ENABLE_LARGE_BAR", "0", true},
        {KR_ENV_PMC, pmc, false},
        {KR_ENV_RUN_DIR, run->folder, false},
        {KR_ENV_RUN_ID, id, false},
        {KR_ENV_WITNESS, run->options->witness ? "on" : "off", false},
        {KR_ENV_LOG_LEVEL, kr_options_level(run->options), false},
        {"LD_LIBRARY_PATH", libraries, false},
        {"LD_PRELOAD", preload, false},
    };
    int status = tools && pmc && (libraries || !run->soft_folder) && (preload || !*KREPLAY_PRELOAD) ? 0 : -1;
    for (size_t i = 0; !status && i < sizeof(variables) / sizeof(variables[0]); i++)
        if (variables[i].value && !(variables[i].keep && getenv(variables[i].name)))
            status = kr_launch_setenv(launch, variables[i].name, variables[i].value);
    free(preload);
    free(libraries);
    free(pmc);
    free(tools);
    return status ? fail(run, "cannot set the program's environment: %s", strerror(errno)) : 0;
}

// ---- The run

static uint64_t make_id(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t id = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^ ((uint64_t)getpid() << 40);
    return id & INT64_MAX; // SQLite's integers are signed
}

static int prepare_folder(struct run *run, pid_t pid)
{
    const struct kr_output_place place = {.directory = run->options->directory,
                                          .file = run->options->file,
                                          .program = run->options->program,
                                          .pid = pid};
    run->prefix = kr_output_prefix(&place);
    if (!run->prefix)
        return fail(run, "out of memory");
    if (kr_output_prepare(run->prefix, ERROR(run)))
        return -1;
    if (kr_run_folder_make(run->prefix, &run->folder))
        return fail(run, "cannot make folder %s_run: %s", run->prefix, strerror(errno));
    return 0;
}

static struct kr_run_info describe(const struct run *run, int exit_status)
{
    return (struct kr_run_info){
        .run_id = run->id, .mode = "kernel", .command = run->options->program, .exit_status = exit_status};
}

static char *command_line(char *const *argv)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (char *const *argument = argv; out && *argument; argument++)
        fprintf(out, "%s%s", argument == argv ? "" : " ", *argument);
    return out && fclose(out) == 0 ? text : NULL;
}

// The program has ended. Returns the exit status.
static int finish(struct run *run, int exit_status, const struct kr_gpu_watch *watch)
{
    const struct kr_options *options = run->options;
    struct kr_log_paths logs;
    if (kr_log_paths_read(run->folder, &logs)) {
        kr_say(options, KR_LEVEL_ERROR, "cannot read %s: %s", run->folder, strerror(errno));
        return exit_status;
    }
    pid_t survivor = kr_gpu_watch_survivor(run->id);
    if (survivor)
        kr_say(options, KR_LEVEL_WARNING,
               "the program has ended, process %d that it started has not: what it still records can be read "
               "later with kreplay convert -i %s",
               (int)survivor, run->folder);
    if (logs.count == 0) {
        if (watch->used)
            kr_say(options, KR_LEVEL_ERROR,
                   "the program used a GPU, but kreplay was not loaded into it: its runtime did not take %s "
                   "from %s",
                   run->library, run->nvidia ? NVIDIA_VARIABLE : AMD_VARIABLE);
        else if (watch->watched)
            kr_say(options, KR_LEVEL_WARNING, "the program did not use a GPU; there is nothing to write");
        else
            kr_say(options, KR_LEVEL_WARNING,
                   "nothing to write: the program did not use a GPU, or its runtime did not take %s from %s",
                   run->library, run->nvidia ? NVIDIA_VARIABLE : AMD_VARIABLE);
        if (!survivor)
            kr_run_folder_remove(run->folder);
        return watch->used && exit_status == 0 ? 1 : exit_status;
    }
    const struct kr_run_info info = describe(run, exit_status);
    kr_run_folder_index(run->folder, &info);
    char *command = command_line(options->program);
    const struct kr_store_run store_run = {
        .run_id = run->id, .mode = "kernel", .command = command, .exit_status = exit_status};
    int status = kr_outputs_from_logs(options, &logs, &store_run, run->prefix);
    free(command);
    kr_log_paths_free(&logs);
    if (status || options->keep_logs)
        kr_say(options, KR_LEVEL_WARNING, "the record logs are in %s", run->folder);
    else if (!survivor)
        kr_run_folder_remove(run->folder);
    return exit_status; // what kreplay could not write does not change what the program said
}

// Says how the program ended, and returns the exit status that tells it on.
static int end_status(const struct kr_options *options, int status)
{
    if (WIFSIGNALED(status)) {
        kr_say(options, KR_LEVEL_ERROR, "the program was ended by signal %d (%s)%s", WTERMSIG(status),
               strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
        return 128 + WTERMSIG(status);
    }
    kr_say(options, WEXITSTATUS(status) ? KR_LEVEL_WARNING : KR_LEVEL_INFO,
           "the program ended with exit status %d", WEXITSTATUS(status));
    return WEXITSTATUS(status);
}

static int launch(struct run *run)
{
    struct kr_launch launch;
    struct kr_gpu_watch watch;
    if (kr_launch_prepare(&launch, run->program, run->options->program)) {
        fail(run, "cannot make a process: %s", strerror(errno));
        return KR_EXIT_USAGE;
    }
    signal(SIGPIPE, SIG_IGN); // after the fork: the program keeps its own
    run->id = make_id();
    if (prepare_folder(run, launch.pid) || set_environment(run, &launch)) {
        kr_launch_cancel(&launch);
        return KR_EXIT_USAGE;
    }
    const struct kr_run_info info = describe(run, -1);
    kr_run_folder_index(run->folder, &info);
    kr_say(run->options, KR_LEVEL_INFO, "run %" PRIu64 ", process %d, logs in %s", run->id, (int)launch.pid,
           run->folder);
    kr_gpu_watch_start(&watch, run->driver, run->id);
    if (kr_launch_start(&launch)) {
        int cause = errno;
        kr_gpu_watch_stop(&watch);
        kr_run_folder_remove(run->folder);
        fail(run, "program %s cannot be run: %s", run->program, strerror(cause));
        return KR_EXIT_USAGE;
    }
    int status = kr_launch_wait(&launch, &watch);
    kr_gpu_watch_stop(&watch);
    return finish(run, end_status(run->options, status), &watch);
}

int kr_verb_run(const struct kr_options *options)
{
    struct run run = {.options = options};
    int status = check(&run) ? KR_EXIT_USAGE : launch(&run);
    if (run.error[0])
        kr_say(options, KR_LEVEL_ERROR, "%s", run.error);
    free(run.folder);
    free(run.prefix);
    free(run.driver);
    free(run.soft_folder);
    free(run.library);
    free(run.program);
    kr_groups_free(&run.groups);
    return status;
}
