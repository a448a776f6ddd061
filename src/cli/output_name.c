// SPDX-License-Identifier: MIT
// Names of output files, as rocprofv3 makes them.
#include "cli/output_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static size_t argument_count(const struct kr_output_place *place)
{
    size_t count = 0;
    while (place->program && place->program[count])
        count++;
    return count;
}

// ---- The program's words. One that becomes part of a file's name has '_' for '/', and neither dots nor '_'
// in front.

static void put_word(FILE *out, const char *word)
{
    while (*word == '.' || *word == '/' || *word == '_')
        word++;
    for (; *word; word++)
        putc(*word == '/' ? '_' : *word, out);
}

static void put_arguments(FILE *out, const struct kr_output_place *place, bool after_program)
{
    for (size_t i = 1, count = argument_count(place); i < count; i++) {
        if (i > 1 || after_program)
            putc('_', out);
        put_word(out, place->program[i]);
    }
}

static void put_tag(FILE *out, const struct kr_output_place *place)
{
    fputs(argument_count(place) ? base_name(place->program[0]) : "kreplay", out);
}

static void put_argv(FILE *out, const struct kr_output_place *place)
{
    if (argument_count(place))
        put_word(out, place->program[0]);
    put_arguments(out, place, true);
}

static void put_argt(FILE *out, const struct kr_output_place *place)
{
    put_tag(out, place);
    put_arguments(out, place, true);
}

static void put_args(FILE *out, const struct kr_output_place *place)
{
    put_arguments(out, place, false);
}

// ---- Processes and machine

static void put_hostname(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    char name[256] = "localhost";
    gethostname(name, sizeof(name) - 1);
    fputs(name, out);
}

static void put_pid(FILE *out, const struct kr_output_place *place)
{
    fprintf(out, "%d", (int)place->pid);
}

static void put_ppid(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    fprintf(out, "%d", (int)getpid()); // kreplay itself is the program's parent
}

static void put_pgid(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    fprintf(out, "%d", (int)getpgrp()); // the program stays in kreplay's group and session
}

static void put_psid(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    fprintf(out, "%d", (int)getsid(0));
}

static void put_psize(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    putc('1', out); // kreplay has one program at a time
}

static void put_cwd(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    char *cwd = getcwd(NULL, 0);
    fputs(cwd ? cwd : ".", out);
    free(cwd);
}

// ---- Cluster. What launchers of parallel programs set, in the order in which it is asked for.

static const struct launcher {
    const char *rank, *size;
} launchers[] = {
    {"PBS_TASKNUM", "PBS_NP"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
    {"PMI_RANK", "PMI_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MPI_RANK", "MPI_SIZE"},
};

static const char *launcher_value(bool size)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *value = getenv(size ? launchers[i].size : launchers[i].rank);
        if (value && isdigit((unsigned char)*value))
            return value;
    }
    return NULL;
}

static void put_job(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    const char *job = getenv("SLURM_JOB_ID");
    fputs(job ? job : "0", out);
}

static void put_rank(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    const char *rank = launcher_value(false);
    fputs(rank ? rank : "0", out);
}

static void put_size(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    const char *size = launcher_value(true);
    fputs(size ? size : "1", out);
}

static void put_nid(FILE *out, const struct kr_output_place *place)
{
    if (launcher_value(false))
        put_rank(out, place);
    else
        put_pid(out, place);
}

// ---- Time of the start: the first use fixes it, so that all names of a run agree.

static void put_time(FILE *out, const char *variable, const char *otherwise)
{
    static time_t launched;
    if (!launched)
        launched = time(NULL);
    const char *format = getenv(variable);
    char text[256];
    struct tm local;
    if (localtime_r(&launched, &local) &&
        strftime(text, sizeof(text), format && *format ? format : otherwise, &local))
        fputs(text, out);
}

static void put_launch_date(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    put_time(out, "ROCPROF_DATE_FORMAT", "%F");
}

static void put_launch_time(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    put_time(out, "ROCPROF_TIME_FORMAT", "%F_%H.%M");
}

static const struct placeholder {
    const char *name;
    char letter; // %h is %hostname%; 0 = none
    void (*put)(FILE *out, const struct kr_output_place *place);
} placeholders[] = {
    {"argv", 0, put_argv},
    {"argt", 0, put_argt},
    {"args", 0, put_args},
    {"tag", 0, put_tag},
    {"hostname", 'h', put_hostname},
    {"pid", 'p', put_pid},
    {"ppid", 0, put_ppid},
    {"pgid", 0, put_pgid},
    {"psid", 0, put_psid},
    {"psize", 0, put_psize},
    {"job", 'j', put_job},
    {"rank", 'r', put_rank},
    {"size", 's', put_size},
    {"nid", 0, put_nid},
    {"cwd", 0, put_cwd},
    {"launch_date", 0, put_launch_date},
    {"launch_time", 0, put_launch_time},
};

// ---- One placeholder each: behind it, or NULL when `text` does not begin with one.

