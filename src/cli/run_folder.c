// SPDX-License-Identifier: MIT
// The folder of a run.
#include "cli/run_folder.h"

#include "cli/outputs.h"
#include "export/json_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void remove_logs(const char *path)
{
    struct kr_log_paths logs;
    if (kr_log_paths_read(path, &logs))
        return;
    for (size_t i = 0; i < logs.count; i++)
        unlink(logs.paths[i]);
    kr_log_paths_free(&logs);
}

int kr_run_folder_make(const char *prefix, char **path)
{
    *path = NULL;
    char *name = NULL;
    if (asprintf(&name, "%s_run", prefix) < 0) {
        errno = ENOMEM;
        return -1;
    }
    int status = mkdir(name, 0777) == 0 || errno == EEXIST ? 0 : -1;
    if (!status) {
        // The program may change its folder before it comes to its first kernel.
        *path = realpath(name, NULL);
        status = *path ? 0 : -1;
    }
    free(name);
    if (!status)
        remove_logs(*path);
    return status;
}

static void put_index(struct kr_json *json, const struct kr_run_info *info, const struct kr_log_paths *logs)
{
    kr_json_u64(json, "run_id", info->run_id);
    kr_json_text(json, "version", KREPLAY_VERSION);
    kr_json_text(json, "mode", info->mode);
    kr_json_list(json, "command");
    for (char *const *argument = info->command; *argument; argument++)
        kr_json_text(json, NULL, *argument);
    kr_json_close(json);
    kr_json_i64(json, "exit_status", info->exit_status);
    kr_json_list(json, "logs"); // one a process: its name is the process id
    for (size_t i = 0; i < logs->count; i++)
        kr_json_text(json, NULL, strrchr(logs->paths[i], '/') + 1);
    kr_json_close(json);
}

int kr_run_folder_index(const char *path, const struct kr_run_info *info)
{
    struct kr_log_paths logs = {0};
    char *name = NULL;
    FILE *out = NULL;
    int status = -1;
    if (asprintf(&name, "%s/index.json", path) < 0) {
        name = NULL;
        errno = ENOMEM;
        goto out;
    }
    out = fopen(name, "we");
    if (!out || kr_log_paths_read(path, &logs))
        goto out;
    struct kr_json json;
    kr_json_begin(&json, out);
    put_index(&json, info, &logs);
    kr_json_end(&json);
    status = ferror(out) ? -1 : 0;
out:
    kr_log_paths_free(&logs);
    if (out && fclose(out) != 0)
        status = -1;
    free(name);
    return status;
}

void kr_run_folder_remove(const char *path)
{
    remove_logs(path);
    char *name = NULL;
    if (asprintf(&name, "%s/index.json", path) < 0)
        return;
    unlink(name);
    free(name);
    rmdir(path);
}
