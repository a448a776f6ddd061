// SPDX-License-Identifier: MIT
// The record log: what the profiled process writes and the command reads. Append-only, memory-mapped, each
// record length-prefixed and checksummed and complete before the program can see its effect. One file a
// process.
#ifndef KR_LOG_RECORD_H
#define KR_LOG_RECORD_H

#include "kreplay/kreplay.h"

// First record of a log.
typedef struct kr_log_process {
    uint64_t run_id; // shared by the processes of a run
    uint32_t pid, ppid;
    uint64_t start_ns;      // runtime's system clock domain (CLOCK_MONOTONIC-like), when the log was opened
    uint64_t start_unix_ns; // wall clock at the same moment
    const char *hostname;
    const char *command; // arguments joined by blanks, quoted where needed
    const char *backend; // "hsa", "cuda", "fake"
    const char *version; // of kreplay
} kr_log_process;

// Last record of an orderly end; its absence means that the process was killed or called _exit.
typedef struct kr_log_end {
    uint64_t end_ns;
    uint64_t dispatches; // seen
    uint64_t lost;       // records that could not be written
} kr_log_end;

// A counter group as asked for on the command line: index is its position there.
typedef struct kr_log_group {
    uint32_t index;
    uint32_t agent_id;
    const uint64_t *counter_ids;
    size_t counter_count;
    uint64_t witness_id; // counter that was added to the group only to compare passes; 0 = none
} kr_log_group;

// What is to become of a counter's values, where they are not simply shown as measured.
enum kr_log_role {
    KR_LOG_ROLE_DERIVED =
        1, // asked for, and worked out by the counter's expression from others of the dispatch
    KR_LOG_ROLE_INPUT = 2, // measured only for derived counters
};
typedef struct kr_log_counter_role {
    uint32_t agent_id;
    uint32_t role; // enum kr_log_role; a later version may have more
    uint64_t counter_id;
} kr_log_counter_role;

enum kr_log_type {
    KR_LOG_PROCESS = 1,
    KR_LOG_AGENT = 2,
    KR_LOG_CODE_OBJECT = 3,
    KR_LOG_KERNEL = 4,
    KR_LOG_COUNTER = 5,
    KR_LOG_GROUP = 6,
    KR_LOG_DISPATCH = 7,
    KR_LOG_MESSAGE = 8,
    KR_LOG_END = 9,
    KR_LOG_ROLE = 10,
};

// ---- Writer, thread-safe. After fork the child's calls do nothing (the log belongs to the parent).
struct kr_log;
// KREPLAY_IO: errno says why; an existing file is EEXIST.
int kr_log_create(const char *path, struct kr_log **out);
// A put returns KREPLAY_OK once the record would survive SIGKILL; KREPLAY_IO (disk full, file size limit; see
// errno) loses that record only; KREPLAY_INVALID for NULL or a record beyond 1 GiB. NULL strings are read
// back as "".
int kr_log_put_process(struct kr_log *log, const kr_log_process *process);
int kr_log_put_agent(struct kr_log *log, const kreplay_agent *agent);
int kr_log_put_code_object(struct kr_log *log, const kreplay_code_object *code_object);
int kr_log_put_kernel(struct kr_log *log, const kreplay_kernel *kernel);
int kr_log_put_counter(struct kr_log *log, const kreplay_counter *counter);
int kr_log_put_group(struct kr_log *log, const kr_log_group *group);
int kr_log_put_role(struct kr_log *log, const kr_log_counter_role *role);
int kr_log_put_dispatch(struct kr_log *log, const kreplay_dispatch_record *record);
int kr_log_put_message(struct kr_log *log, const char *text);
int kr_log_put_end(struct kr_log *log, const kr_log_end *end);
// Trims the file to its last record. No put may be running. NULL is fine.
void kr_log_close(struct kr_log *log);

// ---- Reader: one record at a time; strings and arrays live until the next call.
typedef struct kr_log_record {
    enum kr_log_type type;
    uint64_t offset; // of the record in the file
    union {
        kr_log_process process;
        kreplay_agent agent;
        kreplay_code_object code_object;
        kreplay_kernel kernel;
        kreplay_counter counter;
        kr_log_group group;
        kr_log_counter_role role;
        struct {
            kreplay_dispatch_record record; // with its pointers set to the members below
            kreplay_dispatch dispatch;
            kreplay_outcome outcome;
        } dispatch;
        const char *message;
        kr_log_end end;
    } u;
} kr_log_record;

struct kr_log_reader;
// KREPLAY_IO, KREPLAY_CORRUPT (not a log), KREPLAY_UNSUPPORTED (version). A file that ends within its header
// is a log without records: its process ended there.
int kr_log_open(const char *path, struct kr_log_reader **out);
// 0 with *record filled; KREPLAY_END at the last whole record; KREPLAY_CORRUPT when bytes follow that are no
// record (what was read before stays valid). Unknown record types are skipped, and so is a last record that
// the process had no time to finish.
int kr_log_next(struct kr_log_reader *reader, kr_log_record *record);
void kr_log_reader_close(struct kr_log_reader *reader); // NULL is fine

#endif
