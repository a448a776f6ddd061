// SPDX-License-Identifier: MIT
// All command lines are read before the first run; each run then is one of its own, with a folder of its own.
#include "cli/job_runs.h"

#include "cli/jobs.h"
#include "cli/launch.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (snprintf(error, error_bytes, __VA_ARGS__), -1)

// Puts <folder>_<number> behind the directory, or into a file name that brings its own.
static int set_folder(struct kr_options *options, const char *folder, size_t number, char *error,
                      size_t error_bytes)
{
    bool absolute = options->file && *options->file == '/';
    char **at = absolute ? &options->file : &options->directory, *changed = NULL;
    const char *name = absolute ? strrchr(options->file, '/') : "";
    int before = absolute ? (int)(name - options->file) : 0;
    int length = absolute ? asprintf(&changed, "%.*s/%s_%zu%s", before, options->file, folder, number, name)
                          : asprintf(&changed, "%s/%s_%zu", *at ? *at : ".", folder, number);
    if (length < 0)
        return FAIL("out of memory");
    free(*at);
    *at = changed;
    return 0;
}

// Options of all runs; *count of them are to be freed, also on error.
static int read_runs(const struct kr_options *command, const struct kr_jobs *jobs, int argc, char **argv,
                     struct kr_options *runs, size_t *count, char *error, size_t error_bytes)
{
    size_t first = command->pmc != NULL; // the groups of the command line
    for (size_t j = 0; j < jobs->count; j++)
        if (first && (jobs->list[j].groups || !jobs->folder))
            return FAIL("--pmc and %s cannot be combined; it stands in %s",
                        jobs->folder ? "pmc_groups" : "job_replay_mode kernel", command->input);
    for (*count = 0; *count < jobs->count + first;) {
        char cause[256] = "";
        struct kr_options *run = &runs[*count];
        char **words = *count >= first ? jobs->list[*count - first].words : NULL;
        int status = kr_options_parse_job(run, argc, argv, words, cause, sizeof(cause));
        ++*count;
        if (status)
            return words ? FAIL("%s, job %zu: %s", command->input, *count - first, cause) : FAIL("%s", cause);
        if (jobs->folder && set_folder(run, jobs->folder, *count, error, error_bytes))
            return -1;
    }
    return 0;
}

int kr_job_runs(const struct kr_options *command, int argc, char **argv)
{
    struct kr_jobs jobs;
    char error[512] = "out of memory";
    if (kr_jobs_read(command->input, &jobs, error, sizeof(error)))
        return kr_say_refused(command, error);
    struct kr_options *runs = calloc(jobs.count + 1, sizeof(*runs));
    size_t count = 0;
    int status = 0;
    if (!runs || read_runs(command, &jobs, argc, argv, runs, &count, error, sizeof(error)))
        status = kr_say_refused(command, error);
    else
        for (size_t i = 0; i < count && !kr_launch_asked_to_end(); i++) {
            int ended = kr_verb_run(&runs[i]);
            status = status ? status : ended;
        }
    for (size_t i = 0; i < count; i++)
        kr_options_free(&runs[i]);
    free(runs);
    kr_jobs_free(&jobs);
    return status;
}