static const char *put_named(FILE *out, const char *text, const struct kr_output_place *place)
{
    char close = *text == '%' ? '%' : '}';
    size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_0123456789");
    const char *name = text + 1, *end = name + length;
    if (*end != close)
        return NULL;
    for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
        if (strlen(placeholders[i].name) == length && strncmp(placeholders[i].name, name, length) == 0) {
            placeholders[i].put(out, place);
            return end + 1;
        }
    if (length <= 3 || strncmp(name, "arg", 3) != 0 || strspn(name + 3, "0123456789") != length - 3)
        return NULL;
    unsigned long number = strtoul(name + 3, NULL, 10);
    if (number < argument_count(place))
        put_word(out, place->program[number]);
    return end + 1;
}

static const char *put_letter(FILE *out, const char *text, const struct kr_output_place *place)
{
    for (size_t i = 0; text[1] && i < sizeof(placeholders) / sizeof(placeholders[0]); i++)
        if (placeholders[i].letter == text[1]) {
            placeholders[i].put(out, place);
            return text + 2;
        }
    return NULL;
}

static const char *put_variable(FILE *out, const char *text)
{
    static const struct form {
        const char *open, *close;
    } forms[] = {{"%env{", "}%"}, {"%ENV{", "}%"}, {"$env{", "}"}, {"$ENV{", "}"}, {"%q{", "}"}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t length = strlen(forms[i].open);
        const char *end = strncmp(text, forms[i].open, length) == 0 ? strstr(text, forms[i].close) : NULL;
        if (!end)
            continue;
        char *name = strndup(text + length, (size_t)(end - text) - length);
        const char *value = name ? getenv(name) : NULL;
        fputs(value ? value : "", out);
        free(name);
        return end + strlen(forms[i].close);
    }
    return NULL;
}

// Writes what stands at `text` with one placeholder replaced or one character copied; returns what follows.
static const char *put_next(FILE *out, const char *text, const struct kr_output_place *place)
{
    const char *behind = NULL;
    if (*text == '%' || *text == '{')
        behind = put_named(out, text, place);
    if (!behind && (*text == '%' || *text == '$'))
        behind = put_variable(out, text);
    if (!behind && *text == '%')
        behind = put_letter(out, text, place);
    if (behind)
        return behind;
    putc(*text, out);
    return text + 1;
}

static void put_all(FILE *out, const char *text, const struct kr_output_place *place)
{
    while (*text)
        text = put_next(out, text, place);
}

// NULL when out of memory.
static char *replaced(const char *text, const struct kr_output_place *place)
{
    char *result = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&result, &length);
    if (!out)
        return NULL;
    put_all(out, text, place);
    if (fclose(out) == 0)
        return result;
    free(result);
    return NULL;
}

char *kr_output_prefix(const struct kr_output_place *place)
{
    char *file = replaced(place->file ? place->file : "%hostname%/%pid%", place);
    char *directory = replaced(place->directory ? place->directory : ".", place);
    char *prefix = NULL, pass[24] = "";
    if (!file || !directory)
        goto out;
    if (place->pass)
        snprintf(pass, sizeof(pass), "/pass_%u", place->pass);
    // An absolute name says where by itself.
    const char *folder = directory, *name = file;
    if (file[0] == '/') {
        char *last = strrchr(file, '/');
        *last = '\0';
        folder = file;
        name = last + 1;
    }
    if (asprintf(&prefix, "%s%s/%s", folder, pass, name) < 0)
        prefix = NULL;
out:
    free(directory);
    free(file);
    return prefix;
}

static int make_folders(char *path, char *error, size_t error_bytes)
{
    for (char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        struct stat status;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST ? errno : 0;
        // A read-only or foreign parent that exists is no error as long as the last folder is fine.
        if (failed && stat(path, &status) == 0)
            failed = 0;
        if (!failed && stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
            failed = ENOTDIR;
        if (failed) {
            snprintf(error, error_bytes, "cannot write to folder %s: %s", path, strerror(failed));
            return -1;
        }
        if (slash)
            *slash = '/';
    }
    return 0;
}

int kr_output_prepare(const char *prefix, char *error, size_t error_bytes)
{
    const char *slash = strrchr(prefix, '/');
    char *folder = slash ? strndup(prefix, slash == prefix ? 1 : (size_t)(slash - prefix)) : strdup(".");
    char *probe = NULL;
    int status = -1;
    if (!folder || asprintf(&probe, "%s/.kreplay-XXXXXX", folder) < 0) {
        probe = NULL;
        snprintf(error, error_bytes, "out of memory");
        goto out;
    }
    if (make_folders(folder, error, error_bytes))
        goto out;
    // Permission bits do not tell (read-only mounts, root): try.
    int fd = mkstemp(probe);
    if (fd < 0) {
        snprintf(error, error_bytes, "cannot write to folder %s: %s", folder, strerror(errno));
        goto out;
    }
    close(fd);
    unlink(probe);
    status = 0;
out:
    free(probe);
    free(folder);
    return status;
}
