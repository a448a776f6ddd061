// SPDX-License-Identifier: MIT
// Files and table from a store.
#include "cli/outputs.h"

#include "cli/say.h"
#include "export/export.h"
#include "kreplay/kreplay.h"
#include "log/record.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char database_suffix[] = "_results.db";

// The database is no export: it is the store itself, made under its final name.
static const struct file_kind {
    enum kr_format format;
    const char *suffix;
    int (*write)(struct kr_export *export);
} file_kinds[] = {
    {KR_FORMAT_JSON, "_results.json", kr_export_json},
    {KR_FORMAT_CSV, "_counter_collection.csv", kr_export_counter_csv},
    {KR_FORMAT_CSV, "_kernel_trace.csv", kr_export_kernel_csv},
    {KR_FORMAT_CSV, "_agent_info.csv", kr_export_agent_csv},
};

// ---- Logs of a folder

static int is_log(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    static const char ending[] = ".krlog";
    return length >= strlen(ending) && strcmp(entry->d_name + length - strlen(ending), ending) == 0;
}

struct dated {
    char *path;
    uint64_t start_unix_ns, start_ns; // 0 when the log cannot be read
};

static struct dated date_log(char *path)
{
    struct dated dated = {.path = path};
    struct kr_log_reader *reader = NULL;
    kr_log_record record;
    if (kr_log_open(path, &reader) == 0 && kr_log_next(reader, &record) == 0 &&
        record.type == KR_LOG_PROCESS) {
        dated.start_unix_ns = record.u.process.start_unix_ns;
        dated.start_ns = record.u.process.start_ns;
    }
    kr_log_reader_close(reader);
    return dated;
}

static int by_start(const void *left, const void *right)
{
    const struct dated *a = left, *b = right;
    if (a->start_unix_ns != b->start_unix_ns)
        return a->start_unix_ns < b->start_unix_ns ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return strverscmp(a->path, b->path);
}

static int sort_by_start(struct kr_log_paths *logs)
{
    struct dated *dated = calloc(logs->count + 1, sizeof(*dated));
    if (!dated)
        return -1;
    for (size_t i = 0; i < logs->count; i++)
        dated[i] = date_log(logs->paths[i]);
    qsort(dated, logs->count, sizeof(*dated), by_start);
    for (size_t i = 0; i < logs->count; i++)
        logs->paths[i] = dated[i].path;
    free(dated);
    return 0;
}

int kr_log_paths_read(const char *folder, struct kr_log_paths *out)
{
    *out = (struct kr_log_paths){0};
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_log, NULL);
    if (count < 0)
        return -1;
    out->paths = calloc((size_t)count + 1, sizeof(*out->paths));
    int status = out->paths ? 0 : -1;
    for (int i = 0; i < count; i++) {
        if (!status && asprintf(&out->paths[out->count], "%s/%s", folder, entries[i]->d_name) < 0)
            status = -1;
        else if (!status)
            out->count++;
        free(entries[i]);
    }
    free(entries);
    if (!status)
        status = sort_by_start(out);
    if (status) {
        kr_log_paths_free(out);
        errno = ENOMEM;
    }
    return status;
}

void kr_log_paths_free(struct kr_log_paths *logs)
{
    for (size_t i = 0; i < logs->count; i++)
        free(logs->paths[i]);
    free(logs->paths);
    *logs = (struct kr_log_paths){0};
}

// ---- Files

