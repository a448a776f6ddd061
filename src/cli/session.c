// SPDX-License-Identifier: MIT
// One run of the program.
#include "cli/session.h"

#include "cli/gpu_watch.h"
#include "cli/launch.h"
#include "cli/output_name.h"
#include "cli/outputs.h"
#include "cli/run_folder.h"
#include "cli/say.h"
#include "counters/groups.h"
#include "store/store.h"
#include "tool/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// By which a GPU runtime is told to load kreplay.
#define AMD_VARIABLE    "HSA_TOOLS_LIB"
#define NVIDIA_VARIABLE "CUDA_INJECTION64_PATH"

#define FAIL(...) (snprintf(error, error_bytes, __VA_ARGS__), -1)

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

// `first` before what the variable holds.
static char *list_with(const char *variable, const char *first)
{
    const char *before = getenv(variable);
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", first, before && *before ? ":" : "", before ? before : "") < 0)
        return NULL;
    return list;
}

// An option that was not given must also hide what the environment of kreplay itself says.
static const char *given(const char *option)
{
    return option ? option : "";
}

// Without groups only what the software GPU needs.
static int set_environment(const struct kr_session *session, struct kr_launch *launch, char *error,
                           size_t error_bytes)
{
    const struct kr_setup *setup = session->setup;
    char id[32];
    snprintf(id, sizeof(id), "%" PRIu64, session->id);
    const struct kr_options *options = setup->options;
    char budget[16], most[16], skip[16], count[16];
    snprintf(budget, sizeof(budget), "%u", options->budget);
    snprintf(most, sizeof(most), "%u", options->max_per_kernel);
    snprintf(skip, sizeof(skip), "%u", options->launch_skip);
    snprintf(count, sizeof(count), "%u", options->launch_count);
    bool load = setup->loads;
    char *tools = tools_list(setup->library), *pmc = kr_groups_text(session->groups, session->group_count);
    char *libraries = setup->soft_folder ? list_with("LD_LIBRARY_PATH", setup->soft_folder) : NULL;
    // Only in builds with a sanitizer, whose run-time library must come first in programs built without.
    char *preload = *KREPLAY_PRELOAD ? list_with("LD_PRELOAD", KREPLAY_PRELOAD) : NULL;
    const struct {
        const char *name, *value;
        bool set;
    } variables[] = {
        {setup->nvidia ? NVIDIA_VARIABLE : AMD_VARIABLE, setup->nvidia ? setup->library : tools, load},
        // ROCr 6.1 and later loads tools that are not rocprofiler-sdk's only when told so.
        {"HSA_TOOLS_ROCPROFILER_V1_TOOLS", "1", load},
        {"HSA_TOOLS_REPORT_LOAD_FAILURE", "1", load && !getenv("HSA_TOOLS_REPORT_LOAD_FAILURE")},
        // Without a large BAR, HIP's small host-to-device copies become visible to a tool.
        {"ROC_ENABLE_LARGE_BAR", "0", load && !getenv("ROC_ENABLE_LARGE_BAR")},
        {KR_ENV_PMC, pmc, load},
        {KR_ENV_DERIVED, given(setup->derived), load},
        {KR_ENV_INPUTS, given(setup->inputs), load},
        {KR_ENV_TOOL, setup->tool, setup->tool != NULL},
        {KR_ENV_TOOL_ONLY, setup->options->tool_only ? "on" : "off", load},
        {KR_ENV_INCLUDE, given(options->include), load},
        {KR_ENV_EXCLUDE, given(options->exclude), load},
        {KR_ENV_NAME, given(options->kernel_name), load},
        {KR_ENV_NAME_BASE, kr_options_name_base(options), load},
        {KR_ENV_ITERATIONS, given(options->iterations), load},
        {KR_ENV_BUDGET, budget, load},
        {KR_ENV_MOST, most, load},
        {KR_ENV_SKIP, skip, load},
        {KR_ENV_COUNT, count, load},
        {KR_ENV_RUN_DIR, session->folder, session->folder != NULL},
        {KR_ENV_RUN_ID, id, true},
        {KR_ENV_WITNESS, setup->options->witness ? "on" : "off", load},
        {KR_ENV_LOG_LEVEL, kr_options_level(setup->options), load},
        {"LD_LIBRARY_PATH", libraries, libraries != NULL},
        {"LD_PRELOAD", preload, preload != NULL},
    };
    int status =
        tools && pmc && (libraries || !setup->soft_folder) && (preload || !*KREPLAY_PRELOAD) ? 0 : -1;
    for (size_t i = 0; !status && i < sizeof(variables) / sizeof(variables[0]); i++)
        if (variables[i].set)
            status = kr_launch_setenv(launch, variables[i].name, variables[i].value);
    free(preload);
    free(libraries);
    free(pmc);
    free(tools);
    return status ? FAIL("cannot set the program's environment: %s", strerror(errno)) : 0;
}

// ---- Before the start

static uint64_t make_id(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t id = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^ ((uint64_t)getpid() << 40);
    return id & INT64_MAX; // SQLite's integers are signed
}

char *kr_session_prefix(const struct kr_session *session, unsigned pass, pid_t pid, char *error,
                        size_t error_bytes)
{
    const struct kr_options *options = session->setup->options;
    const struct kr_output_place place = {.directory = options->directory,
                                          .file = options->file,
                                          .program = options->program,
                                          .pid = pid,
                                          .pass = pass};
    char *prefix = kr_output_prefix(&place);
    if (!prefix)
        snprintf(error, error_bytes, "out of memory");
    else if (kr_output_prepare(prefix, error, error_bytes) == 0)
        return prefix;
    free(prefix);
    return NULL;
}

