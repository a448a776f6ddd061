// SPDX-License-Identifier: MIT
// kreplay convert: the files of a run, made later from its logs or its database.
#include "cli/output_name.h"
#include "cli/outputs.h"
#include "cli/run_folder.h"
#include "cli/say.h"
#include "cli/verbs.h"
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

// Name of the files when -o is not given: the input's own, without what kreplay puts behind it.
static char *default_name(const char *input)
{
    static const char *const endings[] = {"_results.db", "_run", ".krlog"};
    char *copy = strdup(input);
    if (!copy)
        return NULL;
    size_t length = strlen(copy);
    while (length > 1 && copy[length - 1] == '/')
        copy[--length] = '\0';
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (ends_with(copy, endings[i])) {
            copy[length - strlen(endings[i])] = '\0';
            break;
        }
    const char *slash = strrchr(copy, '/');
    char *name = strdup(slash && slash[1] ? slash + 1 : copy);
    free(copy);
    return name;
}

static struct kr_store_run store_run(const struct kr_run_summary *summary)
{
    // The logs carry the run's command themselves, and its id when the folder has no index.
    return (struct kr_store_run){.mode = summary->mode, .exit_status = summary->exit_status};
}

static int refuse_empty(const struct kr_options *options)
{
    kr_say(options, KR_LEVEL_ERROR, "no record log (*.krlog) in %s", options->input);
    return KR_EXIT_USAGE;
}

static int convert_single(const struct kr_options *options, const char *prefix)
{
    struct kr_log_paths logs;
    struct kr_run_summary summary;
    if (kr_log_paths_read(options->input, &logs)) {
        kr_say(options, KR_LEVEL_ERROR, "cannot read %s: %s", options->input, strerror(errno));
        return KR_EXIT_USAGE;
    }
    kr_run_folder_read(options->input, &summary);
    const struct kr_store_run run = store_run(&summary);
    int status;
    if (logs.count == 0)
        status = refuse_empty(options);
    else
        status = kr_outputs_from_logs(options, &logs, &run, prefix) ? 1 : 0;
    kr_log_paths_free(&logs);
    return status;
}

// The runs of application replay, joined again.
static int convert_passes(const struct kr_options *options, const char *prefix)
{
    struct kr_run_logs *runs = NULL;
    size_t count = 0, logs = 0;
    int status = 0;
    char *folder;
    for (; !status && (folder = kr_run_folder_pass(options->input, (unsigned)count + 1)); free(folder)) {
        struct kr_run_logs *more = realloc(runs, (count + 1) * sizeof(*runs));
        struct kr_run_summary summary;
        if (more)
            runs = more;
        kr_run_folder_read(folder, &summary);
        struct kr_run_logs run = {.run_id = summary.run_id, .exit_status = summary.exit_status};
        if (!more || kr_log_paths_read(folder, &run.logs)) {
            kr_say(options, KR_LEVEL_ERROR, "cannot read %s: %s", folder, strerror(errno));
            status = KR_EXIT_USAGE;
            continue;
        }
        logs += run.logs.count;
        runs[count++] = run;
    }
    struct kr_run_summary summary;
    kr_run_folder_read(options->input, &summary);
    snprintf(summary.mode, sizeof(summary.mode), "application"); // also when kreplay had no time to say so
    const struct kr_store_run run = store_run(&summary);
    if (!status && logs == 0)
        status = refuse_empty(options);
    else if (!status)
        status = kr_outputs_from_runs(options, runs, count, &run, prefix) ? 1 : 0;
    for (size_t i = 0; i < count; i++)
        kr_log_paths_free(&runs[i].logs);
    free(runs);
    return status;
}

static int convert_folder(const struct kr_options *options, const char *prefix)
{
    char *pass = kr_run_folder_pass(options->input, 1);
    int status = (pass ? convert_passes : convert_single)(options, prefix);
    free(pass);
    return status;
}

static int convert(const struct kr_options *options, const char *prefix)
{
    struct stat input;
    if (stat(options->input, &input) != 0) {
        kr_say(options, KR_LEVEL_ERROR, "cannot read %s: %s", options->input, strerror(errno));
        return KR_EXIT_USAGE;
    }
    if (S_ISDIR(input.st_mode))
        return convert_folder(options, prefix);
    if (!ends_with(options->input, ".db")) {
        char *path = options->input;
        const struct kr_log_paths logs = {.paths = &path, .count = 1};
        const struct kr_store_run run = {.mode = "kernel", .exit_status = -1};
        return kr_outputs_from_logs(options, &logs, &run, prefix) ? 1 : 0;
    }
    return kr_outputs_from_database(options, options->input, prefix) ? 1 : 0;
}

int kr_verb_convert(const struct kr_options *options)
{
    if (!options->input) {
        kr_say(options, KR_LEVEL_ERROR, "no input given; usage: kreplay convert -i LOG|FOLDER|DB [options]");
        return KR_EXIT_USAGE;
    }
    char *name = options->file ? strdup(options->file) : default_name(options->input);
    const struct kr_output_place place = {.directory = options->directory, .file = name, .pid = getpid()};
    char *prefix = name ? kr_output_prefix(&place) : NULL;
    char error[512] = "out of memory";
    int status = KR_EXIT_USAGE;
    if (!prefix || kr_output_prepare(prefix, error, sizeof(error)))
        kr_say(options, KR_LEVEL_ERROR, "%s", error);
    else
        status = convert(options, prefix);
    free(prefix);
    free(name);
    return status;
}