// Written beside its final name and then renamed: a file that is there is whole.
static int write_file(const struct kr_options *options, struct kr_store *store, const struct file_kind *kind,
                      const char *prefix)
{
    char *path = NULL, *partial = NULL;
    int status = -1;
    struct kr_export export = {.store = store};
    if (asprintf(&path, "%s%s", prefix, kind->suffix) < 0)
        path = NULL;
    if (path && asprintf(&partial, "%s.partial", path) < 0)
        partial = NULL;
    if (!partial) {
        kr_say(options, KR_LEVEL_ERROR, "out of memory");
        goto out;
    }
    export.out = fopen(partial, "we");
    if (!export.out) {
        kr_say(options, KR_LEVEL_ERROR, "cannot write %s: %s", partial, strerror(errno));
        goto out;
    }
    status = kind->write(&export);
    if (fclose(export.out) != 0 && !status) {
        snprintf(export.error, sizeof(export.error), "cannot write: %s", strerror(errno));
        status = -1;
    }
    if (!status && rename(partial, path) != 0) {
        snprintf(export.error, sizeof(export.error), "cannot rename: %s", strerror(errno));
        status = -1;
    }
    if (status) {
        unlink(partial);
        kr_say(options, KR_LEVEL_ERROR, "%s: %s", path, export.error);
    } else {
        kr_say(options, KR_LEVEL_WARNING, "wrote %s", path);
    }
out:
    free(partial);
    free(path);
    return status ? -1 : 0;
}

static int write_files(const struct kr_options *options, struct kr_store *store, unsigned formats,
                       const char *prefix)
{
    int status = 0;
    for (size_t i = 0; i < sizeof(file_kinds) / sizeof(file_kinds[0]); i++)
        if ((formats & file_kinds[i].format) && write_file(options, store, &file_kinds[i], prefix))
            status = -1;
    return status;
}

// ---- Table

static unsigned terminal_width(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
    enum { UNKNOWN_WIDTH = 120 };
    return width > 0 && width < 10000 ? (unsigned)width : UNKNOWN_WIDTH;
}

static int print_table(const struct kr_options *options, struct kr_store *store)
{
    // A standard output that is no terminal is the program's: nothing of kreplay's may stand in it. `convert`
    // has no program.
    bool to_stdout = options->verb == KR_VERB_CONVERT || isatty(STDOUT_FILENO);
    struct kr_export export = {.store = store, .out = to_stdout ? stdout : stderr};
    const struct kr_table_options table = {.width = terminal_width(export.out),
                                           .max_rows = options->table_rows};
    if (options->verb == KR_VERB_RUN)
        putc('\n', export.out);
    if (kr_export_table(&export, &table)) {
        kr_say(options, KR_LEVEL_ERROR, "the table: %s", export.error);
        return -1;
    }
    putc('\n', export.out);
    fflush(export.out);
    return 0;
}

// Last of all, on standard error whatever the others go to.
static void print_summary(const struct kr_options *options, struct kr_store *store)
{
    struct kr_export export = {.store = store, .out = stderr};
    if (options->log_level >= KR_LEVEL_WARNING && kr_export_summary(&export))
        kr_say(options, KR_LEVEL_ERROR, "the summary: %s", export.error);
}

// ---- Both ways in

static int put_out(const struct kr_options *options, struct kr_store *store, unsigned formats,
                   const char *prefix)
{
    int status = options->table ? print_table(options, store) : 0;
    if (write_files(options, store, formats, prefix))
        status = -1;
    return status;
}

// The store of all runs. How many logs were added, in *added; -1 when one could not be, or the store is bad.
static int fill(const struct kr_options *options, struct kr_store *store, const struct kr_run_logs *runs,
                size_t count, size_t *added)
{
    int status = 0;
    for (size_t r = 0; r < count; r++) {
        if (count > 1 && kr_store_join_begin(store, (unsigned)r + 1, runs[r].run_id, runs[r].exit_status))
            return -1;
        for (size_t i = 0; i < runs[r].logs.count; i++) {
            int failure = (r ? kr_store_join_log : kr_store_add_log)(store, runs[r].logs.paths[i]);
            if (failure)
                kr_say(options, failure == KREPLAY_END ? KR_LEVEL_WARNING : KR_LEVEL_ERROR, "%s",
                       kr_store_error(store));
            if (failure && failure != KREPLAY_END) // a log without records has nothing to lose
                status = -1;
            *added += failure == 0;
        }
        if (count > 1 && kr_store_join_end(store))
            return -1;
    }
    return status;
}