static int place_alone(struct kr_session *session, pid_t pid, char *error, size_t error_bytes)
{
    session->prefix = kr_session_prefix(session, session->pass, pid, error, error_bytes);
    if (!session->prefix)
        return -1;
    if (session->setup->logs && kr_run_folder_make(session->prefix, &session->folder))
        return FAIL("cannot make folder %s_run: %s", session->prefix, strerror(errno));
    return 0;
}

static void write_index(const struct kr_session *session, int exit_status)
{
    const struct kr_run_info info = {.run_id = session->id,
                                     .mode = session->mode,
                                     .command = session->setup->options->program,
                                     .groups = session->groups,
                                     .group_count = session->group_count,
                                     .exit_status = exit_status};
    if (session->folder)
        kr_run_folder_index(session->folder, &info);
}

// kreplay itself must live on when what it writes to is closed; the program must not inherit that.
static void hold_sigpipe(bool hold)
{
    static void (*original)(int) = SIG_DFL;
    static bool held;
    if (hold == held)
        return;
    if (hold)
        original = signal(SIGPIPE, SIG_IGN);
    else
        signal(SIGPIPE, original);
    held = hold;
}

// ---- The run

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

int kr_session_run(struct kr_session *session, char *error, size_t error_bytes)
{
    const struct kr_setup *setup = session->setup;
    struct kr_launch launch;
    struct kr_gpu_watch watch;
    hold_sigpipe(false);
    int status = kr_launch_prepare(&launch, setup->program, setup->options->program);
    int cause = errno;
    hold_sigpipe(true);
    if (status)
        return FAIL("cannot make a process: %s", strerror(cause));
    session->id = make_id();
    int (*place)(struct kr_session *, pid_t, char *, size_t) = session->place ? session->place : place_alone;
    if (place(session, launch.pid, error, error_bytes) ||
        set_environment(session, &launch, error, error_bytes)) {
        kr_launch_cancel(&launch);
        return -1;
    }
    write_index(session, -1);
    kr_say(setup->options, KR_LEVEL_INFO, "run %" PRIu64 ", process %d, logs in %s", session->id,
           (int)launch.pid, session->folder ? session->folder : "none");
    kr_gpu_watch_start(&watch, setup->driver, session->id);
    if (kr_launch_start(&launch)) {
        cause = errno;
        kr_gpu_watch_stop(&watch);
        if (session->folder)
            kr_run_folder_remove(session->folder);
        return FAIL("program %s cannot be run: %s", setup->program, strerror(cause));
    }
    if (kr_launch_wait(&launch, &watch, &status) == 0) {
        session->exit_status = end_status(setup->options, status);
    } else {
        kr_say(setup->options, KR_LEVEL_ERROR, "how the program ended is not known: %s", strerror(errno));
        session->exit_status = 1;
    }
    session->used_gpu = watch.used;
    session->watched = watch.watched;
    kr_gpu_watch_stop(&watch);
    write_index(session, session->exit_status);
    session->survivor = kr_gpu_watch_survivor(session->id);
    if (session->survivor && session->folder)
        kr_say(setup->options, KR_LEVEL_WARNING,
               "the program has ended, process %d that it started has not: what it still records can be read "
               "later with kreplay convert -i %s",
               (int)session->survivor, session->folder);
    return 0;
}

// ---- Afterwards

char *kr_command_line(char *const *argv)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (char *const *argument = argv; out && *argument; argument++)
        fprintf(out, "%s%s", argument == argv ? "" : " ", *argument);
    return out && fclose(out) == 0 ? text : NULL;
}

int kr_session_nothing(struct kr_session *session)
{
    const struct kr_setup *setup = session->setup;
    const char *variable = setup->nvidia ? NVIDIA_VARIABLE : AMD_VARIABLE;
    if (session->used_gpu)
        kr_say(
            setup->options, KR_LEVEL_ERROR,
            "the program used a GPU, but kreplay was not loaded into it: its runtime did not take %s from %s",
            setup->library, variable);
    else if (session->watched)
        kr_say(setup->options, KR_LEVEL_WARNING, "the program did not use a GPU; there is nothing to write");
    else
        kr_say(setup->options, KR_LEVEL_WARNING,
               "nothing to write: the program did not use a GPU, or its runtime did not take %s from %s",
               setup->library, variable);
    if (!session->survivor)
        kr_run_folder_remove(session->folder);
    return session->used_gpu && session->exit_status == 0 ? 1 : session->exit_status;
}

int kr_session_write(struct kr_session *session)
{
    const struct kr_options *options = session->setup->options;
    struct kr_log_paths logs;
    if (kr_log_paths_read(session->folder, &logs)) {
        kr_say(options, KR_LEVEL_ERROR, "cannot read %s: %s", session->folder, strerror(errno));
        return session->exit_status;
    }
    if (logs.count == 0) {
        kr_log_paths_free(&logs);
        return kr_session_nothing(session);
    }
    char *command = kr_command_line(options->program);
    const struct kr_store_run run = {.run_id = session->id,
                                     .mode = session->mode,
                                     .command = command,
                                     .exit_status = session->exit_status};
    int status = kr_outputs_from_logs(options, &logs, &run, session->prefix);
    free(command);
    kr_log_paths_free(&logs);
    if (status || options->keep_logs)
        kr_say(options, KR_LEVEL_WARNING, "the record logs are in %s", session->folder);
    else if (!session->survivor)
        kr_run_folder_remove(session->folder);
    return session->exit_status; // what kreplay could not write does not change what the program said
}

void kr_session_free(struct kr_session *session)
{
    free(session->folder);
    free(session->prefix);
}
