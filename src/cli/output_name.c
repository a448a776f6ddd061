// SPDX-License-Identifier: MIT
// Names of output files, as rocprofv3 makes them.
#include "cli/output_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

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

static void put_cwd(FILE *out, const struct kr_output_place *place)
{
    (void)place;
    char *cwd = getcwd(NULL, 0);
    fputs(cwd ? cwd : ".", out);
    free(cwd);
}

static void put_tag(FILE *out, const struct kr_output_place *place)
{
    fputs(place->program ? base_name(place->program) : "kreplay", out);
}

static const struct placeholder {
    const char *name;
    void (*put)(FILE *out, const struct kr_output_place *place);
} placeholders[] = {
    {"%hostname%", put_hostname}, {"%pid%", put_pid}, {"%ppid%", put_ppid},
    {"%cwd%", put_cwd},           {"%tag%", put_tag},
};

// Writes what stands at `text` with one placeholder replaced or one character copied; returns what follows.
static const char *put_next(FILE *out, const char *text, const struct kr_output_place *place)
{
    for (size_t i = 0; i < sizeof(placeholders) / sizeof(placeholders[0]); i++) {
        size_t length = strlen(placeholders[i].name);
        if (strncmp(text, placeholders[i].name, length) == 0) {
            placeholders[i].put(out, place);
            return text + length;
        }
    }
    static const char env[] = "%env{";
    const char *end = strncmp(text, env, strlen(env)) == 0 ? strstr(text, "}%") : NULL;
    if (!end) {
        putc(*text, out);
        return text + 1;
    }
    char *name = strndup(text + strlen(env), (size_t)(end - text) - strlen(env));
    const char *value = name ? getenv(name) : NULL;
    fputs(value ? value : "", out);
    free(name);
    return end + 2;
}

char *kr_output_prefix(const struct kr_output_place *place)
{
    char *prefix = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&prefix, &length);
    if (!out)
        return NULL;
    const char *parts[] = {place->directory ? place->directory : ".", "/",
                           place->file ? place->file : "%hostname%/%pid%"};
    for (size_t i = 0; i < 3; i++)
        for (const char *at = parts[i]; *at;)
            at = put_next(out, at, place);
    if (fclose(out) != 0) {
        free(prefix);
        return NULL;
    }
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