static void say_unmatched(const struct kr_options *options, struct kr_store *store)
{
    sqlite3_stmt *row = NULL;
    sqlite3_prepare_v2(kr_store_db(store),
                       "SELECT run, dispatches, matched, extra, missing FROM kreplay_application_run"
                       " WHERE extra OR missing ORDER BY run",
                       -1, &row, NULL);
    while (row && sqlite3_step(row) == SQLITE_ROW)
        kr_say(
            options, KR_LEVEL_WARNING,
            "run %d of the program differs from run 1: of its %lld dispatches %lld have no counterpart there,"
            " and %lld of run 1 have none here (table kreplay_unmatched)",
            sqlite3_column_int(row, 0), (long long)sqlite3_column_int64(row, 1),
            (long long)sqlite3_column_int64(row, 3), (long long)sqlite3_column_int64(row, 4));
    sqlite3_finalize(row);
}

int kr_outputs_from_runs(const struct kr_options *options, const struct kr_run_logs *runs, size_t count,
                         const struct kr_store_run *run, const char *prefix)
{
    unsigned formats = options->formats ? options->formats : KR_FORMAT_ROCPD;
    char *database = NULL;
    struct kr_store *store = NULL;
    size_t added = 0;
    int status = -1;
    if ((formats & KR_FORMAT_ROCPD) && asprintf(&database, "%s%s", prefix, database_suffix) < 0) {
        database = NULL;
        kr_say(options, KR_LEVEL_ERROR, "out of memory");
        goto out;
    }
    if (kr_store_create(database, &store) || kr_store_set_run(store, run))
        goto store_failed;
    status = fill(options, store, runs, count, &added);
    if (added == 0) {
        status = -1;
        goto out;
    }
    if (kr_store_finish(store))
        goto store_failed;
    say_unmatched(options, store);
    if (put_out(options, store, formats, prefix))
        status = -1;
    if (database)
        kr_say(options, KR_LEVEL_WARNING, "wrote %s", database);
    print_summary(options, store);
    goto out;

store_failed:
    status = -1;
    kr_say(options, KR_LEVEL_ERROR, "%s", kr_store_error(store));
out:
    kr_store_close(store);
    free(database);
    return status;
}

int kr_outputs_from_logs(const struct kr_options *options, const struct kr_log_paths *logs,
                         const struct kr_store_run *run, const char *prefix)
{
    const struct kr_run_logs only = {.run_id = run->run_id, .exit_status = run->exit_status, .logs = *logs};
    return kr_outputs_from_runs(options, &only, 1, run, prefix);
}

static bool same_file(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A database is in rocpd format already: it is copied, unless it has the wanted name.
static int copy_database(const struct kr_options *options, struct kr_store *store, const char *database,
                         const char *prefix)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", prefix, database_suffix) < 0) {
        kr_say(options, KR_LEVEL_ERROR, "out of memory");
        return -1;
    }
    int status = 0;
    if (same_file(path, database))
        kr_say(options, KR_LEVEL_WARNING, "%s is there already", path);
    else if (kr_store_copy(store, path) == 0)
        kr_say(options, KR_LEVEL_WARNING, "wrote %s", path);
    else
        status = -1;
    if (status)
        kr_say(options, KR_LEVEL_ERROR, "%s", kr_store_error(store));
    free(path);
    return status;
}

int kr_outputs_from_database(const struct kr_options *options, const char *database, const char *prefix)
{
    struct kr_store *store = NULL;
    int status = -1;
    if (kr_store_open(database, &store)) {
        kr_say(options, KR_LEVEL_ERROR, "%s", kr_store_error(store));
    } else {
        status = put_out(options, store, options->formats & ~(unsigned)KR_FORMAT_ROCPD, prefix);
        if ((options->formats & KR_FORMAT_ROCPD) && copy_database(options, store, database, prefix))
            status = -1;
        print_summary(options, store);
    }
    kr_store_close(store);
    return status;
}
