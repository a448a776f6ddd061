// SPDX-License-Identifier: MIT
// Input files of rocprofv3: each job of one is a list of options, in the words of a command line.
#ifndef KR_JOBS_H
#define KR_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct kr_job {
    char **words; // NULL terminated
    size_t count;
    bool groups; // it names counters by pmc_groups
};

struct kr_jobs {
    struct kr_job *list;
    size_t count;
    const char
        *folder; // each job's files are in <folder>_N; NULL: the jobs are one run, and the list has one
};

// Text files (.txt) have lines `pmc: A B C`; YAML and JSON have a list `jobs`, and `job_replay_mode: kernel` makes one job
// of all. 0, or -1 with a one-line `error` that names the file and what is wrong; nothing is left to free then.
int kr_jobs_read(const char *path, struct kr_jobs *out, char *error, size_t error_bytes);
// The same of a stream, of which `path` is the name; NULL: it could not be opened, errno says why.
int kr_jobs_read_stream(const char *path, FILE *stream, struct kr_jobs *out, char *error, size_t error_bytes);
void kr_jobs_free(struct kr_jobs *jobs); // leaves it empty

// What the two readers share. -1: out of memory.
int kr_jobs_add(struct kr_jobs *jobs); // a job more
int kr_job_add(struct kr_job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // a word more

// The readers, on an open file; as kr_jobs_read(), but what they have made is left in *out.
struct kr_jobs_file {
    const char *path;
    FILE *stream;
    char *error;
    size_t error_bytes;
};
int kr_jobs_read_yaml(struct kr_jobs_file *file, struct kr_jobs *out);

#endif
