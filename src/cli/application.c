// SPDX-License-Identifier: MIT
// Application replay: one session a group, then the join.
#include "cli/application.h"

#include "cli/launch.h"
#include "cli/outputs.h"
#include "cli/run_folder.h"
#include "cli/say.h"
#include "cli/session.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (snprintf(error, error_bytes, __VA_ARGS__), -1)

struct application {
    const struct kr_setup *setup;
    char *prefix; // of the joined files; with the first run's process id, where it has one
    char *folder; // of all logs: <prefix>_run/pass_N
    struct kr_run_logs *runs;
    size_t count;   // of runs
    bool survivors; // processes of a run may still write their logs
};

// ---- Runs that are joined

static int place_pass(struct kr_session *session, pid_t pid, char *error, size_t error_bytes)
{
    struct application *application = session->place_arg;
    if (!application->prefix) {
        application->prefix = kr_session_prefix(session, 0, pid, error, error_bytes);
        if (!application->prefix)
            return -1;
        if (kr_run_folder_make(application->prefix, &application->folder))
            return FAIL("cannot make folder %s_run: %s", application->prefix, strerror(errno));
    }
    session->prefix = kr_session_prefix(session, session->pass, pid, error, error_bytes);
    if (!session->prefix)
        return -1;
    if (kr_run_folder_make_pass(application->folder, session->pass, &session->folder))
        return FAIL("cannot make folder pass_%u in %s: %s", session->pass, application->folder,
                    strerror(errno));
    return 0;
}

// The files of one run, in its pass_N/. The table, and what is said, are the joined run's.
static int write_pass(const struct kr_session *session, const struct kr_log_paths *logs)
{
    struct kr_options options = *session->setup->options;
    options.table = false;
    if (options.log_level < KR_LEVEL_INFO)
        options.log_level = KR_LEVEL_ERROR;
    char *command = kr_command_line(options.program);
    const struct kr_store_run run = {.run_id = session->id,
                                     .mode = session->mode,
                                     .command = command,
                                     .exit_status = session->exit_status};
    int status = kr_outputs_from_logs(&options, logs, &run, session->prefix);
    free(command);
    return status;
}

static void write_index(const struct application *application, int exit_status)
{
    const struct kr_run_info info = {.run_id = application->count ? application->runs[0].run_id : 0,
                                     .mode = "application",
                                     .command = application->setup->options->program,
                                     .groups = application->setup->groups.groups,
                                     .group_count = application->setup->groups.count,
                                     .runs = application->runs,
                                     .run_count = application->count,
                                     .exit_status = exit_status};
    kr_run_folder_index(application->folder, &info);
}

static int join(struct application *application, int exit_status)
{
    const struct kr_options *options = application->setup->options;
    write_index(application, exit_status);
    char *command = kr_command_line(options->program);
    const struct kr_store_run run = {.run_id = application->runs[0].run_id,
                                     .mode = "application",
                                     .command = command,
                                     .exit_status = exit_status};
    int status =
        kr_outputs_from_runs(options, application->runs, application->count, &run, application->prefix);
    free(command);
    return status;
}

// One run of those that are joined. Whether another may follow.
static bool run_pass(struct application *application, struct kr_session *session, int *exit_status,
                     int *failed, char *error, size_t error_bytes)
{
    struct kr_run_logs *run = &application->runs[application->count];
    if (kr_session_run(session, error, error_bytes)) {
        *exit_status = -1;
        return false;
    }
    application->survivors |= session->survivor != 0;
    *exit_status = session->exit_status;
    *run = (struct kr_run_logs){.run_id = session->id, .exit_status = session->exit_status};
    if (kr_log_paths_read(session->folder, &run->logs)) {
        kr_say(application->setup->options, KR_LEVEL_ERROR, "cannot read %s: %s", session->folder,
               strerror(errno));
        *failed = -1;
        return false;
    }
    if (run->logs.count == 0 && application->count == 0) { // nor will another run
        *exit_status = kr_session_nothing(session);
        return false;
    }
    application->count++;
    if (run->logs.count && write_pass(session, &run->logs))
        *failed = -1;
    return !kr_launch_asked_to_end();
}

static int run_joined(const struct kr_setup *setup, char *error, size_t error_bytes)
{
    struct application application = {.setup = setup};
    application.runs = calloc(setup->groups.count, sizeof(*application.runs));
    if (!application.runs)
        return FAIL("out of memory");
    int status = 0, failed = 0;
    bool more = true;
    for (size_t i = 0; more && i < setup->groups.count; i++) {
        struct kr_session session = {.setup = setup,
                                     .groups = &setup->groups.groups[i],
                                     .group_count = 1,
                                     .mode = "application",
                                     .pass = (unsigned)i + 1,
                                     .place = place_pass,
                                     .place_arg = &application};
        int exit_status;
        more = run_pass(&application, &session, &exit_status, &failed, error, error_bytes);
        status = status ? status : exit_status;
        kr_session_free(&session);
    }
    if (application.count && join(&application, status > 0 ? status : 0))
        failed = -1;
    if (application.folder && application.count && (failed || setup->options->keep_logs))
        kr_say(setup->options, KR_LEVEL_WARNING, "the record logs are in %s", application.folder);
    else if (application.folder && !application.survivors)
        kr_run_folder_remove(application.folder);
    for (size_t i = 0; i < application.count; i++)
        kr_log_paths_free(&application.runs[i].logs);
    free(application.runs);
    free(application.folder);
    free(application.prefix);
    return status;
}

// ---- Runs that stay apart, as rocprofv3 leaves them

static int run_apart(const struct kr_setup *setup, char *error, size_t error_bytes)
{
    int status = 0;
    bool more = true;
    for (size_t i = 0; more && i < setup->groups.count; i++) {
        struct kr_session session = {.setup = setup,
                                     .groups = &setup->groups.groups[i],
                                     .group_count = 1,
                                     .mode = "application",
                                     .pass = (unsigned)i + 1};
        int exit_status = -1;
        if (kr_session_run(&session, error, error_bytes) == 0)
            exit_status = kr_session_write(&session);
        more = exit_status >= 0 && !kr_launch_asked_to_end();
        status = status ? status : exit_status;
        kr_session_free(&session);
    }
    return status;
}

int kr_application_run(const struct kr_setup *setup, char *error, size_t error_bytes)
{
    if (setup->options->compat == KR_COMPAT_ROCPROFV3)
        return run_apart(setup, error, error_bytes);
    return run_joined(setup, error, error_bytes);
}
