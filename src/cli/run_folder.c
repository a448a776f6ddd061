// SPDX-License-Identifier: MIT
// The folder of a run.
#include "cli/run_folder.h"

#include "export/json_writer.h"
#include "log/record.h"

#include <sqlite3.h>

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

static void remove_content(const char *path)
{
    remove_logs(path);
    char *name;
    for (unsigned pass = 1; (name = kr_run_folder_pass(path, pass)); pass++) {
        kr_run_folder_remove(name);
        free(name);
    }
    if (asprintf(&name, "%s/index.json", path) < 0)
        return;
    unlink(name);
    free(name);
}

// Takes over `name`; NULL = out of memory.
static int make_empty(char *name, char **path)
{
    *path = NULL;
    if (!name) {
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
        remove_content(*path);
    return status;
}

int kr_run_folder_make(const char *prefix, char **path)
{
    char *name = NULL;
    return make_empty(asprintf(&name, "%s_run", prefix) < 0 ? NULL : name, path);
}

int kr_run_folder_make_pass(const char *folder, unsigned pass, char **path)
{
    char *name = NULL;
    return make_empty(asprintf(&name, "%s/pass_%u", folder, pass) < 0 ? NULL : name, path);
}

char *kr_run_folder_pass(const char *path, unsigned pass)
{
    char *name = NULL;
    struct stat status;
    if (asprintf(&name, "%s/pass_%u", path, pass) < 0)
        return NULL;
    if (stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        return name;
    free(name);
    return NULL;
}

// ---- The index

// Whether a log is whole, and what it says of its process.
struct log_summary {
    kr_log_process process; // strings are the copies below
    char command[1024], backend[16];
    bool known, ended, damaged;
    uint64_t dispatches;
};

static void read_log(const char *path, struct log_summary *summary)
{
    *summary = (struct log_summary){0};
    struct kr_log_reader *reader = NULL;
    kr_log_record record;
    int status = kr_log_open(path, &reader);
    while (!status && (status = kr_log_next(reader, &record)) == 0) {
        if (record.type == KR_LOG_PROCESS) {
            summary->known = true;
            summary->process = record.u.process;
            snprintf(summary->command, sizeof(summary->command), "%s", record.u.process.command);
            snprintf(summary->backend, sizeof(summary->backend), "%s", record.u.process.backend);
        }
        summary->dispatches += record.type == KR_LOG_DISPATCH;
        summary->ended |= record.type == KR_LOG_END;
    }
    summary->damaged = status != KREPLAY_END;
    kr_log_reader_close(reader);
}

static void put_process(struct kr_json *json, const char *path)
{
    struct log_summary log;
    read_log(path, &log);
    kr_json_object(json, NULL);
    kr_json_text(json, "log", strrchr(path, '/') + 1);
    if (log.known) {
        kr_json_u64(json, "pid", log.process.pid);
        kr_json_u64(json, "ppid", log.process.ppid);
        kr_json_u64(json, "start_unix_ns", log.process.start_unix_ns);
        kr_json_text(json, "command", log.command);
        kr_json_text(json, "backend", log.backend);
    }
    kr_json_u64(json, "dispatches", log.dispatches);
    // false: it was killed, left without its exit handlers, or still had work running; every complete
    // dispatch is in the log
    kr_json_bool(json, "complete", log.ended);
    kr_json_bool(json, "damaged", log.damaged);
    kr_json_close(json);
}

static void put_group(struct kr_json *json, const struct kr_name_group *group)
{
    kr_json_list(json, NULL);
    kr_json_flat(json);
    for (size_t i = 0; i < group->count; i++)
        kr_json_text(json, NULL, group->names[i]);
    kr_json_close(json);
}

// null while it runs
static void put_end(struct kr_json *json, int exit_status)
{
    if (exit_status < 0)
        kr_json_raw(json, "exit_status", "null");
    else
        kr_json_i64(json, "exit_status", exit_status);
    if (exit_status > 128)
        kr_json_text(json, "signal", strsignal(exit_status - 128));
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
    kr_json_list(json, "groups");
    for (size_t i = 0; i < info->group_count; i++)
        put_group(json, &info->groups[i]);
    kr_json_close(json);
    put_end(json, info->exit_status);
    kr_json_list(json, "processes");
    for (size_t i = 0; i < logs->count; i++)
        put_process(json, logs->paths[i]);
    kr_json_close(json);
    kr_json_list(json, "passes");
    for (size_t i = 0; i < info->run_count; i++) {
        char folder[32];
        snprintf(folder, sizeof(folder), "pass_%zu", i + 1);
        kr_json_object(json, NULL);
        kr_json_text(json, "folder", folder);
        kr_json_u64(json, "run_id", info->runs[i].run_id);
        put_end(json, info->runs[i].exit_status);
        kr_json_close(json);
    }
    kr_json_close(json);
}

// A reader never sees half an index.
int kr_run_folder_index(const char *path, const struct kr_run_info *info)
{
    struct kr_log_paths logs = {0};
    char *name = NULL, *partial = NULL;
    FILE *out = NULL;
    int status = -1;
    if (asprintf(&name, "%s/index.json", path) < 0)
        name = NULL;
    if (asprintf(&partial, "%s/index.json.partial", path) < 0)
        partial = NULL;
    if (!name || !partial) {
        errno = ENOMEM;
        goto out;
    }
    out = fopen(partial, "we");
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
    if (!status)
        status = rename(partial, name);
    free(partial);
    free(name);
    return status;
}

// SQLite reads JSON, and the command has it already.
static void extract(const char *text, struct kr_run_summary *summary)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    static const char sql[] = "SELECT json_extract(?1, '$.run_id'), json_extract(?1, '$.mode'),"
                              " ifnull(json_extract(?1, '$.exit_status'), -1)";
    if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW &&
        sqlite3_column_text(row, 1)) {
        summary->run_id = (uint64_t)sqlite3_column_int64(row, 0);
        snprintf(summary->mode, sizeof(summary->mode), "%s", (const char *)sqlite3_column_text(row, 1));
        summary->exit_status = sqlite3_column_int(row, 2);
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
}

void kr_run_folder_read(const char *path, struct kr_run_summary *summary)
{
    *summary = (struct kr_run_summary){.mode = "kernel", .exit_status = -1};
    char *name = NULL, *text = NULL;
    size_t length = 0;
    if (asprintf(&name, "%s/index.json", path) < 0)
        return;
    FILE *in = fopen(name, "re");
    if (in && getdelim(&text, &length, '\0', in) > 0)
        extract(text, summary);
    if (in)
        fclose(in);
    free(text);
    free(name);
}

void kr_run_folder_remove(const char *path)
{
    remove_content(path);
    rmdir(path);
}
