// SPDX-License-Identifier: MIT
// Which kind of file it is, the text files, and what all kinds share.
#include "cli/jobs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(file, ...) (snprintf((file)->error, (file)->error_bytes, __VA_ARGS__), -1)

int kr_jobs_add(struct kr_jobs *jobs)
{
    struct kr_job *grown = realloc(jobs->list, (jobs->count + 1) * sizeof(*grown));
    if (!grown)
        return -1;
    jobs->list = grown;
    jobs->list[jobs->count] = (struct kr_job){.words = calloc(1, sizeof(char *))};
    return jobs->list[jobs->count++].words ? 0 : -1;
}

int kr_job_add(struct kr_job *job, const char *format, ...)
{
    char **grown = realloc(job->words, (job->count + 2) * sizeof(*grown)), *word = NULL;
    va_list args;
    if (!grown)
        return -1;
    job->words = grown;
    va_start(args, format);
    int length = vasprintf(&word, format, args);
    va_end(args);
    if (length < 0)
        return -1;
    job->words[job->count++] = word;
    job->words[job->count] = NULL;
    return 0;
}

void kr_jobs_free(struct kr_jobs *jobs)
{
    for (size_t j = 0; j < jobs->count; j++) {
        for (size_t i = 0; i < jobs->list[j].count; i++)
            free(jobs->list[j].words[i]);
        free(jobs->list[j].words);
    }
    free(jobs->list);
    *jobs = (struct kr_jobs){0};
}

// ---- Text

static int read_text_line(struct kr_jobs_file *file, unsigned number, char *line, struct kr_jobs *out)
{
    static const char key[] = "pmc:";
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line)
        return 0;
    if (strncmp(line, key, strlen(key)) != 0)
        return FAIL(file, "%s, line %u: \"%.100s\" is no line `pmc: COUNTER ...`", file->path, number, line);
    line += strlen(key);
    line += strspn(line, " \t");
    if (!*line)
        return FAIL(file, "%s, line %u: pmc names no counter", file->path, number);
    if (kr_jobs_add(out) || kr_job_add(&out->list[out->count - 1], "--pmc=%s", line))
        return FAIL(file, "out of memory");
    return 0;
}

static int read_text(struct kr_jobs_file *file, struct kr_jobs *out)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    out->folder = "pmc";
    for (unsigned number = 1; !status && getline(&line, &room, file->stream) >= 0; number++)
        status = read_text_line(file, number, line, out);
    free(line);
    return status;
}

// ---- All kinds

static const struct kind {
    const char *ending;
    int (*read)(struct kr_jobs_file *file, struct kr_jobs *out);
} kinds[] = {
    {".txt", read_text},
    {".yaml", kr_jobs_read_yaml},
    {".yml", kr_jobs_read_yaml},
    {".json", kr_jobs_read_yaml}, // JSON is YAML
};

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(dot, kinds[i].ending) == 0)
            return &kinds[i];
    return NULL;
}

int kr_jobs_read_stream(const char *path, FILE *stream, struct kr_jobs *out, char *error, size_t error_bytes)
{
    struct kr_jobs_file file = {.path = path, .stream = stream, .error = error, .error_bytes = error_bytes};
    const struct kind *kind = kind_of(path);
    *out = (struct kr_jobs){0};
    if (!kind)
        return FAIL(&file, "%s: an input file ends in .txt, .yaml, .yml or .json", path);
    if (!stream)
        return FAIL(&file, "cannot read %s: %s", path, strerror(errno));
    int status = kind->read(&file, out);
    if (!status && out->count == 0)
        status = FAIL(&file, "%s has no jobs", path);
    if (status)
        kr_jobs_free(out);
    return status;
}

int kr_jobs_read(const char *path, struct kr_jobs *out, char *error, size_t error_bytes)
{
    FILE *stream = fopen(path, "re");
    int status = kr_jobs_read_stream(path, stream, out, error, error_bytes);
    if (stream)
        fclose(stream);
    return status;
}
